//! A page with sessions of the command line, as they really go.

use std::fs;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use crate::folder::Folder;
use crate::run::Run;

/// Where somebody follows a page, from its beginning to its end.
pub struct Sessions {
    folder: TempDir,
}

impl Default for Sessions {
    fn default() -> Self {
        Self::new()
    }
}

impl Sessions {
    /// An empty project, and a `trajectly` to type.
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("trajectly-docs-").tempdir().expect("a temporary folder");
        for name in ["bin", "project"] {
            fs::create_dir(folder.path().join(name)).expect("the folder can be made");
        }
        for name in ["trajectly", "cargo-trajectly"] {
            symlink(Folder::program(), folder.path().join("bin").join(name)).expect("the program can be linked");
        }
        Self { folder }
    }

    /// The page with what its commands say now. A block of a file that the line before it names is written to that file;
    /// in a block of `console`, lines that begin with `$ ` are typed, and all others are what was said.
    pub fn follow(&self, page: &str) -> String {
        let mut now = String::new();
        let mut before = "";
        let mut lines = page.lines();
        while let Some(line) = lines.next() {
            now.push_str(line);
            now.push('\n');
            if let Some(language) = line.strip_prefix("```") {
                let block: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
                match (language, before.strip_prefix('`').and_then(|rest| rest.strip_suffix("`:"))) {
                    ("console", _) => block.iter().filter_map(|line| line.strip_prefix("$ ")).for_each(|command| {
                        now.push_str(&format!("$ {command}\n{}", self.typed(command)));
                    }),
                    (_, file) => {
                        let text: String = block.iter().flat_map(|line| [*line, "\n"]).collect();
                        now.push_str(&text);
                        file.into_iter().for_each(|file| self.write(file, &text));
                    }
                }
                now.push_str("```\n");
            } else if !line.is_empty() {
                before = line;
            }
        }
        now
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.folder.path().join("project").join(file);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, text)).unwrap_or_else(|error| panic!("{file}: {error}"));
    }

    /// What a terminal shows of a command, and with what code it ended if that is not 0.
    fn typed(&self, command: &str) -> String {
        let here = self.folder.path();
        let path = std::env::var("PATH").unwrap_or_default();
        let run = Run::new("/bin/sh").args(["-c", &format!("exec 2>&1; {command}")]).current_dir(here.join("project"));
        let output = run.env("PATH", format!("{}:{path}", here.join("bin").display())).output();
        let mut said = output.stdout.replace(&*here.join("project").to_string_lossy(), "/project");
        if !said.is_empty() && !said.ends_with('\n') {
            said.push('\n');
        }
        // On a system that cannot do better, a failure tells it.
        let said = said.lines().filter(|line| !line.starts_with("   = note: only proxy variables"));
        let mut said: String = said.flat_map(|line| [line.trim_end(), "\n"]).collect();
        if output.code != 0 {
            said.push_str(&format!("[exit code {}]\n", output.code));
        }
        said
    }
}
