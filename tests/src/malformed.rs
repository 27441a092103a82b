//! Tables of inputs that nothing can be made of, each with what is said of it.
//!
//! A table begins with what it is about. A case is a title after `==== `, an input, and after `---- says` the whole output. A title
//! that ends in `(escaped)` has an input with escapes: `\t`, `\r`, `\n`, `\0`, `\xff`, and `\*3{text}` for three times the text. After
//! `---- file NAME` comes another file. An input that begins with `$ ` is a command line, for the command to be run instead.

use std::fmt::Write;
use std::path::Path;
use std::sync::Mutex;
use std::{env, fs, thread};

use crate::build::repository;
use crate::folder::Folder;
use crate::run::Output;

/// One input and what is said of it.
pub struct Case {
    /// What is wrong with it.
    pub title: String,
    /// The files: their names and contents as they stand in the table.
    files: Vec<(String, String)>,
    /// What was said when the table was written.
    pub says: String,
}

/// A table of cases.
pub struct Table {
    path: String,
    introduction: String,
    /// The cases, in order.
    pub cases: Vec<Case>,
}

impl Table {
    /// Reads `tests/malformed/<name>.txt`; the input of a case is the content of `file`.
    #[track_caller]
    pub fn read(name: &str, file: &str) -> Self {
        let path = format!("tests/malformed/{name}.txt");
        let text = fs::read_to_string(repository().join(&path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut parts = text.split("==== ");
        let introduction = parts.next().unwrap_or_default().to_owned();
        Self { path, introduction, cases: parts.map(|part| Case::read(part, file)).collect() }
    }

    /// Puts every case through `run`, several at a time, and holds what is said against the table. `UPDATE_GENERATED=1` writes the
    /// table anew. `lacks` says what a message has too little of, if it does.
    ///
    /// # Panics
    ///
    /// If something else is said, or too little.
    #[track_caller]
    pub fn assert_says(
        mut self,
        run: impl Fn(&Case) -> Output + Sync,
        lacks: impl Fn(&Case, &Output) -> Option<&'static str> + Sync,
    ) {
        let next = Mutex::new(self.cases.iter_mut());
        let (said, poor) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while let Some(case) = { next.lock().expect("no thread panics here").next() } {
                        let output = run(case);
                        let found = format!("{}{}", output.stdout, output.stderr);
                        if let Some(lacking) = lacks(case, &output) {
                            let mut poor = poor.lock().expect("no thread panics here");
                            poor.push(format!("==== {}: {lacking}\n{found}", case.title));
                        }
                        if found != case.says {
                            said.lock().expect("no thread panics here").push(format!("==== {}\n{found}", case.title));
                            case.says = found;
                        }
                    }
                });
            }
        });
        let said = said.into_inner().expect("no thread has panicked");
        let poor = poor.into_inner().expect("no thread has panicked");
        if env::var_os("UPDATE_GENERATED").is_some_and(|value| value == "1") {
            fs::write(repository().join(&self.path), self.text()).expect("the table can be written");
        } else {
            assert!(said.is_empty(), "{}: {} cases say something else:\n\n{}", self.path, said.len(), said.join("\n"));
        }
        assert!(poor.is_empty(), "{}: {} cases say too little:\n\n{}", self.path, poor.len(), poor.join("\n"));
    }

    fn text(&self) -> String {
        let mut text = self.introduction.clone();
        for case in &self.cases {
            writeln!(text, "==== {}", case.title).expect("a text takes text");
            for (index, (name, content)) in case.files.iter().enumerate() {
                let head = if index == 0 { String::new() } else { format!("---- file {name}\n") };
                write!(text, "{head}{content}").expect("a text takes text");
            }
            write!(text, "---- says\n{}", case.says).expect("a text takes text");
        }
        text
    }
}

impl Case {
    fn read(part: &str, file: &str) -> Self {
        let (title, rest) = part.split_once('\n').expect("a title");
        let (input, says) = rest.split_once("---- says\n").unwrap_or((rest, ""));
        let mut inputs = input.split("---- file ");
        let mut files = vec![(file.to_owned(), inputs.next().unwrap_or_default().to_owned())];
        files.extend(inputs.map(|more| {
            let (name, content) = more.split_once('\n').expect("a file has a name");
            (name.to_owned(), content.to_owned())
        }));
        Self { title: title.to_owned(), files, says: says.to_owned() }
    }

    /// The command line that the input is, if it is one.
    pub fn command(&self) -> Option<&str> {
        self.files[0].1.strip_prefix("$ ").map(str::trim_end)
    }

    /// Writes the files of the case into a folder. A command line is none of them, and a name that ends in `/` is a folder.
    pub fn write(&self, folder: &Folder) {
        for (name, content) in self.files.iter().filter(|(_, content)| !content.starts_with("$ ")) {
            let path = folder.path(name);
            let above = if name.ends_with('/') { Some(&*path) } else { path.parent() };
            fs::create_dir_all(above.unwrap_or(Path::new("/"))).expect("a folder can be made");
            if !name.ends_with('/') {
                let escaped = self.title.ends_with("(escaped)");
                let content = if escaped { unescaped(content) } else { content.clone().into_bytes() };
                fs::write(&path, content).expect("a file can be written");
            }
        }
    }
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let (kind, after) = rest.split_first().expect("something follows a backslash");
        rest = after;
        match kind {
            b't' => bytes.push(b'\t'),
            b'r' => bytes.push(b'\r'),
            b'n' => bytes.push(b'\n'),
            b'0' => bytes.push(0),
            b'x' => {
                let digits = std::str::from_utf8(&rest[..2]).expect("two digits");
                bytes.push(u8::from_str_radix(digits, 16).expect("two digits"));
                rest = &rest[2..];
            }
            b'*' => {
                let text = std::str::from_utf8(rest).expect("what is repeated is text");
                let (count, after) = text.split_once('{').expect("what is repeated stands in braces");
                let (repeated, after) = after.split_once('}').expect("what is repeated stands in braces");
                bytes.extend(repeated.repeat(count.parse().expect("a count")).into_bytes());
                rest = after.as_bytes();
            }
            other => bytes.push(*other),
        }
    }
    bytes
}
