//! What the command line accepts: the single source of parsing, help, completions, man pages and docs/cli.md.
//!
//! Every flag has a `CUZK_…` twin in the environment, named like the flag; the one that makes proofs insecure has none, so that
//! it cannot be set by accident. A flag wins over its twin. A test walks the whole tree and checks this.

mod bench;
mod common;
mod files;
mod prove;

use clap::{Parser, Subcommand};

pub use bench::{
    BasesArg, Bench, BenchCommon, BenchKind, DirectionArg, GroupArg, OrderArg, ScalarsArg, WitnessArg,
};
pub use common::{
    BackendArgs, BackendName, CacheArgs, ComputeArgs, DevicesArg, Global, SINGLE_BACKENDS, Size,
};
pub use files::{Check, Export, ExportKind, Generate, GenerateKind, Inspect, Setup, SetupKind, SetupR1cs};
pub use prove::{
    FieldElement, ProofFormatArg, Prove, ProveCircom, ProveKind, ProveOptions, ProveR1cs, RootArg, Verify,
    VerifyCircom, VerifyKind, VerifyR1cs,
};

/// Groth16 proofs over BLS12-381 on CPU and GPU.
#[derive(Debug, Parser)]
#[command(
    name = "cuzk",
    version,
    propagate_version = true,
    subcommand_required = true,
    arg_required_else_help = true,
    after_long_help = crate::exit::TABLE
)]
pub struct Cli {
    /// Flags of every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a proof, verify it and write it
    Prove(Prove),
    /// Verify a proof; exit code 1 says that it is not valid
    Verify(Verify),
    /// Make a key for a circuit, for development: whoever runs it knows the toxic waste
    Setup(Setup),
    /// Check a witness against every constraint of a circuit; names the first violated one
    Check(Check),
    /// Say what files are: format, curve, sizes, counts, density, digest; of two files, whether they fit each other
    Inspect(Inspect),
    /// Write a part of a key to a file of its own
    Export(Export),
    /// List backends and devices
    Devices(CacheArgs),
    /// Measure one operation or a whole proof; results are checked once
    Bench(Bench),
    /// Print shell completions, the man page or the reference
    Generate(Generate),
}

impl Command {
    /// Where things are kept, for the commands that open backends.
    pub fn cache(&self) -> Option<&CacheArgs> {
        match self {
            Command::Prove(Prove { kind: ProveKind::Circom(args) }) => Some(&args.options.cache),
            Command::Prove(Prove { kind: ProveKind::R1cs(args) }) => Some(&args.options.cache),
            Command::Bench(bench) => Some(&bench.common().cache),
            Command::Devices(cache) => Some(cache),
            _ => None,
        }
    }

    /// The command as typed, for results: "prove circom".
    pub fn name(&self) -> &'static str {
        match self {
            Command::Prove(Prove { kind: ProveKind::Circom(_) }) => "prove circom",
            Command::Prove(Prove { kind: ProveKind::R1cs(_) }) => "prove r1cs",
            Command::Verify(Verify { kind: VerifyKind::Circom(_) }) => "verify circom",
            Command::Verify(Verify { kind: VerifyKind::R1cs(_) }) => "verify r1cs",
            Command::Setup(_) => "setup r1cs",
            Command::Check(_) => "check",
            Command::Inspect(_) => "inspect",
            Command::Export(_) => "export vk",
            Command::Devices(_) => "devices",
            Command::Bench(bench) => bench.name(),
            Command::Generate(_) => "generate",
        }
    }
}
