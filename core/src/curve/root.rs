//! The 2-adic roots of unity a key may be built on.
//!
//! r - 1 = 2^32 t with t odd. Any quadratic non-residue g gives a primitive 2^32-th root g^t, and libraries differ in g:
//! zkcrypto, bellman and arkworks take 7, snarkjs (and everything it exports) takes 5. The roots agree up to order 4 and differ
//! from order 8 on, so the choice is a property of the key: the wrong one gives a proof that does not verify.

use std::sync::LazyLock;

use ff::{Field, PrimeField};

use super::Scalar;

/// Which non-residue the powers of omega come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Root {
    /// 5: snarkjs, `.zkey` files, and what `zkey export bellman` writes.
    #[serde(rename = "5")]
    Five,
    /// 7: zkcrypto, bellman, bellperson, arkworks, Filecoin.
    #[serde(rename = "7")]
    Seven,
}

/// 2-adicity of r - 1: transforms exist up to 2^32 points.
const TWO_ADICITY: u32 = 32;

static FIVE: LazyLock<Scalar> = LazyLock::new(|| odd_power(5));
static SEVEN: LazyLock<Scalar> = LazyLock::new(|| odd_power(7));

/// g^t: a primitive 2^32-th root of unity for a quadratic non-residue g.
fn odd_power(generator: u64) -> Scalar {
    // t = (r - 1) / 2^32, from Scalar::char() in little-endian bytes shifted by four bytes.
    let r = (-Scalar::ONE).to_repr();
    let mut t = [0u64; 4];
    for (i, byte) in r[4..].iter().enumerate() {
        t[i / 8] |= u64::from(*byte) << (8 * (i % 8));
    }
    Scalar::from(generator).pow_vartime(t)
}

impl Root {
    /// The largest supported log2 of a transform's length.
    pub const MAX_LOG_N: u32 = TWO_ADICITY;

    /// A primitive 2^log_n-th root of unity; `None` above 2^32.
    pub fn of_unity(self, log_n: u32) -> Option<Scalar> {
        let top = match self {
            Root::Five => *FIVE,
            Root::Seven => *SEVEN,
        };
        let squarings = TWO_ADICITY.checked_sub(log_n)?;
        Some((0..squarings).fold(top, |w, _| w.square()))
    }

    /// The other choice: what a failed proof is tried against before the message is written.
    pub fn other(self) -> Self {
        match self {
            Root::Five => Root::Seven,
            Root::Seven => Root::Five,
        }
    }

    /// 5 or 7.
    pub fn generator(self) -> u64 {
        match self {
            Root::Five => 5,
            Root::Seven => 7,
        }
    }
}

impl std::fmt::Display for Root {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.generator())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_known_values() {
        for root in [Root::Five, Root::Seven] {
            let w = root.of_unity(32).unwrap();
            assert_eq!(
                (0..31).fold(w, |w, _| w.square()),
                -Scalar::ONE,
                "order of {root} must be exactly 2^32"
            );
            assert!(root.of_unity(33).is_none());
        }
        assert_eq!(Root::Seven.of_unity(32).unwrap(), Scalar::ROOT_OF_UNITY);
        // They agree up to order 4 and differ from order 8 on.
        assert_eq!(Root::Five.of_unity(2), Root::Seven.of_unity(2));
        assert_eq!(Root::Five.of_unity(3).unwrap(), Root::Seven.of_unity(3).unwrap().pow_vartime([5]));
        // snarkjs's omega of the 8-point domain, printed by snarkjs itself.
        let omega8 = "28761180743467419819834788392525162889723178799021384024940474588120723734663";
        assert_eq!(Scalar::from_str_vartime(omega8), Root::Five.of_unity(3));
    }
}
