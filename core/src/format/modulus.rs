//! The field's own number in a header: a file of another curve is told by it.

use super::Result;
use super::fields::Fields;
use crate::curve::{Fp, Scalar};

/// r, little-endian: the order of the groups and the field of witnesses.
pub(super) fn scalar_modulus() -> [u8; 32] {
    Scalar::char()
}

/// p, little-endian: the field of coordinates.
pub(super) fn base_modulus() -> [u8; 48] {
    let mut out = [0; 48];
    for (bytes, limb) in out.chunks_exact_mut(8).zip(Fp::MODULUS) {
        bytes.copy_from_slice(&limb.to_le_bytes());
    }
    out
}

/// Reads `width u32 | modulus[width]` and compares both with `expected`.
pub(super) fn expect(fields: &mut Fields<'_>, name: &str, expected: &[u8]) -> Result<()> {
    fields.exactly(&format!("bytes per element of {name}"), expected.len() as u32)?;
    let offset = fields.offset();
    let found = fields.take(expected.len(), &format!("modulus of {name}"))?;
    if found == expected {
        return Ok(());
    }
    let found = format!("{}{}", describe(found), remedy(found));
    Err(fields.error_at(&format!("modulus of {name}"), offset, describe(expected), found))
}

/// circom compiles for BN254 unless told otherwise: the commonest mistake of all.
fn remedy(found: &[u8]) -> &'static str {
    let other = describe(found);
    if other.ends_with(')') && !other.ends_with("BLS12-381)") {
        "; circom compiles for this curve with --prime bls12381"
    } else {
        ""
    }
}

/// Hexadecimal, and the curve's name where it is a known one.
fn describe(little_endian: &[u8]) -> String {
    let hex: String = little_endian.iter().rev().map(|b| format!("{b:02x}")).collect();
    let hex = hex.trim_start_matches('0');
    let name = KNOWN.iter().find(|(known, _)| *known == hex).map_or("", |(_, name)| name);
    if name.is_empty() { format!("0x{hex}") } else { format!("0x{hex} ({name})") }
}

const KNOWN: [(&str, &str); 7] = [
    ("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001", "r of BLS12-381"),
    (
        "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab",
        "p of BLS12-381",
    ),
    ("30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001", "r of BN254"),
    ("30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47", "p of BN254"),
    ("ffffffff00000001", "Goldilocks"),
    ("40000000000000000000000000000000224698fc094cf91b992d30ed00000001", "p of Pallas"),
    ("40000000000000000000000000000000224698fc0994a8dd8c46eb2100000001", "p of Vesta"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_moduli_are_known_by_name() {
        assert!(describe(&scalar_modulus()).ends_with("(r of BLS12-381)"));
        assert!(describe(&base_modulus()).ends_with("(p of BLS12-381)"));
        assert_eq!(describe(&[7, 0]), "0x7");
    }
}
