//! `trajectly report`: the last runs, in the form that their reader wants.

use std::process::{Command, Stdio};

use serde_json::Value;
use trajectly_tests::{Folder, Run};

const LATEST: &str = ".trajectly/reports/latest.json";

/// The sample of `init`, recorded, beside a spec that fails by three rules, one that is meant to fail, and one without a baseline.
fn project() -> Folder {
    let folder = Folder::new();
    folder.trajectly(["init"]).output().passes();
    folder.trajectly(["record", "--auto"]).output().passes();
    let agent = folder.read("agents/sample.sh").replace("store_priority", "'drop|<b>\\u0007&%'");
    folder.write("agents/odd.sh", &agent);
    let spec = folder.read("specs/sample.agent.yaml");
    folder.write("specs/odd, one.agent.yaml", &spec.replace("sample.sh", "odd.sh"));
    folder
        .write("specs/meant.agent.yaml", &format!("{}expect: {{status: FAIL}}\n", spec.replace("sample.sh", "odd.sh")));
    folder.write("specs/new.agent.yaml", &spec.replace("name: sample", "name: new"));
    folder.trajectly(["run", "specs"]).output().exits(2);
    folder
}

#[test]
fn markdown_is_what_it_prints_unless_told_otherwise() {
    let folder = project();
    let output = folder.trajectly(["report"]).output().passes();
    assert_eq!(output.stdout, folder.store().read("reports/latest.md"));
    assert_eq!(output.stderr, format!("note: from {LATEST}\n"));
    assert!(output.stdout.contains("| `specs/meant.agent.yaml` | FAIL, as expected | 3 |"), "{output}");
    assert!(output.stdout.contains("| `specs/sample.agent.yaml` | PASS |"), "{output}");
}

#[test]
fn json_is_the_file_and_nothing_else() {
    let folder = project();
    let output = folder.trajectly(["report", "--json"]).output().passes();
    assert_eq!(output.stdout, folder.read(LATEST));
    let summary: Value = serde_json::from_str(&output.stdout).expect("it is JSON");
    assert_eq!(summary["regressions"], 2, "what is meant to fail is no regression");
}

#[test]
fn a_comment_tells_what_failed_and_how_to_see_it() {
    let folder = project();
    let output = folder.trajectly(["report", "--pr-comment"]).output().passes();
    let expected = "\
### Trajectly: 2 of 4 specs failed

| Spec | Status | Code | Witness | What | Reproduce |
| --- | --- | --- | --- | --- | --- |
| `specs/new.agent.yaml` | ERROR | BASELINE_MISSING |  | there is no baseline at .trajectly/baselines/new.jsonl | `trajectly run specs/new.agent.yaml` |
| `specs/odd, one.agent.yaml` | FAIL | REFINEMENT_BASELINE_CALL_MISSING | event 3 | the baseline calls `store_priority` here; this run never does | `trajectly run 'specs/odd, one.agent.yaml'` |
";
    assert_eq!(output.stdout, expected);

    folder.trajectly(["run", "specs/sample.agent.yaml"]).output().passes();
    for spec in ["specs/new.agent.yaml", "specs/odd, one.agent.yaml"] {
        std::fs::remove_file(folder.path(spec)).expect("there was a spec");
    }
    folder.write("specs/more.agent.yaml", &folder.read("specs/sample.agent.yaml"));
    folder.trajectly(["run", "specs/more.agent.yaml"]).output().passes();
    let output = folder.trajectly(["report", "--pr-comment"]).output().passes();
    assert_eq!(output.stdout, "### Trajectly: 3 specs, no regression\n");
}

/// What a parser of XML that is not ours makes of a text: an element a line, with its attributes and its text.
fn parsed(xml: &str) -> Vec<Value> {
    const PROGRAM: &str = "import json, sys, xml.etree.ElementTree as tree
for element in tree.fromstring(sys.stdin.buffer.read()).iter():
    print(json.dumps([element.tag, element.attrib, (element.text or '').strip()]))";
    let mut python = Command::new("python3");
    let python = python.arg("-c").arg(PROGRAM).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = python.spawn().expect("there is a Python");
    let stdin = child.stdin.take().expect("stdin is piped");
    std::io::Write::write_all(&mut &stdin, xml.as_bytes()).expect("it reads all");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "this is no XML:\n{xml}");
    let text = String::from_utf8(output.stdout).expect("it prints UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("it prints JSON")).collect()
}

#[test]
fn junit_is_xml_whatever_the_agent_said() {
    let folder = project();
    let printed = folder.trajectly(["report", "--junit"]).output().passes();
    let elements = parsed(&printed.stdout);
    let of = |tag: &str| elements.iter().filter(|element| element[0] == tag).collect::<Vec<_>>();
    assert_eq!(of("testsuite")[0][1]["tests"], "4");
    assert_eq!(of("testsuite")[0][1]["failures"], "1");
    assert_eq!(of("testsuite")[0][1]["errors"], "1");
    let names: Vec<_> =
        of("testcase").iter().map(|case| case[1]["name"].as_str().expect("a name").to_owned()).collect();
    let files =
        ["specs/meant.agent.yaml", "specs/new.agent.yaml", "specs/odd, one.agent.yaml", "specs/sample.agent.yaml"];
    assert_eq!(names, files);
    assert_eq!(of("error")[0][1]["type"], "BASELINE_MISSING");
    let failure = of("failure")[0];
    assert_eq!(failure[1]["type"], "REFINEMENT_BASELINE_CALL_MISSING");
    let text = failure[2].as_str().expect("a failure says more");
    for said in [
        "`drop|<b>&%` is not in `allow` (specs/odd, one.agent.yaml:9)",
        "counterexample: .trajectly/repros/odd-one.counterexample.min.jsonl",
        "reproduce: trajectly run 'specs/odd, one.agent.yaml'",
    ] {
        assert!(text.contains(said), "{said}\n{text}");
    }

    let written = folder.trajectly(["report", "--junit", "out.xml"]).output().passes();
    assert_eq!(folder.read("out.xml"), printed.stdout);
    assert_eq!(
        (written.stdout.as_str(), written.stderr.as_str()),
        ("", format!("note: {LATEST} is in out.xml\n").as_str())
    );
    folder.trajectly(["report", "--junit", "new/folder/out.xml"]).output().passes();
    assert_eq!(folder.read("new/folder/out.xml"), printed.stdout);
}

#[test]
fn annotations_point_at_the_rules() {
    let folder = project();
    let output = folder.trajectly(["report", "--github"]).output().passes();
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert!(lines.iter().all(|line| line.starts_with("::error file=specs/")), "{output}");
    assert!(lines.iter().all(|line| !line.contains("meant")), "what is meant to fail is no error: {output}");
    let denied = lines.iter().find(|line| line.contains("CONTRACT_TOOL_NOT_ALLOWED")).expect("it is not allowed");
    let expected =
        "::error file=specs/odd%2C one.agent.yaml,line=9,title=CONTRACT_TOOL_NOT_ALLOWED::event 3: `drop|<b>";
    assert!(denied.starts_with(expected), "{denied}");
    assert!(
        denied.ends_with("&%25` is not in `allow`%0Areproduce: trajectly run 'specs/odd, one.agent.yaml'"),
        "{denied}"
    );
    let missing = "::error file=specs/new.agent.yaml,title=BASELINE_MISSING::there is no baseline at ";
    assert!(lines.iter().any(|line| line.starts_with(missing)), "{output}");

    // Paths lead from where the checkout is, not from the project.
    let parent = folder.root().parent().expect("it is in a folder");
    let name = folder.root().file_name().expect("it has a name").to_string_lossy().into_owned();
    let output =
        folder.trajectly(["report", "--github", "--project-root", &name]).current_dir(parent).output().passes();
    assert!(output.stdout.starts_with(&format!("::error file={name}/specs/")), "{output}");
}

#[test]
fn what_cannot_be_printed_is_told() {
    let folder = Folder::new();
    folder
        .trajectly(["report"])
        .output()
        .exits(2)
        .says(&["error: there is no report to read: .trajectly/reports/latest"]);
    folder.trajectly(["report", "--json", "--github"]).output().exits(2).says(&["cannot be used with"]);
    folder.trajectly(["report", "--junit", "a", "--pr-comment"]).output().exits(2).says(&["cannot be used with"]);
    folder.trajectly(["report", "--project-root", "nowhere"]).output().exits(2).says(&["--project-root nowhere"]);
}

#[test]
fn a_report_that_is_a_pipe_is_not_waited_for() {
    let folder = Folder::new();
    folder.write(".trajectly/.gitignore", "");
    std::fs::create_dir_all(folder.path(".trajectly/reports")).expect("it can be made");
    Run::new("mkfifo").arg(folder.path(LATEST)).output().passes();
    for command in ["report", "shrink", "repro"] {
        folder.trajectly([command]).output().exits(2).says(&["must be a regular file"]);
    }
}

#[test]
fn a_place_that_cannot_be_written_to_is_told_with_what_to_do() {
    let folder = project();
    folder.trajectly(["report", "--junit", "/proc/x"]).output().exits(2).says(&["cannot write /proc/x", "= help: "]);
}
