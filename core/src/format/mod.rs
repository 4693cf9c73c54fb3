//! File formats, one module each: bytes in, checked structures out, and back. No proving logic here.
//!
//! Every reader bounds counts by the file's size before it allocates or loops, and names the file, the section or field, the
//! offset where there is one, what was expected and what was found. Large files are mapped, not read.

mod error;

pub use error::{FormatError, Result};
