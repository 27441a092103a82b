//! Files that are replaced as a whole or not at all.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use super::StoreError;

/// Writes a file and syncs it to the disk.
pub(super) fn write_synced(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    make_folder(path)?;
    let write = || {
        let mut file = File::create(path)?;
        file.write_all(content)?;
        file.sync_all()
    };
    write().map_err(|error| StoreError::new("write", path, error))
}

/// Moves a file over another, for good.
pub(super) fn move_synced(from: &Path, to: &Path) -> Result<(), StoreError> {
    make_folder(to)?;
    fs::rename(from, to).map_err(|error| StoreError::new("put in place", to, error))?;
    sync_folder(to);
    Ok(())
}

/// Replaces `target`. Of several writers at once, the last one's content stands, whole.
///
/// `durable` syncs before the rename. Without it a power cut may lose the file, which is good enough for what any run
/// makes anew.
pub(crate) fn replace(target: &Path, content: &[u8], durable: bool) -> Result<(), StoreError> {
    make_folder(target)?;
    let folder = target.parent().unwrap_or(Path::new("."));
    let write = || {
        let mut file = tempfile::Builder::new().prefix(".").suffix(".new").tempfile_in(folder)?;
        file.write_all(content)?;
        readable_by_all(file.as_file())?;
        if durable {
            file.as_file().sync_all()?;
        }
        file.persist(target)?;
        Ok(())
    };
    write().map_err(|error| StoreError::new("write", target, error))?;
    if durable {
        sync_folder(target);
    }
    Ok(())
}

/// Makes a file, whole or not at all, unless something is there. Returns whether nothing was.
#[cfg(feature = "cli")]
pub(crate) fn create(target: &Path, content: &[u8]) -> Result<bool, StoreError> {
    make_folder(target)?;
    let folder = target.parent().unwrap_or(Path::new("."));
    let write = || {
        let mut file = tempfile::Builder::new().prefix(".").suffix(".new").tempfile_in(folder)?;
        file.write_all(content)?;
        readable_by_all(file.as_file())?;
        match file.persist_noclobber(target) {
            Ok(_) => Ok(true),
            Err(refused) if refused.error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
            Err(refused) => Err(refused.error),
        }
    };
    write().map_err(|error| StoreError::new("write", target, error))
}

fn make_folder(path: &Path) -> Result<(), StoreError> {
    match path.parent() {
        Some(folder) => fs::create_dir_all(folder).map_err(|error| StoreError::new("make the folder", folder, error)),
        None => Ok(()),
    }
}

/// Makes a rename in the folder of `path` last. Where folders cannot be synced, it lasts as well as it can.
fn sync_folder(path: &Path) {
    if let Some(folder) = path.parent().and_then(|folder| File::open(folder).ok()) {
        let _ = folder.sync_all();
    }
}

/// Temporary files are made for their owner alone; these are to be read by whoever shares the checkout.
fn readable_by_all(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}
