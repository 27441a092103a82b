//! Reports as workflow commands of GitHub Actions, which become annotations of a pull request.

use super::summed::Summed;
use super::text::clean;

/// An `::error` for each broken rule at the first bad event of each spec that failed; empty if none did. `path` says where a file
/// of the project lies, from the top of the checkout.
pub(crate) fn annotations(specs: &[Summed<'_>], path: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    for spec in specs.iter().filter(|spec| spec.row.is_regression()) {
        let row = spec.row;
        let again = format!("\nreproduce: {}", clean(&row.repro_command));
        for broken in &spec.broken {
            let (file, line) = match &broken.place {
                Some((file, line)) => (file, Some(*line)),
                None => (&row.spec_file, None),
            };
            let text = format!("event {}: {}{again}", broken.event, clean(&broken.message));
            out.push_str(&command(&path(file), line, &broken.code, &text));
        }
        if spec.broken.is_empty() {
            let code = row.code.map_or(row.status.as_str(), |code| code.as_str());
            let text = clean(row.message.as_deref().unwrap_or_default()) + &again;
            out.push_str(&command(&path(&row.spec_file), None, code, &text));
        }
    }
    out
}

fn command(file: &str, line: Option<u64>, title: &str, message: &str) -> String {
    let line = line.map(|line| format!(",line={line}")).unwrap_or_default();
    format!("::error file={}{line},title={}::{}\n", property(file), property(title), data(message))
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(&clean(text)).replace(':', "%3A").replace(',', "%2C")
}
