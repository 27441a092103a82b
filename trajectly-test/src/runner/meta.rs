//! What a baseline was made with, and whether a run can be held against it.

use trajectly_engine::canonical::sha256_bytes;
use trajectly_engine::code::Code;
use trajectly_engine::json::{Json, Object};
use trajectly_engine::spec::Spec;

use super::seeds::Seeds;

/// Version of what is compared; a baseline of another one is recorded again.
const NORMALIZER_VERSION: &str = "1";

/// `<slug>.meta.json`: what a baseline was made with.
pub(super) struct BaselineMeta;

impl BaselineMeta {
    pub(super) fn text(spec: &Spec, spec_text: &[u8], seeds: Seeds) -> String {
        let mut meta = Object::new()
            .with("schema_version", "0.4")
            .with("normalizer_version", NORMALIZER_VERSION)
            .with("spec_name", spec.name.as_str())
            .with("spec_hash", sha256_bytes(spec_text).to_string())
            .with("mode", "record")
            .with("metadata", Object::new().with("trajectly_version", env!("CARGO_PKG_VERSION")));
        seeds.add_to(&mut meta);
        Json::from(meta).to_pretty() + "\n"
    }

    /// Whether a baseline can be held against a run of this spec. The error is a code, what is wrong, and what to do.
    pub(super) fn check(text: &str, file: &str, spec: &Spec) -> Result<(), (Code, String, String)> {
        const MISMATCH: Code = Code::NormalizerVersionMismatch;
        let again = || "record the baseline again".to_owned();
        if text.is_empty() {
            return Err((MISMATCH, format!("{file} is missing"), again()));
        }
        let meta = Json::parse(text).map_err(|error| {
            (MISMATCH, format!("{file}:{}:{}: {}", error.line, error.column, error.message), again())
        })?;
        let found = meta.get("normalizer_version");
        if found.and_then(Json::as_str) != Some(NORMALIZER_VERSION) {
            let found = found.map_or_else(|| "none".to_owned(), Json::to_compact);
            let message =
                format!("{file}: normalizer_version is {found}, and this is version \"{NORMALIZER_VERSION}\"");
            return Err((MISMATCH, message, again()));
        }
        match meta.get("spec_name").and_then(Json::as_str) {
            Some(name) if name != spec.name => Err((
                Code::BaselineNameClash,
                format!("the baseline in {file} is that of `{name}`, whose files are named alike"),
                format!("rename one of `{name}` and `{}`", spec.name),
            )),
            _ => Ok(()),
        }
    }
}
