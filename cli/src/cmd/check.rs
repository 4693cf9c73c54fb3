//! `cuzk check`: a witness against every constraint of its circuit.

use std::path::Path;

use cuzk_core::circuit::{self, Matrices};
use cuzk_core::curve::Scalar;
use serde_json::json;

use super::files;
use crate::Context;
use crate::args::Check;
use crate::exit::{Exit, Failure, Result};
use crate::output::Report;
use crate::settings;

/// Names the first violated constraint.
pub fn run(context: &Context, args: &Check) -> Result<Report> {
    settings::set_threads(&args.compute)?;
    settings::files_within_host_limit(&args.compute, &[&args.circuit, &args.witness])?;
    let circuit = files::circuit(context, &args.circuit)?;
    let z = files::witness(context, &args.witness)?;
    let violated = first_violated(context, &args.circuit, &circuit.matrices, &args.witness, &z)?;
    let constraints = circuit.matrices.constraints;
    let (exit, human) = match violated {
        None => (Exit::Ok, format!("all {constraints} constraints hold\n")),
        Some(index) => {
            (Exit::Invalid, format!("constraint {index} does not hold (the first of {constraints})\n"))
        }
    };
    let fields = json!({ "satisfied": violated.is_none(), "constraints": constraints, "violated_constraint": violated });
    Ok(Report::new(exit, human, fields))
}

/// The first constraint that does not hold, counted from 0. A witness of another length is bad input.
pub(super) fn first_violated(
    context: &Context,
    circuit_path: &Path,
    matrices: &Matrices,
    witness_path: &Path,
    z: &[Scalar],
) -> Result<Option<usize>> {
    let found = circuit::check(matrices, z, &context.control).map_err(|e| {
        Failure::from(e).within(format!("{} for {}", witness_path.display(), circuit_path.display()))
    })?;
    Ok(found.map(|unsatisfied| unsatisfied.constraint))
}
