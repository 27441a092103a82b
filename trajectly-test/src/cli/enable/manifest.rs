//! The `Cargo.toml` of a crate that a template is added to: as much of it as can be told line by line.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::cli::outcome::CliError;
use crate::store::StoreError;

/// The name by which the crate's tests know its library. `None` without a manifest.
///
/// # Errors
///
/// If the manifest cannot be read, or is that of a workspace without a crate.
pub(super) fn crate_name(manifest: &Path) -> Result<Option<String>, CliError> {
    let text = match fs::read_to_string(manifest) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(CliError::from(StoreError::new("read", manifest, error).to_string())),
    };
    let name = |table| {
        let (_, line) = entries(&text).find(|(place, _)| *place == (table, "name"))?;
        line.split(['"', '\'']).nth(1).map(|name| name.replace('-', "_"))
    };
    match name("[lib]").or_else(|| name("[package]")) {
        Some(name) => Ok(Some(name)),
        None => {
            let nameless = CliError::new(format!("{} has no [package] with a name", manifest.display()));
            Err(nameless.help("name the folder of a crate, or one without a Cargo.toml"))
        }
    }
}

/// What a manifest lacks of a template's, to be pasted below it. What it has in other words stands in a comment.
pub(super) fn missing(template: &str, manifest: &str) -> String {
    let test = entries(manifest).any(|((table, key), line)| (table, key, value(line)) == AGENTS);
    let mut lines: Vec<String> = Vec::new();
    let mut last = "";
    for ((table, key), line) in entries(template).filter(|((table, _), _)| *table != "[package]") {
        let there = entries(manifest).find(|(place, _)| *place == (table, key) || is_table_of(place.0, table, key));
        let line = match there {
            _ if table == AGENTS.0 && test => continue,
            _ if table == AGENTS.0 => line.to_owned(),
            Some((_, has)) if has == line => continue,
            Some(_) => format!("# there already; make sure of: {line}"),
            None => line.to_owned(),
        };
        if table != last {
            lines.extend((!last.is_empty()).then(String::new));
            lines.push(table.to_owned());
            last = table;
        }
        lines.push(line);
    }
    lines.join("\n")
}

/// How a manifest says that the test of a template runs by itself.
const AGENTS: (&str, &str, &str) = ("[[test]]", "name", "\"agents\"");

/// Whether `header` is `[dependencies.serde]`, where table and key are `[dependencies]` and `serde`.
fn is_table_of(header: &str, table: &str, key: &str) -> bool {
    let inner = |header: &str| header.trim_matches(['[', ']']).to_owned();
    inner(header) == format!("{}.{key}", inner(table))
}

fn value(line: &str) -> &str {
    line.split_once('=').map_or("", |(_, value)| value.trim())
}

/// Every line that gives a key a value, with the header it stands under: `(("[package]", "name"), "name = \"x\"")`.
/// `serde.workspace = true` is a line of `serde`.
fn entries(manifest: &str) -> impl Iterator<Item = ((&str, &str), &str)> {
    let mut table = "";
    manifest.lines().map(str::trim).filter_map(move |line| {
        if line.starts_with('[') {
            table = line.split('#').next().unwrap_or(line).trim_end();
            return None;
        }
        let (key, _) = line.split_once('=').filter(|_| !line.starts_with('#'))?;
        let key = key.split('.').next().unwrap_or(key).trim().trim_matches('"');
        Some(((table, key), line))
    })
}
