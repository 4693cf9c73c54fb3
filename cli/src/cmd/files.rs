//! Reading what several commands read.

use std::path::Path;
use std::sync::Arc;

use cuzk_core::curve::{Root, Scalar};
use cuzk_core::format::{Source, r1cs, wtns};
use cuzk_core::key::ProvingKey;
use cuzk_core::progress::Stage;
use cuzk_core::prover::Choice;

use crate::Context;
use crate::args::BackendName;
use crate::exit::Result;

/// A circuit, with a warning for what Groth16 does not prove of it.
pub(super) fn circuit(context: &Context, path: &Path) -> Result<r1cs::R1cs> {
    let circuit = read(context, path, r1cs::read)?;
    if circuit.custom_gates > 0 {
        let gates = circuit.custom_gates;
        let path = path.display();
        context.output.warn(format!(
            "{path}: {gates} uses of custom gates, which Groth16 ignores: they are not proved"
        ));
    }
    Ok(circuit)
}

/// A witness.
pub(super) fn witness(context: &Context, path: &Path) -> Result<Vec<Scalar>> {
    read(context, path, wtns::read)
}

/// Opens and reads under the stage of that name.
pub(super) fn read<T>(
    context: &Context,
    path: &Path,
    reader: impl FnOnce(&Source) -> cuzk_core::format::Result<T>,
) -> Result<T> {
    context.go_on()?;
    Ok(context.control.stage(Stage::Read, 0, || Source::open(path).and_then(|source| reader(&source)))?)
}

/// The key on the root of unity asked for, with a warning where anyone can forge.
pub(super) fn prepare_key(context: &Context, key: ProvingKey, root: Option<Root>) -> Arc<ProvingKey> {
    warn_forgeable(context, &key.source, key.is_forgeable());
    Arc::new(match root {
        Some(root) => key.with_root(root),
        None => key,
    })
}

/// Says what `auto` took, and why.
pub(super) fn note_choice(context: &Context, request: &BackendName, choice: &Choice) {
    if *request == BackendName::Auto {
        context.output.note(format!("backend {} ({})", choice.backend, choice.reason));
    }
}

/// delta is the generator: nobody contributed to phase 2.
pub(super) fn warn_forgeable(context: &Context, name: &str, forgeable: bool) {
    if forgeable {
        context.output.warn(format!(
            "{name}: delta is the generator, so anyone can forge proofs: contribute to the key"
        ));
    }
}
