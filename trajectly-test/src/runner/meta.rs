//! What a baseline was made with, and whether a run can be held against it.

use std::path::Path;

use trajectly_engine::canonical::sha256_bytes;
use trajectly_engine::code::Code;
use trajectly_engine::json::{Json, Object};
use trajectly_engine::spec::Spec;

use super::seeds::Seeds;

/// Version of what is compared; a baseline of another one is recorded again.
const NORMALIZER_VERSION: &str = "1";
/// Version of the file.
const SCHEMA_VERSION: &str = "0.4";

/// `<slug>.meta.json`: what a baseline was made with.
pub(super) struct BaselineMeta;

impl BaselineMeta {
    pub(super) fn text(spec: &Spec, spec_file: &str, spec_text: &[u8], seeds: Seeds) -> String {
        let mut meta = Object::new()
            .with("schema_version", SCHEMA_VERSION)
            .with("normalizer_version", NORMALIZER_VERSION)
            .with("spec_name", spec.name.as_str())
            .with("spec_hash", sha256_bytes(spec_text).to_string())
            .with("mode", "record")
            .with("metadata", Object::new().with("trajectly_version", env!("CARGO_PKG_VERSION")));
        // Outside of the project its path is that of one machine.
        if Path::new(spec_file).is_relative() {
            meta.insert("spec_path", spec_file);
        }
        seeds.add_to(&mut meta);
        Json::from(meta).to_pretty() + "\n"
    }

    /// Whether a baseline can be held against a run of this spec.
    pub(super) fn check(text: &str, file: &str, spec: &Spec) -> Result<(), Refusal> {
        if text.is_empty() {
            return Err(Refusal::Broken(format!("{file} is missing, or empty")));
        }
        let meta = match Json::parse(text) {
            Ok(Json::Object(meta)) => meta,
            Ok(other) => {
                return Err(Refusal::Broken(format!("{file}: this must be an object, and is {}", other.kind())));
            }
            Err(error) => {
                let (line, column) = (error.line, error.column);
                return Err(Refusal::Broken(format!("{file}:{line}:{column}: {}", error.message)));
            }
        };
        for (key, version) in [("schema_version", SCHEMA_VERSION), ("normalizer_version", NORMALIZER_VERSION)] {
            let found = meta.get(key);
            if found.and_then(Json::as_str) != Some(version) {
                let found = found.map_or_else(|| "missing".to_owned(), Json::to_compact);
                let message = format!("{file}: `{key}` is {found}, and this version writes \"{version}\"");
                let help = "record the baseline again".to_owned();
                return Err(Refusal::Other(Code::NormalizerVersionMismatch, message, help));
            }
        }
        match meta.str("spec_name") {
            Some(name) if name != spec.name => Err(Refusal::Other(
                Code::BaselineNameClash,
                format!("the baseline in {file} is that of `{name}`, whose files are named alike"),
                format!("rename one of `{name}` and `{}`", spec.name),
            )),
            _ => Ok(()),
        }
    }
}

/// Why a baseline cannot be held against a run.
pub(super) enum Refusal {
    /// The file is not what it was when it was written.
    Broken(String),
    /// A code, what is wrong, and what to do.
    Other(Code, String, String),
}
