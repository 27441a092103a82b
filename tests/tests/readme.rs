//! The documentation says what is so: what it shows is what happens, what it tells people to paste works.

use trajectly_engine::spec::Spec;
use trajectly_tests::{Answer, Block, Page, Pasted, Provider, repository, shell};

const MAIN_JOB: &str = "cargo test -p trajectly-examples";
const ALL_TESTS: &str = "cargo test --workspace";
const SHOW_FAILURE: &str =
    "cargo test -p trajectly-examples --test agents -- --exact support_triage_regression --nocapture";

const VERSION: &str = "schema_version: \"0.4\"\n";

#[test]
fn the_two_commands_are_the_ones() {
    let readme = Page::read("README.md");
    for command in [MAIN_JOB, ALL_TESTS, SHOW_FAILURE] {
        assert_eq!(readme.blocks_in("sh").filter(|block| block.text == command).count(), 1, "{command}");
    }
    let ci = std::fs::read_to_string(repository().join(".ci/run")).expect("there is a CI script");
    assert!(ci.lines().any(|line| line == ALL_TESTS));
    shell(MAIN_JOB).output().passes().says(&["test support_triage ", "test search_buy "]);
}

#[test]
fn the_failure_is_shown_as_it_is() {
    let output = shell(SHOW_FAILURE).output().passes();
    let (_, failure) = output.stderr.split_once("\nFAIL ").expect("the example fails");
    let failure = format!("FAIL {}", failure.trim_end());
    // On a system that cannot do better, a failure tells it.
    let paragraphs = failure.split("\n\n").filter(|text| !text.starts_with("   = note: only proxy variables"));
    let failure = paragraphs.collect::<Vec<_>>().join("\n\n");
    let readme = Page::read("README.md");
    let shown = &readme.blocks_in("text").next().expect("the README shows a failure").text;
    assert_eq!(*shown, failure, "README.md is to show:\n\n{failure}\n");
}

#[test]
fn the_quickstart_works() {
    let readme = Page::read("README.md");
    let project = Pasted::new("quickstart");
    for Block { file, text, .. } in &readme.blocks {
        if let Some(file) = file {
            project.write(file, &format!("{text}\n"));
        }
    }
    let commands: Vec<&str> = readme.blocks_in("sh").map(|block| block.text.as_str()).collect();
    let [record, replay] =
        *commands.iter().filter(|line| line.ends_with("cargo test --test agents")).collect::<Vec<_>>()
    else {
        panic!("the quickstart records and replays: {commands:?}")
    };

    project.shell(replay).output().fails().says(&["error[BASELINE_MISSING]"]);
    let provider = Provider::start(|_| Answer::text("High"));
    let recorded = project.shell(record).env("OPENAI_BASE_URL", provider.url()).output().passes();
    assert_eq!(recorded.results(), [("triage", "ok")]);
    assert_eq!(provider.requests().len(), 1);
    provider.stop();

    std::fs::remove_dir_all(project.path("tickets")).expect("the tickets are there");
    let replayed = project.shell(replay).output().passes();
    assert_eq!(replayed.results(), [("triage", "ok")]);
    let snapshot = project.read("specs/snapshots/triage.snap");
    let (_, reviewed) = snapshot.split_once("\n---\n").expect("a snapshot has a head");
    assert!(readme.blocks_in("text").any(|block| block.text == reviewed.trim_end()), "not in README.md:\n{reviewed}");

    let sound = project.read("src/lib.rs");
    let broken = sound.replacen("    store_triage(id, &priority)?;\n", "", 1);
    assert_ne!(broken, sound, "the quickstart calls store_triage");
    project.write("src/lib.rs", &broken);
    project.shell(replay).output().fails().says(&["error[REFINEMENT_BASELINE_CALL_MISSING]"]);
}

#[test]
fn what_is_said_to_be_from_the_examples_is() {
    let example = std::fs::read_to_string(repository().join("examples/tests/agents.rs")).expect("there are examples");
    let readme = Page::read("README.md");
    let quoted: Vec<_> = readme.blocks_in("rust").filter(|block| block.text.contains("session: ")).collect();
    assert!(quoted.len() >= 2, "the README quotes the examples");
    for block in quoted {
        assert!(example.contains(&block.text), "not in examples/tests/agents.rs:\n{}", block.text);
    }
}

#[test]
fn specs_that_are_shown_can_be_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("shown.agent.yaml").to_string_lossy().into_owned();
    std::fs::write(folder.path().join("base.agent.yaml"), VERSION).expect("the folder can be written to");
    for page in Page::of_specs().into_iter().chain([Page::read("README.md")]) {
        assert!(page.blocks_in("yaml").count() > 0, "{} shows specs", page.path);
        for Block { text, .. } in page.blocks_in("yaml") {
            let version = if text.contains("schema_version") { "" } else { VERSION };
            match Spec::parse(&format!("{version}{text}"), &file) {
                Ok(spec) => assert!(spec.warnings.is_empty(), "{:?}", spec.warnings),
                Err(error) => panic!("{}: {error}\n\n{text}", page.path),
            }
        }
    }
}

#[test]
fn the_reference_names_no_key_that_is_not_known() {
    let pages = Page::of_specs();
    let lines = pages.iter().flat_map(|page| page.text.lines());
    let cells = lines.filter_map(|line| line.strip_prefix("| `")?.split(" |").next());
    let keys: Vec<&str> = cells.flat_map(|cell| cell.split('`').step_by(2)).filter(|key| !key.is_empty()).collect();
    assert!(keys.len() > 50, "{keys:?}");
    for key in keys {
        let whole = match key.split('.').next() {
            Some("required_keys" | "fields") => format!("contracts.args.TOOL.{key}"),
            _ => key.to_owned(),
        };
        let nested = whole.split('.').rev().fold("null".to_owned(), |value, key| format!("{{ {key}: {value} }}"));
        let spec = nested.trim_start_matches("{ ").trim_end_matches(" }");
        let error =
            Spec::parse(&format!("{VERSION}{spec}"), "spec").map_or_else(|error| error.to_string(), |_| String::new());
        assert!(!error.contains("unknown key"), "{error}");
    }
}

#[test]
fn every_dependency_has_its_reason() {
    let page = Page::read("docs/dependencies.md");
    let cells = page.text.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let explained: Vec<&str> = cells.flat_map(|cell| cell.split(", ")).collect();
    let manifest = std::fs::read_to_string(repository().join("Cargo.toml")).expect("the workspace has a manifest");
    let (_, table) = manifest.split_once("[workspace.dependencies]\n").expect("the workspace has dependencies");
    let names =
        table.lines().take_while(|line| !line.starts_with('[')).filter_map(|line| Some(line.split_once(" = ")?.0));
    for name in names.filter(|name| !name.starts_with("trajectly-")) {
        assert!(explained.contains(&name), "docs/dependencies.md does not say what {name} is for");
    }
}

#[test]
fn links_lead_somewhere() {
    for page in Page::all() {
        for link in page.links() {
            assert!(page.leads_somewhere(link), "{}: {link}", page.path);
        }
    }
}
