//! What is set for the whole process, before it has a second thread.

use std::path::Path;

/// Tells insta where the workspace is, so that it need not ask cargo, and to keep quiet, as a failure shows the
/// difference itself and stdout may be JSON. What the user has set stands.
///
/// To be called at the start of `main`.
pub(crate) fn prepare_process(manifest_dir: &Path) {
    set_default("INSTA_OUTPUT", || "none".into());
    set_default("INSTA_WORKSPACE_ROOT", || workspace_root(manifest_dir).into());
}

#[expect(unsafe_code, reason = "an environment variable can be set in no other way")]
fn set_default(name: &str, value: impl FnOnce() -> std::ffi::OsString) {
    if std::env::var_os(name).is_none() {
        // SAFETY: the process has one thread yet, so nobody reads the environment meanwhile.
        unsafe { std::env::set_var(name, value()) };
    }
}

/// The nearest folder with a lock file, which is where cargo keeps that of the workspace.
fn workspace_root(manifest_dir: &Path) -> &Path {
    manifest_dir.ancestors().find(|folder| folder.join("Cargo.lock").exists()).unwrap_or(manifest_dir)
}
