//! Where bytes come from: a mapped file, a short file read whole, or memory.
#![expect(unsafe_code, reason = "mapping a file; the only such place")]

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{FormatError, Result};
use crate::backend::SharedBytes;

/// Files up to this size are read rather than mapped: a witness or a small key cannot change under a proof then, and one
/// read is cheaper than the page faults of a mapping.
const READ_WHOLE: u64 = 1 << 20;

/// Most bytes taken from something that is not a regular file (a pipe, standard input), whose size nobody knows.
const STREAM_LIMIT: u64 = 1 << 30;

/// Bytes with a name, as every reader of this module takes them. Cheap to clone.
#[derive(Clone)]
pub struct Source {
    name: Arc<str>,
    bytes: SharedBytes,
    identity: Option<FileIdentity>,
}

/// What tells one state of a file from another without reading it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct FileIdentity {
    /// Absolute path, links resolved.
    pub path: PathBuf,
    /// Bytes.
    pub size: u64,
    /// Modification time, nanoseconds since 1970; negative before.
    pub mtime: i128,
    /// Inode number; 0 where the system has none.
    pub inode: u64,
}

impl Source {
    /// Opens a file. Regular files above 1 MiB are mapped, others are read; anything but a regular file is read up to 1 GiB.
    ///
    /// A mapped file must not be shortened in place while it is in use: the system answers access beyond the new end with SIGBUS.
    /// Replacing it (write beside, rename over) is safe, and that is how this project writes files.
    ///
    /// # Errors
    /// [`FormatError::Missing`], or [`FormatError::Io`] with the system's words.
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let io = |e| FormatError::io(name.clone(), e);
        let file = File::open(path).map_err(io)?;
        let meta = file.metadata().map_err(io)?;
        if !meta.is_file() {
            return Self::read_stream(&name, file);
        }
        let identity = identity_of(path, &meta);
        let bytes: SharedBytes = if meta.len() <= READ_WHOLE {
            let mut bytes = Vec::with_capacity(meta.len() as usize);
            file.take(READ_WHOLE).read_to_end(&mut bytes).map_err(io)?;
            Arc::new(bytes)
        } else {
            // SAFETY: the mapping is read-only and private to `Mmap`, which unmaps it on drop. Another process may still write
            // the file: the bytes may then change between two reads, so no reader relies on seeing the same value twice for
            // memory safety (every index is checked against structures already in memory, and every bit pattern of a limb
            // is a value). If the file is shortened, reading beyond its end raises SIGBUS, which ends the process without
            // reading foreign memory; callers are told above, and files up to 1 MiB are not mapped at all.
            Arc::new(unsafe { memmap2::Mmap::map(&file) }.map_err(io)?)
        };
        Ok(Self { name: name.into(), bytes, identity })
    }

    /// Bytes already in memory, under a name for messages.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Self {
        Self { name: name.into(), bytes: Arc::new(bytes), identity: None }
    }

    fn read_stream(name: &str, file: File) -> Result<Self> {
        let mut bytes = Vec::new();
        file.take(STREAM_LIMIT + 1).read_to_end(&mut bytes).map_err(|e| FormatError::io(name, e))?;
        if bytes.len() as u64 > STREAM_LIMIT {
            return Err(FormatError::content(
                name,
                "length",
                None,
                format!("at most {STREAM_LIMIT} bytes from something that is not a regular file"),
                "more",
            ));
        }
        Ok(Self::from_bytes(name, bytes))
    }

    /// The name as the caller gave it, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name, shared.
    pub fn shared_name(&self) -> Arc<str> {
        self.name.clone()
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        (*self.bytes).as_ref()
    }

    /// All bytes, to be kept by keys that point into them.
    pub fn shared(&self) -> SharedBytes {
        self.bytes.clone()
    }

    /// Which state of which file this is; `None` for memory and streams.
    pub fn identity(&self) -> Option<&FileIdentity> {
        self.identity.as_ref()
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Source({}, {} bytes)", self.name, self.bytes().len())
    }
}

fn identity_of(path: &Path, meta: &std::fs::Metadata) -> Option<FileIdentity> {
    let path = path.canonicalize().ok()?;
    let modified = meta.modified().ok()?;
    let mtime = match modified.duration_since(std::time::UNIX_EPOCH) {
        Ok(after) => i128::try_from(after.as_nanos()).ok()?,
        Err(before) => -i128::try_from(before.duration().as_nanos()).ok()?,
    };
    Some(FileIdentity { path, size: meta.len(), mtime, inode: inode(meta) })
}

#[cfg(unix)]
fn inode(meta: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(meta)
}

#[cfg(not(unix))]
fn inode(_: &std::fs::Metadata) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_large_empty_and_missing_files() {
        let dir = tempfile::tempdir().unwrap();
        for len in [0, 1, READ_WHOLE as usize, READ_WHOLE as usize + 1] {
            let path = dir.path().join(format!("{len}"));
            let content: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
            std::fs::write(&path, &content).unwrap();
            let source = Source::open(&path).unwrap();
            assert_eq!(source.bytes(), content, "length {len}");
            assert_eq!(source.identity().unwrap().size, len as u64);
            assert_eq!(source.name(), path.display().to_string());
        }
        let missing = Source::open(&dir.path().join("none")).unwrap_err();
        assert!(matches!(&missing, FormatError::Missing { file } if file.ends_with("none")), "{missing}");
        assert!(matches!(Source::open(dir.path()), Err(FormatError::Io { .. })), "a folder is not a file");
    }

    #[test]
    fn identity_changes_with_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "one").unwrap();
        let first = Source::open(&path).unwrap().identity().unwrap().clone();
        assert_eq!(Some(&first), Source::open(&path).unwrap().identity());
        std::fs::write(&path, "longer").unwrap();
        assert_ne!(Some(&first), Source::open(&path).unwrap().identity());
    }
}
