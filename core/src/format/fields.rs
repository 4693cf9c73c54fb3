//! Fixed-width fields read one after the other, each with its name and offset in the error.

use super::{FormatError, Result};

/// A cursor over a part of a file. Nothing outside the part can be reached.
#[derive(Clone, Debug)]
pub(super) struct Fields<'a> {
    file: &'a str,
    place: String,
    bytes: &'a [u8],
    /// Offset of `bytes` in the file.
    start: usize,
    at: usize,
}

impl<'a> Fields<'a> {
    /// `place` names the part ("header", "section 2 (values)"); `start` is its offset in the file.
    pub(super) fn new(file: &'a str, place: impl Into<String>, bytes: &'a [u8], start: usize) -> Self {
        Self { file, place: place.into(), bytes, start, at: 0 }
    }

    /// Offset in the file of the next field.
    pub(super) fn offset(&self) -> usize {
        self.start + self.at
    }

    /// Bytes left.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next `len` bytes.
    pub(super) fn take(&mut self, len: usize, field: &str) -> Result<&'a [u8]> {
        match self.at.checked_add(len).and_then(|end| self.bytes.get(self.at..end)) {
            Some(bytes) => {
                self.at += len;
                Ok(bytes)
            }
            None => Err(self.error(field, format!("{len} bytes"), format!("{} bytes left", self.left()))),
        }
    }

    /// The next N bytes.
    pub(super) fn array<const N: usize>(&mut self, field: &str) -> Result<[u8; N]> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N, field)?);
        Ok(out)
    }

    pub(super) fn u32_le(&mut self, field: &str) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array(field)?))
    }

    pub(super) fn u64_le(&mut self, field: &str) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array(field)?))
    }

    pub(super) fn u32_be(&mut self, field: &str) -> Result<u32> {
        Ok(u32::from_be_bytes(self.array(field)?))
    }

    /// A u32 that can only have one value.
    pub(super) fn exactly(&mut self, field: &str, expected: u32) -> Result<()> {
        let offset = self.offset();
        let found = self.u32_le(field)?;
        if found == expected { Ok(()) } else { Err(self.error_at(field, offset, expected, found)) }
    }

    /// Nothing may be left.
    pub(super) fn end(&self) -> Result<()> {
        match self.left() {
            0 => Ok(()),
            more => Err(FormatError::content(
                self.file,
                self.place.clone(),
                self.offset() as u64,
                "nothing more",
                format!("{more} more bytes"),
            )),
        }
    }

    /// An error about the field at the cursor.
    pub(super) fn error(
        &self,
        field: &str,
        expected: impl std::fmt::Display,
        found: impl std::fmt::Display,
    ) -> FormatError {
        self.error_at(field, self.offset(), expected, found)
    }

    /// An error about a field already read.
    pub(super) fn error_at(
        &self,
        field: &str,
        offset: usize,
        expected: impl std::fmt::Display,
        found: impl std::fmt::Display,
    ) -> FormatError {
        FormatError::content(self.file, format!("{}, {field}", self.place), offset as u64, expected, found)
    }
}
