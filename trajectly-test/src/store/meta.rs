//! What a baseline was made with. It is one object; the versioned layout keeps it in two files.

use std::io;
use std::path::Path;

use trajectly_engine::json::{Json, Object};

use super::StoreError;
use super::place::Place;

/// What `baseline.meta.json` has: what a run is given, and what it was made of. The rest, which says how the trace is to be
/// read, is in `trace.meta.json`.
const OF_THE_RUN: [&str; 6] = ["clock_seed", "created_at", "git_sha", "random_seed", "spec_hash", "trajectly_version"];
/// Those that the Python tool looks for.
const SEEDS: [&str; 2] = ["clock_seed", "random_seed"];

/// The object's text; empty where there is none. A text that is no object is as it was found.
pub(super) fn read(place: &Place) -> Result<String, StoreError> {
    let text = read_if_there(&place.meta)?;
    let Some(version) = &place.version else { return Ok(text) };
    let Ok(Json::Object(mut meta)) = Json::parse(&text) else { return Ok(text) };
    let rest = read_if_there(&version.rest_of_meta)?;
    let rest = match Json::parse(&rest) {
        Ok(Json::Object(rest)) => rest,
        Ok(other) => {
            return Err(StoreError::invalid(&version.rest_of_meta, format!("it is {}, no object", other.kind())));
        }
        Err(_) if rest.is_empty() => Object::new(),
        Err(error) => return Err(StoreError::invalid(&version.rest_of_meta, error.to_string())),
    };
    for (key, value) in rest.iter() {
        meta.insert(key, value.clone());
    }
    Ok(Json::from(meta).to_pretty() + "\n")
}

/// The texts of the two files that hold this object.
pub(super) fn split(meta: &str) -> (String, String) {
    let mut of_the_trace = match Json::parse(meta) {
        Ok(Json::Object(meta)) => meta,
        _ => Object::new(),
    };
    let mut of_the_run = SEEDS.iter().fold(Object::new(), |meta, seed| meta.with(*seed, Json::Null));
    for key in OF_THE_RUN {
        if let Some(value) = of_the_trace.remove(key) {
            of_the_run.insert(key, value);
        }
    }
    let pretty = |meta: Object| Json::from(meta).to_pretty() + "\n";
    (pretty(of_the_trace), pretty(of_the_run))
}

fn read_if_there(path: &Path) -> Result<String, StoreError> {
    match super::read_text(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        read => read.map_err(|error| StoreError::new("read", path, error)),
    }
}
