//! The schema of specs agrees with what reads them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use trajectly_engine::json::Json;
use trajectly_engine::spec::Spec;
use trajectly_tests::{Folder, Page, Schema, assert_generated, repository, schema_of_specs};

#[test]
fn it_is_committed_as_it_is_made() {
    assert_generated("docs/agent.schema.json", &(trajectly_engine::spec::schema().to_pretty() + "\n"));
}

#[test]
fn the_command_line_prints_it() {
    let printed = Folder::new().trajectly(["schema"]).output().passes();
    assert_eq!(printed.stderr, "");
    let printed: Value = serde_json::from_str(&printed.stdout).expect("JSON and nothing else");
    assert_eq!(printed, schema_of_specs());
}

/// The specs below a folder.
fn specs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder can be read") {
        let path = entry.expect("an entry can be read").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            specs(&path, found);
        } else if name.ends_with(".agent.yaml") {
            found.push(path);
        }
    }
}

fn from_yaml(text: &str) -> Value {
    let mut value: serde_yaml::Value = serde_yaml::from_str(text).expect("YAML");
    value.apply_merge().expect("merges");
    serde_json::to_value(value).expect("what JSON has too")
}

#[test]
fn every_spec_of_the_repository_is_as_it_says() {
    let schema = schema_of_specs();
    let mut found = Vec::new();
    specs(repository(), &mut found);
    assert!(found.len() > 20, "{found:?}");
    for file in found {
        let text = fs::read_to_string(&file).expect("a spec can be read");
        let breaches = Schema(&schema).breaches(&from_yaml(&text));
        assert!(breaches.is_empty(), "{}: {breaches:?}", file.display());
    }
}

#[test]
fn every_spec_that_is_shown_is_as_it_says() {
    let schema = schema_of_specs();
    for page in Page::of_specs().into_iter().chain([Page::read("README.md")]) {
        for block in page.blocks_in("yaml") {
            let version = if block.text.contains("schema_version") { "" } else { "schema_version: \"0.4\"\n" };
            let breaches = Schema(&schema).breaches(&from_yaml(&format!("{version}{}", block.text)));
            assert!(breaches.is_empty(), "{}: {breaches:?}\n{}", page.path, block.text);
        }
    }
}

/// Where the shape is not all that counts, so that the reader refuses more than the schema.
const LOOKED_AT: [&str; 10] = [
    "/abstraction/config",
    "/abstraction/price/paths",
    "/contracts/config",
    "/expect",
    "/extends",
    "/providers/anthropic/base_url",
    "/providers/gemini/base_url",
    "/providers/ollama/base_url",
    "/providers/openai/base_url",
    "/replay/ignore_paths",
];

/// Where an empty list stands for an empty mapping in older specs; the schema knows one way to say it.
const OLDER: [&str; 2] = ["/contracts/args/*/fields", "/contracts/tools/schema/*/fields"];

/// Puts values of every kind in every place that the schema knows, and hands out the specs that come of it.
fn probe(schema: Schema<'_>, path: &str, wrap: &dyn Fn(Value) -> Value, take: &mut dyn FnMut(&str, Value)) {
    for value in [
        json!(null),
        json!(true),
        json!(3),
        json!(0),
        json!(-1),
        json!(1.5),
        json!("word"),
        json!(" "),
        json!([]),
        json!(["word"]),
        json!([3]),
        json!([null]),
        json!({"word": "word"}),
        json!({"word": 3}),
        json!({"x-word": 3}),
    ] {
        take(path, wrap(value));
    }
    for (key, below) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let wrap = |value| {
            let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            let mut block: Map<_, _> =
                required.filter_map(|key| Some((key.as_str()?.to_owned(), json!("word")))).collect();
            block.insert(key.clone(), value);
            wrap(block.into())
        };
        probe(Schema(below), &format!("{path}/{key}"), &wrap, take);
    }
    if let Some(below) = schema.get("items") {
        probe(Schema(below), &format!("{path}/0"), &|value| wrap(json!([value])), take);
    }
    if let Some(below) = schema.get("additionalProperties").filter(|below| below.is_object()) {
        probe(Schema(below), &format!("{path}/*"), &|value| wrap(json!({"word": value})), take);
    }
}

#[test]
fn it_refuses_what_the_reader_refuses() {
    let schema = schema_of_specs();
    let (mut probes, mut differences) = (0, Vec::new());
    let spec = |value| match value {
        Value::Object(mut spec) => {
            for (key, value) in [("schema_version", "0.4"), ("name", "probe")] {
                spec.entry(key).or_insert_with(|| value.into());
            }
            spec.into()
        }
        other => other,
    };
    probe(Schema(&schema), "", &spec, &mut |path, value| {
        probes += 1;
        let breaches = Schema(&schema).breaches(&value);
        let read = Spec::from_json(&Json::parse(&value.to_string()).expect("JSON"));
        // What is a rule of the wrong kind is told of and left out.
        let refused = match &read {
            Ok(spec) => spec
                .warnings
                .iter()
                .find(|warning| warning.message.ends_with(", and has no effect"))
                .map(|warning| warning.message.clone()),
            Err(error) => Some(error.to_string()),
        };
        let agree = match &refused {
            Some(_) => !breaches.is_empty() || LOOKED_AT.contains(&path.trim_end_matches("/0")),
            None => breaches.is_empty() || OLDER.contains(&path),
        };
        if !agree {
            differences.push(format!("{path} {value}: the schema has {breaches:?}, the reader {refused:?}"));
        }
    });
    assert!(probes > 1500, "only {probes} specs were made");
    assert!(differences.is_empty(), "{} of {probes}:\n{}", differences.len(), differences.join("\n"));
}
