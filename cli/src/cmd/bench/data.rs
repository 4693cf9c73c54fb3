//! Inputs, from a fixed seed.

use cuzk_core::curve::Scalar;
use ff::Field;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use rayon::prelude::*;

use crate::args::ScalarsArg;

/// Every input is made from this.
const SEED: u64 = 0x63_75_7a_6b;

/// Elements per stream of the generator, so that threads do not change the data.
const CHUNK: usize = 1 << 12;

/// The generator of one purpose; purposes differ so that, say, bases and scalars are unrelated.
pub(super) fn rng(purpose: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(SEED ^ purpose << 32)
}

/// `n` elements of a distribution.
pub(super) fn scalars(n: usize, distribution: ScalarsArg, purpose: u64) -> Vec<Scalar> {
    let mut out = vec![Scalar::ZERO; n];
    let equal = Scalar::random(rng(purpose));
    out.par_chunks_mut(CHUNK).enumerate().for_each(|(i, chunk)| {
        let mut rng = rng(purpose);
        rng.set_stream(i as u64 + 1);
        for value in chunk {
            *value = match distribution {
                ScalarsArg::Random => Scalar::random(&mut rng),
                ScalarsArg::Zero => Scalar::ZERO,
                ScalarsArg::One => Scalar::ONE,
                ScalarsArg::Equal => equal,
                ScalarsArg::Porep => porep(&mut rng),
            };
        }
    });
    out
}

/// 98.7 % bits, as in the witness of a 32 GiB PoRep partition.
fn porep(rng: &mut ChaCha8Rng) -> Scalar {
    if is_bit(rng) { Scalar::from(u64::from(rng.next_u32() & 1)) } else { Scalar::random(rng) }
}

/// True 987 times of 1000.
pub(super) fn is_bit(rng: &mut ChaCha8Rng) -> bool {
    rng.next_u64() % 1000 < 987
}

/// The name as on the command line.
pub(super) fn name(value: impl clap::ValueEnum) -> String {
    value.to_possible_value().map(|v| v.get_name().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions() {
        let n = 3 * CHUNK + 5;
        let bits = |z: &[Scalar]| z.iter().filter(|v| **v == Scalar::ZERO || **v == Scalar::ONE).count();
        let porep = scalars(n, ScalarsArg::Porep, 1);
        let share = bits(&porep) as f64 / n as f64;
        assert!((0.98..0.994).contains(&share), "{share}");
        let random = scalars(n, ScalarsArg::Random, 1);
        assert_eq!(bits(&random), 0);
        assert_ne!(random[0], random[CHUNK], "chunks must differ");
        assert_eq!(random, scalars(n, ScalarsArg::Random, 1));
        assert_ne!(random, scalars(n, ScalarsArg::Random, 2));
        assert!(scalars(n, ScalarsArg::Equal, 1).windows(2).all(|w| w[0] == w[1]));
    }
}
