//! Commands about files: `setup`, `check`, `inspect`, `export`, `generate`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::Shell;

use super::common::ComputeArgs;

/// `setup`.
#[derive(Debug, Args)]
pub struct Setup {
    /// For what.
    #[command(subcommand)]
    pub kind: SetupKind,
}

/// Kinds of `setup`.
#[derive(Debug, Subcommand)]
pub enum SetupKind {
    /// For an .r1cs circuit. INSECURE for production: there is no ceremony, one process knows the secrets
    R1cs(SetupR1cs),
}

/// `setup r1cs`.
#[derive(Debug, Args)]
pub struct SetupR1cs {
    /// Circuit
    #[arg(value_name = "CIRCUIT.r1cs")]
    pub circuit: PathBuf,
    /// Where the key goes; the ending says the format: .params (bellman) or .zkey (snarkjs)
    #[arg(long, value_name = "KEY.params|KEY.zkey", env = "CUZK_OUT")]
    pub out: PathBuf,
    /// Derive the secrets from a text that anyone can know, so that the same key comes out again
    #[arg(long, value_name = "SEED", num_args = 0..=1, default_missing_value = "cuzk", env = "CUZK_TEST_SEED")]
    pub test_seed: Option<String>,
    /// With what.
    #[command(flatten)]
    pub compute: ComputeArgs,
}

/// `check`.
#[derive(Debug, Args)]
pub struct Check {
    /// Circuit
    #[arg(value_name = "CIRCUIT.r1cs")]
    pub circuit: PathBuf,
    /// Witness
    #[arg(value_name = "WITNESS.wtns")]
    pub witness: PathBuf,
    /// With what.
    #[command(flatten)]
    pub compute: ComputeArgs,
}

/// `inspect`.
#[derive(Debug, Args)]
pub struct Inspect {
    /// Files of any supported format, told apart by content
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

/// `export`.
#[derive(Debug, Args)]
pub struct Export {
    /// What.
    #[command(subcommand)]
    pub kind: ExportKind,
}

/// Kinds of `export`.
#[derive(Debug, Subcommand)]
pub enum ExportKind {
    /// The verifying key of a proving key
    Vk {
        /// .params or .zkey
        #[arg(value_name = "KEY")]
        key: PathBuf,
        /// Where it goes; the ending says the format: .vk (bellman) or .json (snarkjs)
        #[arg(long, value_name = "FILE", env = "CUZK_OUT")]
        out: PathBuf,
    },
}

/// `generate`.
#[derive(Debug, Args)]
pub struct Generate {
    /// What.
    #[command(subcommand)]
    pub kind: GenerateKind,
}

/// Kinds of `generate`; all of them print what the parser itself is made from.
#[derive(Debug, Subcommand)]
pub enum GenerateKind {
    /// Completions for a shell
    Completions {
        /// Which shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// The man page; with --dir, one page per command into a folder
    Man {
        /// Folder that gets cuzk.1, cuzk-prove.1 and so on
        #[arg(long, value_name = "FOLDER", env = "CUZK_DIR")]
        dir: Option<PathBuf>,
    },
    /// The reference in Markdown: docs/cli.md
    Reference,
}
