//! Field elements as 32 little-endian bytes.

use std::collections::HashMap;

use ff::{Field, PrimeField};

use super::modulus::scalar_modulus;
use crate::circuit::MatricesBuilder;
use crate::curve::Scalar;

/// The canonical integer in `bytes`; `None` if it is not below r.
pub(super) fn canonical(bytes: &[u8; 32]) -> Option<Scalar> {
    Scalar::from_repr_vartime(*bytes)
}

/// 0x-hexadecimal of a value that is too large, and r beside it: the two numbers of every such message.
pub(super) fn too_large(bytes: &[u8; 32]) -> (String, String) {
    let hex = |le: &[u8; 32]| le.iter().rev().map(|b| format!("{b:02x}")).collect::<String>();
    (format!("a value below r = 0x{}", hex(&scalar_modulus())), format!("0x{}", hex(bytes)))
}

/// The same for a witness value, which may be a secret even if it is malformed: no digit of it is shown.
pub(super) fn too_large_secret() -> (String, &'static str) {
    let (expected, _) = too_large(&[0; 32]);
    (expected, "a value that is not (kept back: it may be a secret)")
}

/// 2^512, the factor on `.zkey` coefficients.
pub(super) fn two_to_512() -> Scalar {
    (0..9).fold(Scalar::from(2), |x, _| x.square())
}

/// Turns coefficients as a file writes them into dictionary codes, decoding each distinct one once.
pub(super) struct Coefficients {
    seen: HashMap<[u8; 32], Option<u32>, foldhash::fast::RandomState>,
    /// Files repeat themselves: the last one is found without hashing.
    last: Option<([u8; 32], Option<u32>)>,
    factor: Scalar,
}

impl Coefficients {
    /// `factor`: what a stored value is multiplied by to get the coefficient.
    pub(super) fn new(factor: Scalar) -> Self {
        Self { seen: HashMap::default(), last: None, factor }
    }

    /// Dictionary code of a stored coefficient, `Some(None)` for zero, `None` if it is not below r.
    pub(super) fn code(&mut self, bytes: &[u8; 32], builder: &mut MatricesBuilder) -> Option<Option<u32>> {
        if let Some((last, code)) = &self.last
            && last == bytes
        {
            return Some(*code);
        }
        let code = match self.seen.get(bytes) {
            Some(code) => *code,
            None => {
                let code = builder.code(&(canonical(bytes)? * self.factor));
                self.seen.insert(*bytes, code);
                code
            }
        };
        self.last = Some((*bytes, code));
        Some(code)
    }
}
