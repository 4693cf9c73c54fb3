//! `cuzk setup r1cs`.

use cuzk_core::backend::QuotientForm;
use cuzk_core::circuit::{Matrices, SetupError, SetupForm, ToxicWaste, setup};
use cuzk_core::curve::Root;
use cuzk_core::format::{params, zkey};
use serde_json::json;

use super::{export, files};
use crate::Context;
use crate::args::{Setup, SetupKind, SetupR1cs};
use crate::atomic::{Content, Outputs};
use crate::exit::{Exit, Failure, Result};
use crate::output::Report;
use crate::settings;

/// Makes a key for development.
pub fn run(context: &Context, args: &Setup) -> Result<Report> {
    let SetupKind::R1cs(args) = &args.kind;
    r1cs(context, args)
}

fn r1cs(context: &Context, args: &SetupR1cs) -> Result<Report> {
    settings::set_threads(&args.compute)?;
    // snarkjs and what reads its keys take the root from 5, bellman from 7.
    let (form, root) = match export::extension(&args.out).as_deref() {
        Some("params") => (SetupForm::Monomial, Root::Seven),
        Some("zkey") => (SetupForm::OddCoset, Root::Five),
        _ => {
            return Err(Failure::usage(format!(
                "{}: the name must end in .params or .zkey",
                args.out.display()
            )));
        }
    };
    let outputs = Outputs::prepare(&[&args.out], &[&args.circuit])?;
    settings::files_within_host_limit(&args.compute, &[&args.circuit])?;
    let toxic = toxic_waste(context, args)?;
    let circuit = files::circuit(context, &args.circuit)?;
    let points = key_bytes(&circuit.matrices);
    let size = std::fs::metadata(&args.circuit).map_or(0, |meta| meta.len());
    settings::within_host_limit(&args.compute, &[("circuit", size), ("points of the key", points)])?;
    let key = setup(&circuit.matrices, form, root, &toxic, &context.control)
        .map_err(|e| Failure::from(e).within(args.circuit.display()))?;
    context.go_on()?;
    let content: Content<'_> = match key.quotient.form {
        QuotientForm::Monomial => Box::new(|mut out| params::write(&mut out, &key)),
        QuotientForm::OddCoset => Box::new(|mut out| zkey::write(&mut out, &key, &circuit.matrices)),
    };
    outputs.commit(vec![content])?;
    let (out, log_n) = (args.out.display(), key.quotient.log_n);
    let human = format!("{out}: key of {} constraints, domain 2^{log_n}\n", circuit.matrices.constraints);
    let fields = json!({
        "file": args.out.display().to_string(),
        "form": key.quotient.form,
        "root": key.quotient.root,
        "log_domain": log_n,
        "constraints": circuit.matrices.constraints,
        "public_inputs": key.inputs - 1,
        "aux": key.aux,
    });
    Ok(Report::new(Exit::Ok, human, fields))
}

/// H has a point per element of the domain; L, A and B, in G1 and G2, at most one per variable each.
fn key_bytes(matrices: &Matrices) -> u64 {
    const G1: u64 = 96;
    const G2: u64 = 192;
    (1u64 << matrices.log_domain()) * G1 + matrices.variables() as u64 * (3 * G1 + G2)
}

fn toxic_waste(context: &Context, args: &SetupR1cs) -> Result<ToxicWaste> {
    match &args.test_seed {
        Some(seed) => {
            context.output.warn(
                "the secrets come from --test-seed: anyone can forge proofs with this key, it is for tests",
            );
            Ok(ToxicWaste::from_seed(seed.as_bytes()))
        }
        None => {
            context.output.warn(
                "this process knows the key's secrets (toxic waste) and could forge proofs: for development; \
                 keys for production come from a ceremony",
            );
            Ok(ToxicWaste::random().map_err(SetupError::from)?)
        }
    }
}
