//! `cuzk verify`.

use std::path::Path;

use cuzk_core::format::{json as snarkjs, proof, vk};
use cuzk_core::progress::Stage;
use cuzk_core::verify::verify;
use serde_json::json;

use super::files;
use crate::Context;
use crate::args::{Verify, VerifyKind};
use crate::exit::{Exit, Failure, Result};
use crate::output::Report;

/// Valid or not; exit code 1 for not.
pub fn run(context: &Context, args: &Verify) -> Result<Report> {
    match &args.kind {
        VerifyKind::Circom(a) => judge(context, &a.key, &a.public, &a.proof),
        VerifyKind::R1cs(a) => judge(context, &a.key, &a.public, &a.proof),
    }
}

/// Keys and proofs of every format, told apart by content.
fn judge(context: &Context, key_path: &Path, public_path: &Path, proof_path: &Path) -> Result<Report> {
    let key = files::read(context, key_path, vk::read_any)?;
    files::warn_forgeable(context, &key_path.display().to_string(), key.is_forgeable());
    let public = files::read(context, public_path, snarkjs::read_public)?;
    let (proof, format) = files::read(context, proof_path, proof::read_any)?;
    let valid = context.control.stage(Stage::Verify, 0, || verify(&key, &public, &proof));
    let valid = valid.map_err(|e| Failure::usage(format!("{}: {e}", public_path.display())))?;
    let (exit, human) = match valid {
        true => (Exit::Ok, "valid\n"),
        false => {
            (Exit::Invalid, "INVALID: this key, these public inputs and this proof do not belong together\n")
        }
    };
    let fields = json!({ "valid": valid, "proof_format": format, "public_inputs": public.len() });
    Ok(Report::new(exit, human.to_owned(), fields))
}
