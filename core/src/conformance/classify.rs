//! Classes of scalars.

use ff::{Field, PrimeField};

use super::rig::{During, Rig, ensure};
use super::values::{self, below, power_of_two};
use super::{Outcome, Subject};
use crate::backend::{Backend, DeviceBuffer, class};
use crate::curve::Scalar;

fn examine<B: Backend>(rig: &Rig<B>, values: &[(Scalar, u8)]) -> Outcome {
    let (scalars, codes): (Vec<Scalar>, Vec<u8>) = values.iter().copied().unzip();
    let z = rig.upload(&scalars)?;
    let what = format!("classes of {} scalars", scalars.len());
    let classes = rig.backend.classify(&rig.stream, &z).during(&what)?;
    rig.expect(&classes.codes, &codes, &what)?;
    let counts = [0, 1, 2, 3].map(|class| codes.iter().filter(|c| **c == class).count() as u32);
    ensure!(classes.counts.len() == 4, "there must be 4 counts, not {}", classes.counts.len());
    rig.expect(&classes.counts, &counts, format_args!("counts of the {what}"))
}

/// Every value beside a border
pub fn borders_of_the_classes<B: Backend>(subject: &Subject<B>) -> Outcome {
    let rig = subject.rig()?;
    let one = Scalar::ONE;
    let mut values = vec![
        (Scalar::ZERO, class::ZERO),
        (one, class::ONE),
        (one + one, class::SMALL),
        (Scalar::from(255), class::SMALL),
        (Scalar::from(256), class::SMALL),
        (Scalar::from(257), class::SMALL),
        (power_of_two(16) - one, class::SMALL),
        (power_of_two(16), class::FULL),
        (power_of_two(16) + one, class::FULL),
        (-one, class::FULL),
        (Scalar::TWO_INV, class::FULL),
        // Small in one limb only, and what the Montgomery forms of 0, 1 and small numbers look like as integers.
        (power_of_two(64), class::FULL),
        (power_of_two(64) + one, class::FULL),
        (power_of_two(128), class::FULL),
        (power_of_two(192) + one, class::FULL),
        (power_of_two(256), class::FULL),
        (power_of_two(256).invert().unwrap_or(one), class::FULL),
    ];
    for _ in 0..2 {
        examine(&rig, &values)?;
        for value in &values {
            examine(&rig, std::slice::from_ref(value))?;
        }
        values.reverse();
    }
    Ok(())
}

/// All lengths, mixtures and single classes
pub fn lengths_and_counts<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    for n in values::sizes(rig.limits.elements) {
        for only in [None, Some(0), Some(1), Some(2), Some(3)] {
            let values: Vec<_> = (0..n)
                .map(|_| match only.unwrap_or_else(|| below(&mut rig.rng, 4)) {
                    0 => (Scalar::ZERO, class::ZERO),
                    1 => (Scalar::ONE, class::ONE),
                    2 => (Scalar::from(2 + below(&mut rig.rng, 65_534) as u64), class::SMALL),
                    _ => (Scalar::random(&mut rig.rng), class::FULL),
                })
                .collect();
            examine(&rig, &values)?;
        }
    }
    Ok(())
}
