//! `docs/cli.md` has every command, with sessions that went just so.

use trajectly_tests::{Folder, Page, Sessions, assert_generated};

#[test]
fn the_sessions_are_as_they_go() {
    let page = Page::read("docs/cli.md");
    assert_generated("docs/cli.md", &Sessions::new().follow(&page.text));
}

#[test]
fn every_command_has_its_help_and_a_session() {
    let page = without_answers(&Page::read("docs/cli.md").text);
    for command in commands(&[]) {
        let heading = format!(" {command}\n");
        let (_, section) = page.split_once(&format!("##{heading}")).unwrap_or_else(|| {
            panic!("docs/cli.md has no section `## {command}`: add one with a session, as CONTRIBUTING.md says")
        });
        let section = section.split_once("\n## ").map_or(section, |(section, _)| section);
        let section = section.split_once("\n### ").map_or(section, |(section, _)| section);
        let (help, use_of_it) = (format!("$ trajectly {command} --help"), format!("trajectly {command}"));
        assert!(section.lines().any(|line| line == help), "docs/cli.md, {command}: there is no `{help}`");
        let is_session = |line: &str| line.starts_with("$ ") && line != help && line.contains(&use_of_it);
        assert!(section.lines().any(is_session), "docs/cli.md, {command}: there is no session of it");
    }
}

/// A page without what commands said: an answer may look like a heading.
fn without_answers(page: &str) -> String {
    let mut in_block = false;
    let keeps = |line: &&str| {
        in_block ^= line.starts_with("```");
        !in_block || line.starts_with("$ ")
    };
    page.lines().filter(keeps).flat_map(|line| [line, "\n"]).collect()
}

/// All commands below this one that do something, by their words.
fn commands(above: &[&str]) -> Vec<String> {
    let help = Folder::new().trajectly(above.iter().chain(&["--help"])).output().passes().stdout;
    let Some((_, list)) = help.split_once("\nCommands:\n") else { return vec![above.join(" ")] };
    let names = list.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").flat_map(|name| commands(&[above, &[name]].concat())).collect()
}
