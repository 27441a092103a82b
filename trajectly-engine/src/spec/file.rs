//! Reading the files that a spec is made of.

use std::fs;
use std::io;
use std::path::Path;

/// More than anybody writes: 16 MiB.
const MOST_BYTES: u64 = 16 << 20;

/// The bytes of a file. What may have no end, such as a device or a pipe, is not read.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let about = fs::metadata(path)?;
    if !about.is_file() && !about.is_dir() {
        return Err(io::Error::other("it is a device, a pipe or a socket"));
    }
    if about.len() > MOST_BYTES {
        return Err(io::Error::other("it is larger than 16 MiB"));
    }
    fs::read(path)
}
