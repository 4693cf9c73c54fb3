//! SHA-256 of files of any size.

use sha2::{Digest, Sha256};

use super::{FormatError, Result, Source};
use crate::progress::{Control, Stage};

/// Bytes hashed between two looks at the cancellation.
const CHUNK: usize = 8 << 20;

/// SHA-256 of a file's bytes, hexadecimal. Reports bytes as progress of [`Stage::Read`].
///
/// # Errors
/// [`FormatError::Cancelled`].
pub fn sha256(source: &Source, control: &Control) -> Result<String> {
    let bytes = source.bytes();
    control.stage(Stage::Read, bytes.len() as u64, || {
        let mut hasher = Sha256::new();
        let mut done = 0;
        for chunk in bytes.chunks(CHUNK) {
            if control.cancel.is_cancelled() {
                return Err(FormatError::Cancelled { file: source.name().into() });
            }
            hasher.update(chunk);
            done += chunk.len() as u64;
            control.advance(Stage::Read, done);
        }
        Ok(hex(&hasher.finalize()))
    })
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_digest_and_cancellation() {
        let source = Source::from_bytes("abc", b"abc".to_vec());
        let control = Control::default();
        assert_eq!(
            sha256(&source, &control).unwrap(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        control.cancel.cancel();
        assert!(matches!(sha256(&source, &control), Err(FormatError::Cancelled { .. })));
    }
}
