//! Tells conversations apart by what their requests quote.
//!
//! A request belongs to the conversation whose model minted the tool-call ids it answers. One that answers none
//! belongs to the conversation whose messages it repeats and continues. Any other begins a conversation.

use std::collections::HashMap;

use trajectly_engine::canonical::{Hash, Strip, hash, sha256_bytes};
use trajectly_engine::json::Json;

#[derive(Debug, Default)]
pub(super) struct Threads {
    begun: u64,
    by_id: HashMap<String, u64>,
    /// The messages of each conversation's last request, as the end of a chain of hashes.
    by_messages: HashMap<Hash, u64>,
}

impl Threads {
    /// The conversation of a request, numbered from 1.
    pub(super) fn of_request<'a>(
        &mut self,
        mut quoted: impl DoubleEndedIterator<Item = &'a str>,
        messages: Option<&[Json]>,
    ) -> u64 {
        let chain = chain(messages.unwrap_or_default());
        let known = quoted
            .rfind(|id| self.by_id.contains_key(*id))
            .and_then(|id| self.by_id.get(id))
            .or_else(|| chain.iter().rev().find_map(|link| self.by_messages.get(link)))
            .copied();
        let thread = known.unwrap_or_else(|| {
            self.begun += 1;
            self.begun
        });
        if let Some(end) = chain.last() {
            self.by_messages.insert(*end, thread);
        }
        thread
    }

    /// Notes the ids of the calls that a model asked for.
    pub(super) fn returned<'a>(&mut self, thread: u64, minted: impl Iterator<Item = &'a str>) {
        self.by_id.extend(minted.filter(|id| !id.is_empty()).map(|id| (id.to_owned(), thread)));
    }
}

/// For each message the hash of it and all before it. A lone message is no sign: two conversations often begin with
/// the same system prompt.
fn chain(messages: &[Json]) -> Vec<Hash> {
    let mut links: Vec<Hash> = Vec::with_capacity(messages.len());
    for message in messages {
        let own = hash(message, Strip::Keep);
        let link = match links.last() {
            None => own,
            Some(before) => sha256_bytes(&[before.0, own.0].concat()),
        };
        links.push(link);
    }
    links.drain(..1.min(links.len()));
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(texts: &[&str]) -> Vec<Json> {
        texts.iter().map(|text| Json::from(*text)).collect()
    }

    #[test]
    fn conversations_are_told_apart_by_ids_and_by_messages() {
        let mut threads = Threads::default();
        let mut ask = |quoted: &[&str], texts: &[&str], minted: &[&str]| {
            let thread = threads.of_request(quoted.iter().copied(), Some(&messages(texts)));
            threads.returned(thread, minted.iter().copied());
            thread
        };
        assert_eq!(ask(&[], &["sys", "a"], &["call_1"]), 1);
        assert_eq!(ask(&[], &["sys", "b"], &["call_2"]), 2);
        assert_eq!(ask(&["call_1"], &["sys", "a", "r1"], &[]), 1, "it answers what thread 1 asked for");
        assert_eq!(ask(&["call_2"], &["sys", "b", "r2"], &[]), 2);
        assert_eq!(ask(&[], &["sys", "a", "r1", "more"], &[]), 1, "it goes on where thread 1 was");
        assert_eq!(ask(&["call_9"], &["other"], &[]), 3, "an id nobody minted");
    }

    #[test]
    fn a_shared_system_prompt_joins_nothing() {
        let mut threads = Threads::default();
        assert_eq!(threads.of_request([].into_iter(), Some(&messages(&["sys"]))), 1);
        assert_eq!(threads.of_request([].into_iter(), Some(&messages(&["sys", "x"]))), 2);
    }
}
