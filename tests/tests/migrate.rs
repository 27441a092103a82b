//! `trajectly migrate`, as people use it.

use std::os::unix::fs::{PermissionsExt, symlink};

use trajectly_tests::Folder;

const OLD: &str = "# Triage.\ncommand: sh agent.sh  # the real one\nenv: { PORT: 8080 }\n";
const NEW: &str = "# Triage.\nschema_version: \"0.4\"\nfixture_policy: by_index\ncommand: sh agent.sh  # the real one\n\
                   env: { PORT: \"8080\" }\n";
const NOTES: [&str; 3] = [
    "note: old.agent.yaml:2: `schema_version: \"0.4\"` is added",
    "note: old.agent.yaml:2: `fixture_policy: by_index` is added",
    "note: old.agent.yaml:3: `env.PORT` is \"8080\" now",
];

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("old.agent.yaml", OLD);
    folder
}

#[test]
fn the_result_is_printed() {
    let folder = folder();
    let run = folder.trajectly(["migrate", "spec", "old.agent.yaml"]).output().passes();
    assert_eq!(run.stdout, NEW);
    assert_eq!(run.stderr.lines().collect::<Vec<_>>(), NOTES);
    assert_eq!(folder.read("old.agent.yaml"), OLD);
}

#[test]
fn the_result_is_written_where_it_is_wanted() {
    let folder = folder();
    let elsewhere = ["migrate", "spec", "old.agent.yaml", "--output", "specs/new.agent.yaml"];
    let run = folder.trajectly(elsewhere).output().passes().says(&NOTES);
    assert_eq!(run.stdout, "");
    assert_eq!(folder.read("specs/new.agent.yaml"), NEW);
    assert_eq!(folder.read("old.agent.yaml"), OLD);

    let in_place = ["migrate", "spec", "old.agent.yaml", "--in-place"];
    folder.trajectly(in_place).output().passes().says(&NOTES);
    assert_eq!(folder.read("old.agent.yaml"), NEW);
    let again = folder.trajectly(in_place).output().passes();
    assert_eq!((again.stdout.as_str(), again.stderr.as_str()), ("", "note: old.agent.yaml is up to date\n"));
    assert_eq!(folder.read("old.agent.yaml"), NEW);
}

#[test]
fn what_a_person_has_to_decide_is_told_and_nothing_is_written() {
    let folder = folder();
    let undecided = format!("{OLD}strict: \"no\"\ncontracts: {{tols: {{allow: [a]}}}}\n");
    folder.write("old.agent.yaml", &undecided);
    for target in [&["--in-place"][..], &["--output", "new.agent.yaml"], &[]] {
        let run = folder.trajectly(["migrate", "spec", "old.agent.yaml"]).args(target).output().exits(2);
        assert_eq!(run.stdout, "");
        run.says(&[
            "error: `strict` must be `true` or `false`, not the string \"no\"\n --> old.agent.yaml:4:9",
            "error: unknown key `contracts.tols`\n --> old.agent.yaml:5:13",
            "help: did you mean `tools`?",
        ]);
    }
    assert_eq!(folder.read("old.agent.yaml"), undecided);
    assert!(!folder.path("new.agent.yaml").exists());
}

#[test]
fn a_spec_that_is_no_file_is_refused() {
    let folder = folder();
    for (path, why) in [("missing.agent.yaml", "No such file"), (".", "Is a directory")] {
        folder.trajectly(["migrate", "spec", path]).output().exits(2).says(&[
            &format!("cannot read {path}: "),
            why,
            "help: ",
        ]);
    }
    let both = ["migrate", "spec", "old.agent.yaml", "--in-place", "--output", "new.agent.yaml"];
    folder.trajectly(both).output().exits(2).says(&["cannot be used with"]);
}

#[test]
fn what_is_no_file_of_its_own_stays_what_it_is() {
    let folder = folder();
    folder.write("real.yaml", "old");
    std::fs::set_permissions(folder.path("real.yaml"), PermissionsExt::from_mode(0o600)).expect("it is ours");
    symlink("real.yaml", folder.path("link.yaml")).expect("a link can be made");
    symlink("/dev/null", folder.path("null")).expect("a link can be made");
    for target in ["link.yaml", "null", "/dev/null"] {
        folder.trajectly(["migrate", "spec", "old.agent.yaml", "--output", target]).output().passes();
    }
    assert_eq!(folder.read("real.yaml"), NEW);
    assert!(folder.path("link.yaml").is_symlink() && folder.path("null").is_symlink());
    let metadata = std::fs::metadata(folder.path("real.yaml")).expect("it is there");
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    assert!(!std::fs::metadata("/dev/null").expect("it is there").is_file());
}

#[test]
fn nothing_in_a_file_can_command_the_terminal() {
    let folder = folder();
    folder.write("old.agent.yaml", "command: sh agent.sh\n\"\u{9b}31m\": 1\n");
    let run = folder.trajectly(["migrate", "spec", "old.agent.yaml"]).output().exits(2);
    assert!(!run.stderr.contains('\u{9b}'), "{run}");
}
