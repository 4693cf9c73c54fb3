//! Whole proofs of a made-up circuit.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cuzk_core::backend::OpenOptions;
use cuzk_core::circuit::{Entry, Matrices, MatricesBuilder, SetupForm, ToxicWaste, setup};
use cuzk_core::curve::{Root, Scalar};
use cuzk_core::progress::{Control, Stage};
use cuzk_core::prover::{Partition, ProofOutput};
use cuzk_core::witness::{PackedWitness, Witness};
use ff::Field;
use rand_core::RngCore;
use serde_json::{Map, json};

use super::{Measured, Timing, data};
use crate::args::{ScalarsArg, WitnessArg};
use crate::exit::{Failure, Result};

/// Seeds of the variable pools: products of them fill the rest of the witness.
const SEEDS: usize = 64;

pub(super) fn run(
    timing: &Timing<'_>,
    backend: &str,
    open: &OpenOptions,
    log_n: u32,
    form: WitnessArg,
    scalars: ScalarsArg,
) -> Result<Measured> {
    let context = timing.context;
    let prover = context.registry.open(backend, open)?;
    // Per row: a key of six points (one of them twice as large), matrices and witness. The device has a plan of its own.
    timing.expect_room(&prover.info(), prover.memory(), (1 << log_n) * 750, 0)?;
    let (matrices, z) = circuit(log_n, scalars)?;
    let toxic = ToxicWaste::from_seed(b"cuzk bench");
    let key = setup(&matrices, SetupForm::OddCoset, Root::Five, &toxic, &context.control)?;
    let constraints = matrices.constraints as u64;
    let loaded = prover.load_key(Arc::new(key), Arc::new(matrices), None, &context.control)?;
    let witness = match form {
        WitnessArg::Dense => Witness::dense(z),
        WitnessArg::Packed => Witness::Packed(Arc::new(PackedWitness::from_dense(&z))),
    };
    // Bars of a millisecond each are noise, and drawing them costs time.
    let control = Control { cancel: context.control.cancel.clone(), ..Control::default() };
    let mut stages = Stages::default();
    let mut prove = |keep: bool| -> Result<()> {
        let output = prover.submit(loaded, Partition::new(witness.clone()), control.clone())?.wait()?;
        if keep {
            stages.add(&output);
        }
        Ok(())
    };
    prove(false)?;
    let runs = timing.measure(|| prove(true))?;
    let facts = Map::from_iter([
        ("witness".into(), json!(data::name(form))),
        ("scalars".into(), json!(data::name(scalars))),
        ("constraints".into(), json!(constraints)),
        ("stage_seconds".into(), stages.medians()),
    ]);
    Ok(Measured { device: prover.info(), runs, items: (constraints, "constraints"), facts })
}

/// The times of each stage over the runs.
#[derive(Default)]
struct Stages(BTreeMap<&'static str, Vec<Duration>>);

impl Stages {
    fn add(&mut self, output: &ProofOutput) {
        for (stage, time) in &output.timings {
            self.0.entry(Stage::name(*stage)).or_default().push(*time);
        }
    }

    fn medians(self) -> serde_json::Value {
        let median = |mut times: Vec<Duration>| {
            times.sort();
            super::median(&times)
        };
        self.0.into_iter().map(|(stage, times)| (stage.to_owned(), json!(median(times)))).collect()
    }
}

/// Products of earlier variables, rows z_a z_b = z_new, as many as a domain of 2^log_n holds beside one public input and the constant.
/// Bits multiply to bits, so a distribution of the seeds is one of the witness.
fn circuit(log_n: u32, scalars: ScalarsArg) -> Result<(Matrices, Vec<Scalar>)> {
    const INPUTS: usize = 2;
    let n = 1usize << log_n;
    let constraints = n.checked_sub(INPUTS).filter(|c| *c > 0);
    let constraints =
        constraints.ok_or_else(|| Failure::usage("--log-n: a proof needs a domain of at least 4: 2"))?;
    let mut rng = data::rng(5);
    let mut z = vec![Scalar::ONE];
    z.extend(data::scalars(2 * SEEDS, seeds_of(scalars), 6));
    if scalars == ScalarsArg::Porep {
        // The first half are bits, the other half are not.
        for bit in z.iter_mut().skip(1).take(SEEDS) {
            *bit = Scalar::from(u64::from(rng.next_u32() & 1));
        }
    }
    let (mut bits, mut full): (Vec<u32>, Vec<u32>) =
        ((1..=SEEDS as u32).collect(), (SEEDS as u32 + 1..=2 * SEEDS as u32).collect());
    let mut builder = MatricesBuilder::default();
    let one = builder.code(&Scalar::ONE).ok_or_else(|| Failure::internal("1 has no code"))?;
    for _ in 0..constraints {
        let pool = if data::is_bit(&mut rng) { &mut bits } else { &mut full };
        let mut pick = || pool.get(rng.next_u64() as usize % pool.len()).copied().unwrap_or(1);
        let (a, b, new) = (pick(), pick(), z.len() as u32);
        let value = |v: u32| z.get(v as usize).copied().unwrap_or_default();
        z.push(value(a) * value(b));
        pool.push(new);
        for (matrix, col) in [a, b, new].into_iter().enumerate() {
            builder
                .push_coded_row(matrix, &mut [Entry { col, code: one }])
                .map_err(|e| Failure::usage(e.to_string()))?;
        }
    }
    let aux = z.len() - INPUTS;
    let matrices = builder.finish(INPUTS, aux, true).map_err(|e| Failure::usage(e.to_string()))?;
    Ok((matrices, z))
}

/// What the seeds are drawn from: products of uniform numbers look uniform.
fn seeds_of(scalars: ScalarsArg) -> ScalarsArg {
    match scalars {
        ScalarsArg::Porep => ScalarsArg::Random,
        // Products of one number with itself would be its powers: they are full-size too.
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_circuit_holds_and_fills_its_domain() {
        for log_n in [2, 3, 7, 10] {
            for scalars in
                [ScalarsArg::Random, ScalarsArg::Zero, ScalarsArg::One, ScalarsArg::Equal, ScalarsArg::Porep]
            {
                let (matrices, z) = circuit(log_n, scalars).unwrap();
                assert_eq!((matrices.log_domain(), matrices.rows()), (log_n, 1 << log_n));
                assert_eq!(matrices.variables(), z.len());
                assert!(
                    cuzk_core::circuit::check(&matrices, &z, &Control::default()).unwrap().is_none(),
                    "{log_n} {scalars:?}"
                );
            }
        }
        assert!(circuit(1, ScalarsArg::Random).is_err());
    }
}
