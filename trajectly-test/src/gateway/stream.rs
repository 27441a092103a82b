//! Server-sent events: read from bytes that arrive in any pieces, and written again.

/// One event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Event {
    /// The `event:` field. Chat completions have none; some providers name their errors.
    pub(super) name: Option<String>,
    /// The `data:` lines, joined by line feeds.
    pub(super) data: String,
}

impl Event {
    pub(super) fn unnamed(data: impl Into<String>) -> Self {
        Self { name: None, data: data.into() }
    }

    /// The event as it goes over the wire, with the empty line that ends it.
    pub(super) fn wire(&self) -> String {
        let mut text = String::new();
        if let Some(name) = &self.name {
            text += &format!("event: {name}\n");
        }
        for line in self.data.split('\n') {
            text += &format!("data: {line}\n");
        }
        text + "\n"
    }
}

/// How a stream came to its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum End {
    /// With the provider's mark, `data: [DONE]`.
    Done,
    /// Orderly, but without the mark.
    Eof,
    /// The connection broke.
    Cut,
}

/// The data of the event that ends a stream of chat completion chunks.
pub(super) const DONE: &str = "[DONE]";

/// Reads events. Comments and the fields `id` and `retry` are no part of them.
#[derive(Default)]
pub(super) struct Parser {
    line: Vec<u8>,
    after_cr: bool,
    first_line_read: bool,
    name: Option<String>,
    data: Option<String>,
    events: Vec<Event>,
    done: bool,
}

impl Parser {
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let ends_crlf = std::mem::replace(&mut self.after_cr, byte == b'\r') && byte == b'\n';
            match byte {
                _ if ends_crlf => {}
                b'\n' | b'\r' => self.end_line(),
                _ => self.line.push(byte),
            }
        }
    }

    /// Whether [`DONE`] has come. What follows it belongs to no answer and is dropped.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// The events so far, [`DONE`] left out. A last one that lacks its empty line counts where the stream ended in
    /// good order, because clients that read line by line have seen it.
    pub(super) fn finish(mut self, end: End) -> (Vec<Event>, End) {
        if end == End::Eof {
            self.end_line();
            self.dispatch();
        }
        (self.events, if self.done { End::Done } else { end })
    }

    fn end_line(&mut self) {
        let bytes = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&bytes);
        let line = match std::mem::replace(&mut self.first_line_read, true) {
            false => line.strip_prefix('\u{feff}').unwrap_or(&line),
            true => &line,
        };
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match (field, &mut self.data) {
            ("data", None) => self.data = Some(value.to_owned()),
            ("data", Some(data)) => {
                data.push('\n');
                data.push_str(value);
            }
            ("event", _) => self.name = Some(value.to_owned()),
            _ => {}
        }
    }

    fn dispatch(&mut self) {
        let name = self.name.take();
        let Some(data) = self.data.take().filter(|_| !self.done) else { return };
        if data == DONE && name.is_none() {
            self.done = true;
        } else {
            self.events.push(Event { name, data });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], piece: usize, end: End) -> (Vec<Event>, End) {
        let mut parser = Parser::default();
        for part in bytes.chunks(piece) {
            parser.feed(part);
        }
        parser.finish(end)
    }

    #[test]
    fn events_are_read_whatever_the_pieces_and_line_ends() {
        let named = |name: &str, data: &str| Event { name: Some(name.into()), data: data.into() };
        for (text, events, end) in [
            ("data: a\n\ndata:b\r\n\r\ndata:  c\r\rdata: [DONE]\n\n", vec!["a", "b", " c"], End::Done),
            ("\u{feff}data: a\n\n: comment\nid: 1\nretry: 2\n\n\ndata\n\n", vec!["a", ""], End::Eof),
            ("data: one\ndata: two\n\ndata: é—🦀\n\n", vec!["one\ntwo", "é—🦀"], End::Eof),
            ("data: [DONE]\n\ndata: late\n\n", vec![], End::Done),
            ("data: a\n\ndata: [DONE]", vec!["a"], End::Done),
            ("data: a\n\ndata: b\n", vec!["a", "b"], End::Eof),
        ] {
            for piece in [1, 2, 3, 1000] {
                let expected = (events.iter().map(|data| Event::unnamed(*data)).collect::<Vec<_>>(), end);
                assert_eq!(read(text.as_bytes(), piece, End::Eof), expected, "{text:?} by {piece}");
            }
        }
        let text = b"event: error\ndata: x\n\nevent: nothing\n\ndata: y\n\n";
        assert_eq!(read(text, 1, End::Eof).0, [named("error", "x"), Event::unnamed("y")]);
    }

    #[test]
    fn an_event_that_broke_off_is_none() {
        let (events, end) = read(b"data: a\n\ndata: [DO", 4, End::Cut);
        assert_eq!((events, end), (vec![Event::unnamed("a")], End::Cut));
        // What breaks after the mark has broken nothing.
        assert_eq!(read(b"data: [DONE]\n\n", 4, End::Cut).1, End::Done);
    }

    #[test]
    fn what_is_written_reads_the_same() {
        for event in [Event::unnamed("a\nb\n"), Event { name: Some("e".into()), data: " x".into() }] {
            assert_eq!(read(event.wire().as_bytes(), 5, End::Eof).0, [event]);
        }
    }
}
