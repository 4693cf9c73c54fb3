//! The limbs of scalars. `Scalar` hides them, and MSM digits, canonical buffers and files need them.

use std::sync::LazyLock;

use ::blst::blst_fr;
use ff::Field;

use super::Scalar;

/// r, little-endian limbs.
pub const SCALAR_MODULUS: [u64; 4] =
    [0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48];

/// The limbs as they lie in memory: Montgomery form for a field element, the integer itself in a buffer of canonical scalars.
#[inline(always)]
pub fn raw_limbs(s: &Scalar) -> [u64; 4] {
    blst_fr::from(*s).l
}

/// The scalar that lies in memory as `limbs`; they must be below r.
#[inline(always)]
pub fn from_raw_limbs(limbs: [u64; 4]) -> Scalar {
    Scalar::from(blst_fr { l: limbs })
}

/// The limbs of the integer 1. As a Montgomery product, a * 1 = a / 2^256: so multiplication by this scalar leaves Montgomery form.
pub const RAW_ONE: [u64; 4] = [1, 0, 0, 0];

/// 2^256 mod r as a field element: multiplication by it enters Montgomery form.
pub static MONTGOMERY_R: LazyLock<Scalar> = LazyLock::new(|| Scalar::from(2).pow_vartime([256]));

/// The integer below r that a field element stands for, little-endian limbs.
#[inline(always)]
pub fn canonical_limbs(s: &Scalar) -> [u64; 4] {
    raw_limbs(&(from_raw_limbs(RAW_ONE) * s))
}

#[inline(always)]
fn add_limbs(x: &[u64; 4], y: &[u64; 4]) -> [u64; 4] {
    let mut carry = false;
    std::array::from_fn(|i| {
        let (s, c1) = x[i].overflowing_add(y[i]);
        let (s, c2) = s.overflowing_add(u64::from(carry));
        carry = c1 | c2;
        s
    })
}

#[inline(always)]
fn sub_limbs(x: &[u64; 4], y: &[u64; 4]) -> ([u64; 4], bool) {
    let mut borrow = false;
    let difference = std::array::from_fn(|i| {
        let (d, b1) = x[i].overflowing_sub(y[i]);
        let (d, b2) = d.overflowing_sub(u64::from(borrow));
        borrow = b1 | b2;
        d
    });
    (difference, borrow)
}

/// x + y, inlined where blst's is a call: transforms have two of these per product.
#[inline(always)]
pub fn scalar_add(x: &Scalar, y: &Scalar) -> Scalar {
    // r < 2^255: nothing is carried out.
    let sum = add_limbs(&raw_limbs(x), &raw_limbs(y));
    let (reduced, below) = sub_limbs(&sum, &SCALAR_MODULUS);
    from_raw_limbs(if below { sum } else { reduced })
}

/// x - y, inlined.
#[inline(always)]
pub fn scalar_sub(x: &Scalar, y: &Scalar) -> Scalar {
    let (difference, negative) = sub_limbs(&raw_limbs(x), &raw_limbs(y));
    let mask = u64::from(negative).wrapping_neg();
    from_raw_limbs(add_limbs(&difference, &SCALAR_MODULUS.map(|limb| limb & mask)))
}

#[cfg(test)]
mod tests {
    use ff::PrimeField;

    use super::*;

    #[test]
    fn forms() {
        assert_eq!(raw_limbs(&MONTGOMERY_R), {
            // Montgomery form of R is R^2 mod r; entering from raw 1 must give the field's 1.
            let one = from_raw_limbs(RAW_ONE) * *MONTGOMERY_R;
            assert_eq!(one, Scalar::ONE);
            raw_limbs(&(*MONTGOMERY_R * Scalar::ONE))
        });
        assert_eq!(canonical_limbs(&Scalar::from(77)), [77, 0, 0, 0]);
        let mut below = SCALAR_MODULUS;
        below[0] -= 1;
        assert_eq!(canonical_limbs(&-Scalar::ONE), below);
        let bytes: Vec<u8> =
            canonical_limbs(&Scalar::ROOT_OF_UNITY).iter().flat_map(|l| l.to_le_bytes()).collect();
        assert_eq!(bytes, Scalar::ROOT_OF_UNITY.to_repr());
    }

    #[test]
    fn sums_and_differences() {
        let edge = [
            Scalar::ZERO,
            Scalar::ONE,
            -Scalar::ONE,
            Scalar::TWO_INV,
            Scalar::ROOT_OF_UNITY,
            -Scalar::from(2),
        ];
        for x in edge {
            for y in edge {
                assert_eq!(scalar_add(&x, &y), x + y);
                assert_eq!(scalar_sub(&x, &y), x - y);
            }
        }
    }
}
