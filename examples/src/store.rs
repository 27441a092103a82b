//! The files behind the tools: what they read, in `data/` of this package, and what they leave, below [`state_dir`].

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::task;

use crate::ToolError;

/// Names the folder that tools write to. Unset: `trajectly-examples` in the system's folder for temporary files.
pub const STATE_DIR_VARIABLE: &str = "EXAMPLES_STATE_DIR";

/// The folder that tools write to. It need not exist yet.
pub fn state_dir() -> PathBuf {
    match env::var_os(STATE_DIR_VARIABLE) {
        Some(dir) if !dir.is_empty() => PathBuf::from(dir),
        _ => env::temp_dir().join("trajectly-examples"),
    }
}

/// Reads `data/<file>`.
pub(crate) async fn load<T: DeserializeOwned>(file: &str) -> Result<T, ToolError> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(file);
    let text = tokio::fs::read(&path).await.map_err(|source| ToolError::Storage { path, source })?;
    Ok(serde_json::from_slice(&text)?)
}

/// Writes `record` to `<state_dir>/<collection>/<id>.json`, replacing what was there in one step: a reader sees the old
/// record or the new one.
pub(crate) async fn put<T: Serialize>(collection: &str, id: &str, record: &T) -> Result<(), ToolError> {
    // Ids come from a model: one that could climb out of the folder is no id.
    if !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return Err(ToolError::Refused(format!("`{id}` is not an id")));
    }
    let path = state_dir().join(collection).join(format!("{id}.json"));
    let text = serde_json::to_vec_pretty(record)?;
    let target = path.clone();
    let written = task::spawn_blocking(move || replace(&target, &text)).await;
    written.unwrap_or_else(|error| Err(io::Error::other(error))).map_err(|source| ToolError::Storage { path, source })
}

fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text)?;
    file.persist(path)?;
    Ok(())
}
