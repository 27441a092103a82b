//! Reports as JUnit XML, which CI services show as test results.

use std::fmt::Write as _;

use super::summed::Summed;

/// One test case for each spec, in one suite. Ends with a newline.
pub(crate) fn junit(specs: &[Summed<'_>]) -> String {
    let failed = |spec: &&Summed<'_>| spec.row.is_regression();
    let errors = specs.iter().filter(failed).filter(|spec| spec.row.status == "ERROR").count();
    let failures = specs.iter().filter(failed).count() - errors;
    let counts = format!("tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\"", specs.len());
    let mut out = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n");
    let _ = writeln!(out, "  <testsuite name=\"trajectly\" {counts} skipped=\"0\">");
    for spec in specs {
        let (name, file) = (escaped(&spec.row.spec), escaped(&spec.row.spec_file));
        let _ = write!(out, "    <testcase classname=\"{name}\" name=\"{file}\" file=\"{file}\"");
        if !spec.row.is_regression() {
            out.push_str("/>\n");
            continue;
        }
        let element = if spec.row.status == "ERROR" { "error" } else { "failure" };
        let code = spec.row.code.map(|code| code.as_str()).unwrap_or_default();
        let message = escaped(spec.row.message.as_deref().unwrap_or_default());
        let _ = writeln!(out, ">\n      <{element} type=\"{code}\" message=\"{message}\">");
        for line in body(spec) {
            let _ = writeln!(out, "{}", escaped(&line));
        }
        let _ = writeln!(out, "</{element}>\n    </testcase>");
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn body(spec: &Summed<'_>) -> Vec<String> {
    let mut lines: Vec<String> = spec.broken.iter().map(ToString::to_string).collect();
    let counterexample = spec.row.reduced_file.as_ref().or(spec.row.prefix_file.as_ref());
    lines.extend(counterexample.map(|file| format!("counterexample: {file}")));
    lines.push(format!("reproduce: {}", spec.row.repro_command));
    lines
}

/// Text as it may stand in an attribute or an element. What no XML may hold is left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => {
                let _ = write!(out, "&#{};", u32::from(character));
            }
            '\u{fffe}' | '\u{ffff}' => {}
            control if control.is_control() => {}
            other => out.push(other),
        }
    }
    out
}
