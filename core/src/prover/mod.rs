//! The Groth16 prover, written once, generic over the backend. [`prove_on`] is the whole recipe.
//!
//! With z the witness, n the domain and r, s random:
//!
//! ```text
//! a = A z, b = B z                      on the domain
//! h = scalars of H from a, b            (h = (ab - c)/Z for bellman's keys, P = ab - c on the odd coset for snarkjs's)
//! A = alpha + sum z_i A_i + r delta     in G1
//! B = beta  + sum z_i B_i + s delta     in G2, and its twin B1 in G1
//! C = sum_aux z_i L_i + sum h_i H_i + s A + r B1 - r s delta
//! ```
//!
//! No proof leaves unverified: a wrong witness, a wrong root of unity or a broken device ends in [`ProveError::NotVerified`].

mod assemble;
mod error;
mod explain;
mod lane;
mod load;
mod pipeline;
mod plan;
mod registry;
mod run;

pub use assemble::Blinding;
pub use error::ProveError;
pub use lane::{DeviceProver, KeyId, Lane, PendingProof};
pub use load::load_key;
pub use plan::{Item, KeyShape, Placement, Plan, PlanError, PlanRequest};
pub use registry::{Choice, Registry};

use std::time::{Duration, Instant};

use crate::Proof;
use crate::backend::cpu::CpuBackend;
use crate::backend::{
    Backend, Buffer, Device, DeviceKey, Msm, OpenOptions, Pending, Quotient, ScalarForm, Stream, WitnessMsms,
};
use crate::circuit::Matrices;
use crate::curve::{G1Projective, Scalar};
use crate::key::{ProvingKey, VerifyingKey, check_key, fit_circuit};
use crate::progress::{Control, Stage};
use crate::verify::verify;
use crate::witness::Witness;
use run::Run;

/// One circuit instance to be proved.
#[derive(Clone, Debug)]
pub struct Partition {
    /// z. A packed one travels as it is; the memory plan reserves a quarter of the dense form for it.
    pub witness: Witness,
    /// What the proof must verify against, without the constant 1; `None` takes them from z, where nothing else states them.
    pub public_inputs: Option<Vec<Scalar>>,
    /// r and s.
    pub blinding: Blinding,
    /// When the proof is of no use any more.
    pub deadline: Option<Instant>,
}

impl Partition {
    /// With random blinding, public inputs from the witness and no deadline.
    pub fn new(witness: Witness) -> Self {
        Self { witness, public_inputs: None, blinding: Blinding::Random, deadline: None }
    }
}

/// A verified proof.
#[derive(Clone, Debug)]
pub struct ProofOutput {
    /// The proof.
    pub proof: Proof,
    /// What it was verified against, without the constant 1.
    pub public_inputs: Vec<Scalar>,
    /// Time of each stage: of the device where it has a clock, of the host otherwise.
    pub timings: Vec<(Stage, Duration)>,
}

/// Proves on the CPU, everything included: the call of a library user with one proof to make. The points of the key are checked each time,
/// which can take longer than the proof; with many proofs to make, use [`check_key`] once, then [`load_key`] and [`prove_on`].
///
/// # Errors
/// [`ProveError::Misfit`] if key, circuit and witness do not belong together, [`ProveError::BadKey`] if a point of the key is not
/// what it must be, [`ProveError::NotVerified`] if the witness does not satisfy the circuit.
pub fn prove(key: &ProvingKey, matrices: &Matrices, witness: Witness) -> Result<ProofOutput, ProveError> {
    let backend = CpuBackend::open(&OpenOptions::default())?;
    let control = Control::default();
    fit_circuit(key, matrices)?;
    check_key(key, &control)?;
    let shape = KeyShape::new(key, matrices);
    let plan = Plan::new(&backend, &shape, PlanRequest::default())?;
    let device_key = load_key(&backend, key, matrices, &plan, &control)?;
    prove_on(&backend, &device_key, &key.vk, &Partition::new(witness), &control)
}

/// One proof on one device, step after step, verified.
///
/// The key must come from somebody trusted or have passed [`check_key`]: see [`load_key`].
pub fn prove_on<B: Backend>(
    backend: &B,
    key: &DeviceKey<B::Device>,
    vk: &VerifyingKey,
    partition: &Partition,
    control: &Control,
) -> Result<ProofOutput, ProveError> {
    let mut run = Run::new(control.clone(), partition.deadline);
    let stream = backend.device().stream("prove")?;
    let z = upload(backend, &stream, key, &partition.witness, &mut run)?;
    let sums = compute(backend, &stream, key, &z, &mut run)?;
    drop(z);
    finish(backend, key, vk, partition, sums, run, || Some(()))
}

/// The sums of a proof, on their way.
struct Sums {
    witness: WitnessMsms,
    h: Pending<G1Projective>,
}

/// z on the device, dense.
fn upload<B: Backend>(
    backend: &B,
    stream: &Stream<B>,
    key: &DeviceKey<B::Device>,
    witness: &Witness,
    run: &mut Run<B::Device>,
) -> Result<Buffer<B, Scalar>, ProveError> {
    load::check_witness(witness, key.variables)?;
    run.on_device(backend.device(), stream, Stage::Upload, || load::witness(backend, stream, witness))
}

/// Everything that the device does for a proof.
fn compute<B: Backend>(
    backend: &B,
    stream: &Stream<B>,
    key: &DeviceKey<B::Device>,
    z: &Buffer<B, Scalar>,
    run: &mut Run<B::Device>,
) -> Result<Sums, ProveError> {
    let device = backend.device();
    let h = quotient(backend, stream, key, z, &key.quotient, run)?;
    let witness =
        run.on_device(device, stream, Stage::WitnessMsms, || backend.witness_msms(stream, z, key))?;
    let h = run.on_device(device, stream, Stage::HMsm, || h_msm(backend, stream, key, &h))?;
    Ok(Sums { witness, h })
}

/// a = A z and b = B z on the domain, and from them the scalars of H.
fn quotient<B: Backend>(
    backend: &B,
    stream: &Stream<B>,
    key: &DeviceKey<B::Device>,
    z: &Buffer<B, Scalar>,
    op: &Quotient,
    run: &mut Run<B::Device>,
) -> Result<Buffer<B, Scalar>, ProveError> {
    let device = backend.device();
    let n = 1usize << op.log_n;
    let (a, b) = run.on_device(device, stream, Stage::Spmv, || {
        let mut a = device.alloc("a = A z", n)?;
        let mut b = device.alloc("b = B z", n)?;
        backend.spmv(stream, &key.a_matrix, z, &mut a)?;
        backend.spmv(stream, &key.b_matrix, z, &mut b)?;
        Ok((a, b))
    })?;
    run.on_device(device, stream, Stage::Quotient, || backend.quotient(stream, a, b, op))
}

fn h_msm<B: Backend>(
    backend: &B,
    stream: &Stream<B>,
    key: &DeviceKey<B::Device>,
    h: &Buffer<B, Scalar>,
) -> crate::backend::Result<Pending<G1Projective>> {
    let form = ScalarForm::Montgomery;
    backend.msm(stream, Msm { bases: key.h.as_bases(), scalars: h, form, select: None, classes: None })
}

/// Waits for the sums, adds up the proof and verifies it. `alone` gives the device for looking into a failure, if nobody else is using it.
fn finish<B: Backend, A>(
    backend: &B,
    key: &DeviceKey<B::Device>,
    vk: &VerifyingKey,
    partition: &Partition,
    sums: Sums,
    mut run: Run<B::Device>,
    alone: impl FnOnce() -> Option<A>,
) -> Result<ProofOutput, ProveError> {
    let blinding = partition.blinding.draw()?;
    let (points, proof) = run.on_host(Stage::Finish, || {
        let points = assemble::wait(sums)?;
        let proof = assemble::assemble(vk, &points, &blinding);
        Ok((points, proof))
    })?;
    let public_inputs = public_inputs(vk, partition);
    if !run.on_host(Stage::Verify, || Ok(verify(vk, &public_inputs, &proof)?))? {
        let failed = explain::Failed { partition, public_inputs: &public_inputs, points, blinding };
        return Err(explain::explain(backend, key, vk, failed, run, alone));
    }
    Ok(ProofOutput { proof, public_inputs, timings: run.timings(backend.device()) })
}

/// What the request states, or else what the witness says.
fn public_inputs(vk: &VerifyingKey, partition: &Partition) -> Vec<Scalar> {
    let in_witness = || partition.witness.inputs(vk.ic.len()).into_iter().skip(1).collect();
    partition.public_inputs.clone().unwrap_or_else(in_witness)
}
