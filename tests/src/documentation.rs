//! The repository's documentation, as somebody reads it and pastes from it.

use std::fs::{self, File};
use std::path::PathBuf;

use crate::build::{e2e_folder, lock, lock_versions, repository, repository_target, target_folder, write_if_changed};
use crate::run::Run;

/// A page of the documentation.
pub struct Page {
    /// Its path in the repository.
    pub path: String,
    /// All of it.
    pub text: String,
    /// Its code blocks, in order.
    pub blocks: Vec<Block>,
}

/// A code block.
#[derive(Debug)]
pub struct Block {
    /// What the fence says: `rust`.
    pub language: String,
    /// The path of the file that it is all of, if the line before it names one.
    pub file: Option<String>,
    /// Everything between the fences, without the last line break.
    pub text: String,
}

impl Page {
    /// All pages: those at the top of the repository, and those of `docs`.
    pub fn all() -> Vec<Self> {
        let pages = |folder: &str| {
            let entries = fs::read_dir(repository().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
            let names = entries.map(|entry| entry.expect("a folder can be listed").file_name().into_string());
            let names = names.map(|name| name.expect("names of files are texts"));
            let mut paths: Vec<_> =
                names.filter(|name| name.ends_with(".md")).map(|name| format!("{folder}{name}")).collect();
            paths.sort();
            paths
        };
        ["", "docs/", "docs/contracts/"].into_iter().flat_map(pages).map(|path| Self::read(&path)).collect()
    }

    /// The pages that tell what the keys of a spec mean.
    pub fn of_specs() -> Vec<Self> {
        Self::all()
            .into_iter()
            .filter(|page| page.path == "docs/specs.md" || page.path.starts_with("docs/contracts/"))
            .collect()
    }

    /// Reads a page.
    #[track_caller]
    pub fn read(path: &str) -> Self {
        let text = fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut blocks = Vec::new();
        let mut lines = text.lines();
        let mut before = "";
        while let Some(line) = lines.next() {
            if let Some(language) = line.strip_prefix("```") {
                let block: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
                let file = before.strip_prefix('`').and_then(|rest| rest.strip_suffix("`:"));
                let (language, file) = (language.to_owned(), file.map(str::to_owned));
                blocks.push(Block { language, file, text: block.join("\n") });
            } else if !line.is_empty() {
                before = line;
            }
        }
        Self { path: path.to_owned(), text, blocks }
    }

    /// The blocks in a language.
    pub fn blocks_in(&self, language: &str) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter(move |block| block.language == language)
    }

    /// The files of the repository that the page links to, as the page names them.
    pub fn links(&self) -> Vec<&str> {
        let targets = self.text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        targets.filter(|target| !target.is_empty() && !target.contains("://")).collect()
    }

    /// Whether a link of the page leads to something.
    pub fn leads_somewhere(&self, link: &str) -> bool {
        let page = repository().join(&self.path);
        page.parent().is_some_and(|folder| folder.join(link).exists())
    }
}

/// The crate that somebody makes who follows a page. What was built of it before is kept.
pub struct Pasted {
    folder: PathBuf,
    _lock: File,
}

impl Pasted {
    /// An empty crate. While it lives, no other test has one of this name.
    pub fn new(name: &str) -> Self {
        let _lock = lock(&format!("pasted-{name}"));
        let folder = e2e_folder().join("pasted").join(name);
        fs::create_dir_all(&folder).expect("the folder can be made");
        for generated in [".trajectly", "specs", "tests"] {
            let _ = fs::remove_dir_all(folder.join(generated));
        }
        lock_versions(&folder);
        Self { folder, _lock }
    }

    /// The path of a file or folder.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.folder.join(relative)
    }

    /// The content of a file.
    #[track_caller]
    pub fn read(&self, relative: &str) -> String {
        fs::read_to_string(self.path(relative)).unwrap_or_else(|error| panic!("{relative}: {error}"))
    }

    /// Writes a file. A page takes the repository to lie in `../trajectly`.
    pub fn write(&self, relative: &str, content: &str) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("the folder can be made");
        let mut content = content.replace("\"../trajectly/", &format!("\"{}/", repository().display()));
        if relative == "Cargo.toml" {
            // This crate lies inside the repository, and is none of its own.
            content.push_str("\n[workspace]\n");
        }
        write_if_changed(&path, content.as_bytes());
    }

    /// A command line, pasted into a terminal that stands in the crate.
    pub fn shell(&self, line: &str) -> Run {
        // As the user's crate of the other tests is built, so that both share their dependencies.
        Run::shell(line, &target_folder()).current_dir(&self.folder).env("CARGO_PROFILE_DEV_DEBUG", "false")
    }
}

/// A command line, pasted into a terminal that stands in the repository.
pub fn shell(line: &str) -> Run {
    Run::shell(line, &repository_target()).current_dir(repository())
}
