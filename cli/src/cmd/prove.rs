//! `cuzk prove`: reads, checks, proves, verifies and only then writes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cuzk_core::Proof;
use cuzk_core::backend::DeviceInfo;
use cuzk_core::circuit::Matrices;
use cuzk_core::curve::{Root, Scalar};
use cuzk_core::format::{Source, gnark, json as snarkjs, params, proof, zkey};
use cuzk_core::key::{self, CheckedCache, ProvingKey};
use cuzk_core::prover::{Blinding, Choice, DeviceProver, KeyShape, Partition, PlanRequest, ProofOutput};
use cuzk_core::witness::Witness;
use ff::PrimeField;
use num_bigint::BigUint;
use serde_json::{Map, Value, json};

use super::{check, files};
use crate::Context;
use crate::args::{ProofFormatArg, Prove, ProveCircom, ProveKind, ProveOptions, ProveR1cs};
use crate::atomic::{self, Outputs};
use crate::backends;
use crate::exit::{Exit, Failure, Result};
use crate::output::Report;
use crate::settings::{self, BackendSettings};

/// Everything a proof needs, read and checked against each other.
pub struct Job {
    /// The key.
    pub key: Arc<ProvingKey>,
    /// Its circuit.
    pub matrices: Arc<Matrices>,
    /// z.
    pub witness: Witness,
    /// r and s.
    pub blinding: Blinding,
    /// Where the proof goes, and where the public inputs go, if anywhere.
    pub files: Files,
    /// Bytes of the files read, about as many as they take in host memory.
    pub held: u64,
}

/// The output files of a proof.
#[derive(Debug)]
pub struct Files {
    /// The proof.
    pub proof: PathBuf,
    /// Its form.
    pub format: ProofFormatArg,
    /// Public inputs.
    pub public: Option<PathBuf>,
    /// Both, checked before the work.
    pub outputs: Outputs,
}

/// Proves with the backend that the arguments name.
pub fn run(context: &Context, args: &Prove) -> Result<Report> {
    let options = match &args.kind {
        ProveKind::Circom(a) => &a.options,
        ProveKind::R1cs(a) => &a.options,
    };
    settings::set_threads(&options.compute)?;
    if options.insecure_fixed_rs.is_some() {
        context.output.warn("--insecure-fixed-rs: the proof does not hide the witness, it is for tests");
    }
    let began = Instant::now();
    let job = match &args.kind {
        ProveKind::Circom(a) => circom(context, a)?,
        ProveKind::R1cs(a) => r1cs(context, a)?,
    };
    let backend = BackendSettings::new(&options.backend, &options.compute);
    if backend.several {
        context.output.note("one proof uses one device: the first one named");
    }
    let choice = backends::choose(&context.registry, &backend.name, job.key.quotient.log_n)?;
    files::note_choice(context, &backend.name, &choice);
    let open = backend.open(&choice, job.held);
    backends::announce(context, &choice.backend, &open);
    let prover = context.registry.open(&choice.backend, &open)?;
    match run_with(context, &*prover, job) {
        Ok(done) => Ok(report(context, &choice, &done, began.elapsed())),
        Err(failure) => Err(explain(failure, &args.kind)),
    }
}

/// Where only the finished proof tells that a witness is wrong, says what would tell more.
fn explain(failure: Failure, kind: &ProveKind) -> Failure {
    match kind {
        ProveKind::Circom(a) if failure.exit == Exit::Invalid && a.r1cs.is_none() => {
            let hint = "--r1cs CIRCUIT.r1cs names the violated constraint";
            Failure::invalid(format!(
                "{} with {}: {}; {hint}",
                a.witness.display(),
                a.key.display(),
                failure.message
            ))
        }
        ProveKind::Circom(a) => failure.about(&a.key),
        ProveKind::R1cs(a) => failure.about(&a.key),
    }
}

/// A proof that is written.
pub struct Done {
    output: ProofOutput,
    files: Vec<PathBuf>,
    device: DeviceInfo,
    plan: String,
    log_domain: u32,
    constraints: usize,
}

/// Proves on an open device and writes the files, if the proof verifies.
///
/// # Errors
/// Whatever went wrong; no output file has then been touched.
pub fn run_with(context: &Context, prover: &dyn DeviceProver, job: Job) -> Result<Done> {
    let Job { key, matrices, witness, blinding, files, held: _ } = job;
    let (log_domain, constraints) = (key.quotient.log_n, matrices.constraints);
    let plan = prover
        .plan(&KeyShape::new(&key, &matrices), PlanRequest::default())
        .map_err(|e| Failure::from(e).within(&key.source))?;
    let described = plan.describe();
    context.output.note(format!("plan: {described}"));
    let loaded = prover.load_key(key, matrices, Some(plan), &context.control)?;
    let partition = Partition { blinding, ..Partition::new(witness.smaller()) };
    let output = prover.submit(loaded, partition, context.control.clone())?.wait()?;
    context.go_on()?;
    let written = files.write(&output.proof, &output.public_inputs)?;
    Ok(Done { output, files: written, device: prover.info(), plan: described, log_domain, constraints })
}

impl Files {
    /// Checked: see [`Outputs::prepare`].
    pub fn prepare(
        proof: &Path,
        format: ProofFormatArg,
        public: Option<&Path>,
        inputs: &[&Path],
    ) -> Result<Self> {
        let outputs: Vec<&Path> = std::iter::once(proof).chain(public).collect();
        let outputs = Outputs::prepare(&outputs, inputs)?;
        Ok(Self { proof: proof.to_owned(), format, public: public.map(Path::to_owned), outputs })
    }

    fn write(self, proof: &Proof, public_inputs: &[Scalar]) -> Result<Vec<PathBuf>> {
        let mut contents = vec![atomic::bytes(self.encode(proof)?)];
        let mut written = vec![self.proof];
        if let Some(public) = self.public {
            contents.push(Box::new(move |mut out| snarkjs::write_public(&mut out, public_inputs)));
            written.push(public);
        }
        self.outputs.commit(contents)?;
        Ok(written)
    }

    fn encode(&self, proof: &Proof) -> Result<Vec<u8>> {
        let encoded = match self.format {
            ProofFormatArg::Raw => proof::to_bytes(proof).map(|bytes| bytes.to_vec()),
            ProofFormatArg::Gnark => gnark::to_bytes(proof).map(|bytes| bytes.to_vec()),
            ProofFormatArg::Snarkjs => {
                let mut text = Vec::new();
                snarkjs::write_proof(&mut text, proof).map(|()| text)
            }
        };
        encoded.map_err(|e| Failure::from(e).within(self.proof.display()))
    }
}

/// Reads what `prove circom` names.
pub fn circom(context: &Context, args: &ProveCircom) -> Result<Job> {
    let inputs: Vec<&Path> =
        [&args.key, &args.witness].into_iter().chain(&args.r1cs).map(PathBuf::as_path).collect();
    let files = Files::prepare(&args.proof, ProofFormatArg::Snarkjs, Some(&args.public), &inputs)?;
    // The key is mapped; its circuit is not.
    let held = settings::files_within_host_limit(&args.options.compute, &inputs)?;
    let z = files::witness(context, &args.witness)?;
    let source = open(&args.key)?;
    let zkey = zkey::read(&source)?;
    fit_witness(&args.witness, &args.key, &zkey.matrices, z.len())?;
    if let Some(path) = &args.r1cs {
        let circuit = files::circuit(context, path)?;
        key::fit_circuit(&zkey.key, &circuit.matrices)
            .map_err(|e| Failure::usage(e.to_string()).within(path.display()))?;
        satisfied(context, path, &circuit.matrices, &args.witness, &z)?;
    }
    let root = args.options.root.map(Root::from);
    let key = files::prepare_key(context, zkey.key, root);
    check_points(context, &args.options, &source, &key)?;
    let blinding = settings::blinding(args.options.insecure_fixed_rs.as_deref());
    Ok(Job { key, matrices: Arc::new(zkey.matrices), witness: Witness::dense(z), blinding, files, held })
}

/// Reads what `prove r1cs` names, and checks the witness against the circuit while it is there.
pub fn r1cs(context: &Context, args: &ProveR1cs) -> Result<Job> {
    let inputs = [args.key.as_path(), &args.circuit, &args.witness];
    let files = Files::prepare(&args.out, args.format, args.public.as_deref(), &inputs)?;
    let held = settings::files_within_host_limit(&args.options.compute, &[&args.circuit, &args.witness])?;
    let z = files::witness(context, &args.witness)?;
    let circuit = files::circuit(context, &args.circuit)?;
    let source = open(&args.key)?;
    let key = params::read(&source, args.options.root.map(Root::from))?;
    fit_witness(&args.witness, &args.circuit, &circuit.matrices, z.len())?;
    key::fit_circuit(&key, &circuit.matrices)
        .map_err(|e| Failure::usage(e.to_string()).within(args.circuit.display()))?;
    satisfied(context, &args.circuit, &circuit.matrices, &args.witness, &z)?;
    let key = files::prepare_key(context, key, None);
    check_points(context, &args.options, &source, &key)?;
    let blinding = settings::blinding(args.options.insecure_fixed_rs.as_deref());
    Ok(Job { key, matrices: Arc::new(circuit.matrices), witness: Witness::dense(z), blinding, files, held })
}

fn open(path: &Path) -> Result<Source> {
    Ok(Source::open(path)?)
}

fn fit_witness(witness: &Path, circuit: &Path, matrices: &Matrices, len: usize) -> Result<()> {
    key::fit_witness(matrices, len)
        .map_err(|misfit| Failure::usage(format!("{}: {misfit} of {}", witness.display(), circuit.display())))
}

/// Exit code 1 and the constraint, for a witness that does not satisfy the circuit.
fn satisfied(
    context: &Context,
    circuit: &Path,
    matrices: &Matrices,
    witness: &Path,
    z: &[Scalar],
) -> Result<()> {
    match check::first_violated(context, circuit, matrices, witness, z)? {
        None => Ok(()),
        Some(index) => Err(Failure::invalid(format!(
            "{}: the witness does not satisfy constraint {index} of {}",
            witness.display(),
            circuit.display()
        ))),
    }
}

/// Every point of the key, on first sight; the outcome is remembered.
fn check_points(context: &Context, options: &ProveOptions, source: &Source, key: &ProvingKey) -> Result<()> {
    let cache = CheckedCache::new(settings::cache_dir(&options.cache));
    let identity = source.identity();
    if identity.is_some_and(|identity| cache.is_checked(identity)) {
        return Ok(());
    }
    key::check_key(key, &context.control)?;
    if let Some(identity) = identity
        && let Err(error) = cache.remember(identity)
    {
        // Worth a remark: the check will be made again next time. Not worth failing a proof.
        context.output.note(format!("cannot remember that {} was checked: {error}", key.source));
    }
    Ok(())
}

fn report(context: &Context, choice: &Choice, done: &Done, took: Duration) -> Report {
    // The prover's own times where it has them (a device's clock), the observer's for the stages around it.
    let mut timings: Map<String, Value> = Map::new();
    for (stage, time) in context.bars.timings().into_iter().chain(done.output.timings.iter().copied()) {
        timings.insert(stage.name().to_owned(), json!(time.as_secs_f64()));
    }
    let names: Vec<String> = done.files.iter().map(|path| path.display().to_string()).collect();
    let human = format!(
        "{}: proof of {} constraints, verified; {:.3} s on {} ({})\n",
        names.join(", "),
        done.constraints,
        took.as_secs_f64(),
        choice.backend,
        done.device.name,
    );
    let fields = json!({
        "files": names,
        "verified": true,
        "constraints": done.constraints,
        "log_domain": done.log_domain,
        "public_inputs": done.output.public_inputs.iter().map(decimal).collect::<Vec<_>>(),
        "backend": { "name": choice.backend, "reason": choice.reason },
        "device": done.device,
        "plan": done.plan,
        "threads": rayon::current_num_threads(),
        "seconds": took.as_secs_f64(),
        "timings": timings,
    });
    Report::new(Exit::Ok, human, fields)
}

/// As public.json has it.
fn decimal(value: &Scalar) -> String {
    BigUint::from_bytes_le(&value.to_repr()).to_string()
}
