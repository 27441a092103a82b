//! A call that nothing recorded answers, explained.

use trajectly_engine::fixture::{Difference, Fixtures, Miss, MissCode};
use trajectly_engine::json::{Json, Object};

/// Why a call is refused.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) code: &'static str,
    pub(super) message: String,
    /// For reports: the signature, how much was recorded and used, and the nearest recorded call with what differs.
    pub(super) details: Object,
}

impl Refusal {
    pub(super) fn new(miss: &Miss, fixtures: &Fixtures) -> Self {
        let code = match miss.code {
            MissCode::Exhausted => "FIXTURE_EXHAUSTED",
            MissCode::Missing | MissCode::Mismatch => "FIXTURE_MISSING",
        };
        let mut details = Object::new()
            .with("expected_signature", miss.signature.to_string())
            .with("consumed_count", miss.consumed)
            .with("available_count", miss.available)
            .with("kind", miss.kind.as_str())
            .with("name", miss.name.as_str());
        if let Some(nearest) = &miss.nearest {
            let differences: Vec<Json> = nearest.differences.iter().map(Difference::to_json).collect();
            details.insert("nearest", Object::new().with("index", nearest.index).with("differences", differences));
        }
        Self { code, message: message(miss, fixtures), details }
    }
}

fn message(miss: &Miss, fixtures: &Fixtures) -> String {
    let name = &miss.name;
    match (miss.code, &miss.nearest) {
        (MissCode::Exhausted, _) => {
            format!("`{name}` was called {} times like this when it was recorded, and now once more", miss.available)
        }
        (_, None) if fixtures.entries.is_empty() => format!("no call of `{name}` was recorded, nor any other"),
        (_, None) => format!("no call of `{name}` was recorded"),
        (_, Some(nearest)) => match nearest.differences.as_slice() {
            [] => format!("this call of `{name}` was recorded in another place"),
            [only] => format!("this call of `{name}` was not recorded: it differs at {}", only.path),
            [first, rest @ ..] => {
                format!("this call of `{name}` was not recorded: it differs at {} and {} more", first.path, rest.len())
            }
        },
    }
}
