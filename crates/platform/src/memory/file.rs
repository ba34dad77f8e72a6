//! A file that lives in memory: what `sendfile` and `splice` read from, without a disk.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::memfd::{MFdFlags, memfd_create};

use crate::PlatformError;

/// A file in memory with every page present. It vanishes when this is dropped.
#[derive(Debug)]
pub struct MemoryFile {
    file: File,
    bytes: usize,
}

impl MemoryFile {
    /// A file of this length that repeats `pattern`, which must not be empty.
    ///
    /// # Errors
    /// When the kernel has no such amount of memory, with the amount.
    pub fn new(bytes: usize, pattern: &[u8]) -> Result<Self, PlatformError> {
        let refused = |source: io::Error| PlatformError::Memory { bytes, source };
        if pattern.is_empty() {
            return Err(refused(io::ErrorKind::InvalidInput.into()));
        }
        let descriptor = memfd_create("bitpath", MFdFlags::MFD_CLOEXEC);
        let mut file = File::from(descriptor.map_err(|errno| refused(errno.into()))?);
        let mut left = bytes;
        while left > 0 {
            let part = left.min(pattern.len());
            file.write_all(&pattern[..part]).map_err(refused)?;
            left -= part;
        }
        Ok(Self { file, bytes })
    }

    /// Its length [B].
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl AsFd for MemoryFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn the_pattern_is_repeated_to_the_length() {
        let file = MemoryFile::new(8, b"abc").unwrap();
        let mut content = [0; 8];
        file.file.read_exact_at(&mut content, 0).unwrap();
        assert_eq!((&content, file.bytes()), (b"abcabcab", 8));
    }

    #[test]
    fn a_pattern_of_nothing_is_refused() {
        let error = MemoryFile::new(8, b"").unwrap_err().to_string();
        assert!(error.starts_with("no memory for a buffer of 8 B"), "{error}");
    }
}
