//! What a run left in `.trajectly/`, and beside the specs.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// A project's `.trajectly/` folder, and the snapshots of `specs/`.
pub struct Store {
    root: PathBuf,
}

impl Store {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.root.join(".trajectly").join(relative)
    }

    /// Whether a file or folder is there.
    pub fn has(&self, relative: &str) -> bool {
        self.path(relative).exists()
    }

    /// The content of a file.
    #[track_caller]
    pub fn read(&self, relative: &str) -> String {
        read(&self.path(relative))
    }

    /// The four committed files of a baseline, by path: trace, meta, fixtures, snapshot. `folder` is that of its spec.
    #[track_caller]
    pub fn baseline(&self, folder: &str, name: &str) -> [(String, String); 4] {
        [
            format!(".trajectly/baselines/{name}.jsonl"),
            format!(".trajectly/baselines/{name}.meta.json"),
            format!(".trajectly/fixtures/{name}.json"),
            format!("{folder}/snapshots/{name}.snap"),
        ]
        .map(|path| {
            let text = read(&self.root.join(&path));
            (path, text)
        })
    }

    /// The events of a trace: `baselines/greet.jsonl`.
    #[track_caller]
    pub fn events(&self, relative: &str) -> Vec<Value> {
        let text = self.read(relative);
        assert!(text.is_empty() || text.ends_with('\n'), "{relative} ends in the middle of a line");
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{relative}: {error}\n{line}"));
        text.lines().map(parse).collect()
    }

    /// The names of the tools that a trace calls, in order.
    #[track_caller]
    pub fn calls(&self, relative: &str) -> Vec<String> {
        let events = self.events(relative);
        let calls = events.iter().filter(|event| event["event_type"] == "tool_called");
        calls.map(|event| event["payload"]["tool_name"].as_str().expect("a call names its tool").to_owned()).collect()
    }

    /// All files below a folder with their content, sorted by path.
    pub fn all(&self, folder: &str) -> Vec<(PathBuf, String)> {
        let mut found = Vec::new();
        let mut folders = vec![self.path(folder)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                match entry.path().is_dir() {
                    true => folders.push(entry.path()),
                    false => found.push((entry.path(), fs::read_to_string(entry.path()).expect("files are UTF-8"))),
                }
            }
        }
        found.sort();
        found
    }
}

/// A text in which every time is 0, so that two recordings can be compared.
pub fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, key)) = next_time(rest) {
        let after = at + key.len();
        let value = &rest[after..];
        let digits = value.trim_start_matches(' ');
        let blanks = value.len() - digits.len();
        let number = digits.len() - digits.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        out.push_str(&rest[..after + blanks]);
        out.push('0');
        rest = &rest[after + blanks + number..];
    }
    out + rest
}

fn next_time(text: &str) -> Option<(usize, &'static str)> {
    ["\"rel_ms\":", "\"duration_ms\":"].iter().filter_map(|key| Some((text.find(key)?, *key))).min()
}

/// The content of a file.
#[track_caller]
pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Writes a file, and makes the folders above it.
#[track_caller]
pub(crate) fn write(path: &Path, content: &str) {
    let made = path.parent().map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| fs::write(path, content)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
