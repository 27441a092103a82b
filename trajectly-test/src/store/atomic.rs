//! Files that are replaced as a whole or not at all.

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::path::Path;

use super::{FOLDER, StoreError};

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
    put(target, content, durable, readable_by_all())
}

/// Writes a file that a user has named. What is no regular file, as a device or a pipe, is written to and stays what it
/// is. A link is followed, and a file that was there keeps its mode.
#[cfg(feature = "cli")]
pub(crate) fn write_named(target: &Path, content: &[u8]) -> Result<(), StoreError> {
    let failed = |error| StoreError::new("write", target, error);
    match fs::metadata(target) {
        Ok(there) if there.is_file() => {
            put(&target.canonicalize().map_err(failed)?, content, true, there.permissions())
        }
        Err(_) if !target.is_symlink() => replace(target, content, true),
        _ => fs::write(target, content).map_err(failed),
    }
}

fn put(target: &Path, content: &[u8], durable: bool, mode: Permissions) -> Result<(), StoreError> {
    make_folder(target)?;
    let folder = target.parent().unwrap_or(Path::new("."));
    let write = || {
        let mut file = tempfile::Builder::new().prefix(".").suffix(".new").tempfile_in(folder)?;
        file.write_all(content)?;
        file.as_file().set_permissions(mode)?;
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

/// Reads a text. What is no file of its own is refused: a pipe that nobody writes to would be waited for without end.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    let there = fs::metadata(path)?;
    if there.is_file() || there.is_dir() {
        return fs::read_to_string(path);
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, "it is a pipe or a device, and must be a regular file"))
}

/// Makes a file, whole or not at all, unless something is there. Returns whether nothing was.
#[cfg(feature = "cli")]
pub(crate) fn create(target: &Path, content: &[u8]) -> Result<bool, StoreError> {
    make_folder(target)?;
    let folder = target.parent().unwrap_or(Path::new("."));
    let write = || {
        let mut file = tempfile::Builder::new().prefix(".").suffix(".new").tempfile_in(folder)?;
        file.write_all(content)?;
        file.as_file().set_permissions(readable_by_all())?;
        match file.persist_noclobber(target) {
            Ok(_) => Ok(true),
            Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(refused) => Err(refused.error),
        }
    };
    write().map_err(|error| StoreError::new("write", target, error))
}

/// Makes the folder of a file, and looks whether the file can be put there.
pub(super) fn check_place(path: &Path) -> Result<(), StoreError> {
    make_folder(path)?;
    let checked = match fs::symlink_metadata(path) {
        Ok(there) if there.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => tempfile::tempfile_in(path.parent().unwrap_or(Path::new("."))).map(drop),
    };
    checked.map_err(|error| StoreError::new("write", path, error))
}

fn make_folder(path: &Path) -> Result<(), StoreError> {
    let Some(folder) = path.parent() else { return Ok(()) };
    fs::create_dir_all(folder).map_err(|error| {
        // The system names the folder that was to be made, not what is in the way.
        let in_the_way =
            folder.ancestors().find(|above| above.ends_with(FOLDER) && (above.is_symlink() || above.is_file()));
        match (error.kind(), in_the_way) {
            (io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory, Some(path)) => {
                let what = if path.is_file() { "there is a file" } else { "there is a link that leads to no folder" };
                StoreError::new("make the folder", path, io::Error::new(io::ErrorKind::AlreadyExists, what))
            }
            _ => StoreError::new("make the folder", folder, error),
        }
    })
}

/// Makes a rename in the folder of `path` last. Where folders cannot be synced, it lasts as well as it can.
fn sync_folder(path: &Path) {
    if let Some(folder) = path.parent().and_then(|folder| File::open(folder).ok()) {
        let _ = folder.sync_all();
    }
}

/// Temporary files are made for their owner alone; these are to be read by whoever shares the checkout.
fn readable_by_all() -> Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    Permissions::from_mode(0o644)
}
