//! Randomness from the operating system, whose failure is an error and not a panic.

use ff::Field;
use rand_core::{OsRng, RngCore};

use crate::curve::Scalar;

/// The operating system gave no randomness.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no randomness from the operating system: {0}")]
pub struct NoRandomness(pub String);

fn fill(bytes: &mut [u8]) -> Result<(), NoRandomness> {
    OsRng.try_fill_bytes(bytes).map_err(|e| NoRandomness(e.to_string()))
}

/// From the system.
pub(crate) fn bytes<const N: usize>() -> Result<[u8; N], NoRandomness> {
    let mut bytes = [0; N];
    fill(&mut bytes)?;
    Ok(bytes)
}

/// Uniform among the scalars that are not zero.
pub(crate) fn scalar() -> Result<Scalar, NoRandomness> {
    let mut bytes = [0u8; 64];
    loop {
        fill(&mut bytes)?;
        let value = wide(&bytes);
        if !bool::from(value.is_zero()) {
            return Ok(value);
        }
    }
}

/// Uniform in 1..2^128.
pub(crate) fn short_scalar() -> Result<Scalar, NoRandomness> {
    let mut bytes = [0u8; 64];
    loop {
        fill(&mut bytes[..16])?;
        let value = wide(&bytes);
        if !bool::from(value.is_zero()) {
            return Ok(value);
        }
    }
}

/// 512 bits, little-endian, modulo r: uniform input gives a bias below 2^-256.
pub(crate) fn wide(bytes: &[u8; 64]) -> Scalar {
    let radix = Scalar::from(1 << 32).square();
    bytes.chunks_exact(8).rev().fold(Scalar::ZERO, |sum, chunk| {
        let word = chunk.iter().rev().fold(0u64, |w, b| w << 8 | u64::from(*b));
        sum * radix + Scalar::from(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_is_little_endian_and_reduced() {
        let mut bytes = [0u8; 64];
        (bytes[0], bytes[9]) = (3, 1);
        assert_eq!(wide(&bytes), Scalar::from(3) + Scalar::from(1 << 36) * Scalar::from(1 << 36));
        assert_eq!(wide(&[255; 64]), Scalar::from(2).pow_vartime([512]) - Scalar::ONE);
    }

    #[test]
    fn draws_differ() {
        assert_ne!(scalar().unwrap(), scalar().unwrap());
        assert_ne!(short_scalar().unwrap(), short_scalar().unwrap());
    }
}
