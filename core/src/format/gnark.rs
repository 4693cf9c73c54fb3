//! gnark's proof without commitments, 244 bytes: Ar (48), Bs (96), Krs (48), number of commitments u32 big-endian, their proof of
//! knowledge (48). The first 192 bytes are [`super::proof`]'s; without commitments the last point is the identity.

use super::proof;
use super::{FormatError, Result};
use crate::proof::Proof;

/// Length without commitments.
pub const BYTES: usize = proof::BYTES + 4 + 48;

/// The identity, compressed: compression and infinity flags, and nothing else.
const IDENTITY: [u8; 48] = {
    let mut bytes = [0; 48];
    bytes[0] = 0xc0;
    bytes
};

/// The 244 bytes.
///
/// # Errors
/// A point that is the identity.
pub fn to_bytes(proof: &Proof) -> Result<[u8; BYTES]> {
    let mut out = [0; BYTES];
    out[..proof::BYTES].copy_from_slice(&proof::to_bytes(proof)?);
    out[proof::BYTES + 4..].copy_from_slice(&IDENTITY);
    Ok(out)
}

/// The proof in 244 bytes.
///
/// # Errors
/// Another length, commitments (this prover's circuits have none), and those of [`proof::from_bytes`].
pub fn from_bytes(bytes: &[u8]) -> Result<Proof> {
    decode("proof", bytes)
}

pub(super) fn decode(file: &str, bytes: &[u8]) -> Result<Proof> {
    let Some((points, tail)) = bytes.split_at_checked(proof::BYTES).filter(|(_, tail)| tail.len() == 52)
    else {
        return Err(FormatError::content(file, "length", None, format!("{BYTES} bytes"), bytes.len()));
    };
    let (count, knowledge) = tail.split_at(4);
    let offset = proof::BYTES as u64;
    if count != [0; 4] {
        let found = count.iter().fold(0u32, |n, b| n << 8 | u32::from(*b));
        return Err(FormatError::content(file, "number of commitments", offset, "0", found));
    }
    if knowledge != IDENTITY {
        let expected = "the identity (0xc0 and zeros), as there are no commitments";
        return Err(FormatError::content(file, "proof of knowledge", offset + 4, expected, "other bytes"));
    }
    proof::decode(file, points)
}
