//! What is wrong with a file: which file, where in it, what was expected, what was found.

/// The outcome of reading or writing a file.
pub type Result<T, E = FormatError> = std::result::Result<T, E>;

/// A file that is not what it should be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The content is wrong.
    #[error("{file}: {place}{}: expected {expected}, found {found}", at(.offset))]
    Content {
        /// The file's name as the caller gave it.
        file: String,
        /// Section, field or index.
        place: String,
        /// Byte offset, where there is one.
        offset: Option<u64>,
        /// What should be there.
        expected: String,
        /// What is.
        found: String,
    },
    /// Somebody asked to stop.
    #[error("{file}: cancelled")]
    Cancelled {
        /// The file's name.
        file: String,
    },
    /// The file is missing: the caller's mistake.
    #[error("{file}: no such file")]
    Missing {
        /// The file's name.
        file: String,
    },
    /// The operating system refused.
    #[error("{file}: {source}")]
    Io {
        /// The file's name.
        file: String,
        /// Its words.
        source: std::io::Error,
    },
}

fn at(offset: &Option<u64>) -> String {
    offset.map_or_else(String::new, |o| format!(" at byte {o}"))
}

impl FormatError {
    /// Wrong content.
    pub fn content(
        file: &str,
        place: impl Into<String>,
        offset: impl Into<Option<u64>>,
        expected: impl std::fmt::Display,
        found: impl std::fmt::Display,
    ) -> Self {
        Self::Content {
            file: file.into(),
            place: place.into(),
            offset: offset.into(),
            expected: expected.to_string(),
            found: found.to_string(),
        }
    }

    /// From the operating system; a missing file gets its own kind.
    pub fn io(file: impl Into<String>, source: std::io::Error) -> Self {
        let file = file.into();
        match source.kind() {
            std::io::ErrorKind::NotFound => Self::Missing { file },
            _ => Self::Io { file, source },
        }
    }
}
