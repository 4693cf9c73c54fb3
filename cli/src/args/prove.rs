//! `prove` and `verify`.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Args, Subcommand, ValueEnum};
use cuzk_core::curve::{Root, Scalar};
use ff::PrimeField;
use num_bigint::BigUint;

use super::common::{BackendArgs, CacheArgs, ComputeArgs};

/// `prove`.
#[derive(Debug, Args)]
pub struct Prove {
    /// Of what.
    #[command(subcommand)]
    pub kind: ProveKind,
}

/// Where circuit and key come from.
#[derive(Debug, Subcommand)]
pub enum ProveKind {
    /// From a snarkjs key and a witness; arguments as in `snarkjs groth16 prove`
    Circom(ProveCircom),
    /// From a bellman key, a circuit and a witness
    R1cs(ProveR1cs),
}

/// `prove circom`.
#[derive(Debug, Args)]
pub struct ProveCircom {
    /// Key and circuit, made by snarkjs or `cuzk setup`
    #[arg(value_name = "CIRCUIT.zkey")]
    pub key: PathBuf,
    /// Witness, made by circom's witness calculator
    #[arg(value_name = "WITNESS.wtns")]
    pub witness: PathBuf,
    /// Where the proof goes
    #[arg(value_name = "PROOF.json", default_value = "proof.json")]
    pub proof: PathBuf,
    /// Where the public inputs go
    #[arg(value_name = "PUBLIC.json", default_value = "public.json")]
    pub public: PathBuf,
    /// Check the witness against this circuit first and name the first violated constraint
    #[arg(long, value_name = "CIRCUIT.r1cs", env = "CUZK_R1CS")]
    pub r1cs: Option<PathBuf>,
    /// The rest.
    #[command(flatten)]
    pub options: ProveOptions,
}

/// `prove r1cs`.
#[derive(Debug, Args)]
pub struct ProveR1cs {
    /// Key in bellman's format
    #[arg(value_name = "KEY.params")]
    pub key: PathBuf,
    /// Circuit
    #[arg(value_name = "CIRCUIT.r1cs")]
    pub circuit: PathBuf,
    /// Witness
    #[arg(value_name = "WITNESS.wtns")]
    pub witness: PathBuf,
    /// Where the proof goes
    #[arg(long, value_name = "PROOF", env = "CUZK_OUT")]
    pub out: PathBuf,
    /// Where the public inputs go, if anywhere
    #[arg(long, value_name = "PUBLIC.json", env = "CUZK_PUBLIC")]
    pub public: Option<PathBuf>,
    /// How the proof is written: 192 bytes, snarkjs's JSON, or gnark's 244 bytes
    #[arg(long, value_enum, default_value = "raw", env = "CUZK_FORMAT")]
    pub format: ProofFormatArg,
    /// The rest.
    #[command(flatten)]
    pub options: ProveOptions,
}

/// What both kinds of `prove` take.
#[derive(Debug, Args)]
pub struct ProveOptions {
    /// Root of unity of the key [default: 5 for .zkey and what snarkjs exports, 7 for other .params]
    #[arg(long, value_enum, value_name = "5|7", env = "CUZK_ROOT")]
    pub root: Option<RootArg>,
    /// Use these blinding factors instead of random ones (decimal or 0x-hex, below r). INSECURE: for tests only
    // Values with a hyphen are taken too, for the parser to refuse: clap's own errors would quote them.
    #[arg(long, num_args = 2, value_names = ["R", "S"], action = clap::ArgAction::Set, allow_hyphen_values = true,
        value_parser = SecretParser)]
    pub insecure_fixed_rs: Option<Vec<FieldElement>>,
    /// Where it runs.
    #[command(flatten)]
    pub backend: BackendArgs,
    /// With what.
    #[command(flatten)]
    pub compute: ComputeArgs,
    /// What is remembered.
    #[command(flatten)]
    pub cache: CacheArgs,
}

/// Which non-residue the roots of unity come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RootArg {
    /// snarkjs
    #[value(name = "5")]
    Five,
    /// bellman, arkworks
    #[value(name = "7")]
    Seven,
}

impl From<RootArg> for Root {
    fn from(root: RootArg) -> Self {
        match root {
            RootArg::Five => Root::Five,
            RootArg::Seven => Root::Seven,
        }
    }
}

/// How a proof is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProofFormatArg {
    /// 192 bytes: A, B, C compressed
    Raw,
    /// proof.json
    Snarkjs,
    /// 244 bytes
    Gnark,
}

/// A blinding factor given on the command line. Its value is shown nowhere.
#[derive(Clone, PartialEq)]
pub struct FieldElement(pub Scalar);

impl std::fmt::Debug for FieldElement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FieldElement(..)")
    }
}

impl FromStr for FieldElement {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let (digits, radix) = match s.strip_prefix("0x").or_else(|| s.strip_prefix("0X")) {
            Some(hex) => (hex, 16),
            None => (s, 10),
        };
        let plain = !digits.is_empty() && digits.len() <= 100 && digits.chars().all(|c| c.is_digit(radix));
        let value = plain
            .then(|| BigUint::parse_bytes(digits.as_bytes(), radix))
            .flatten()
            .ok_or("expected a decimal or 0x-hex number")?;
        let mut repr = [0u8; 32];
        let bytes = value.to_bytes_le();
        let low = repr.get_mut(..bytes.len()).ok_or(NOT_BELOW_R)?;
        low.copy_from_slice(&bytes);
        Option::<Scalar>::from(Scalar::from_repr(repr)).map(Self).ok_or_else(|| NOT_BELOW_R.to_owned())
    }
}

/// Parses a [`FieldElement`] with errors that do not quote it: with a blinding factor a proof tells about the witness.
#[derive(Clone, Debug)]
pub(super) struct SecretParser;

impl TypedValueParser for SecretParser {
    type Value = FieldElement;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<FieldElement, clap::Error> {
        value.to_str().unwrap_or_default().parse().map_err(|reason| {
            let flag = arg.and_then(clap::Arg::get_long).unwrap_or("value");
            clap::Error::raw(ErrorKind::ValueValidation, format!("--{flag}: {reason}\n")).with_cmd(command)
        })
    }
}

const NOT_BELOW_R: &str = "the number must be below the group order r = \
    52435875175126190479447740508185965837690552500527637822603658699938581184513";

/// `verify`.
#[derive(Debug, Args)]
pub struct Verify {
    /// Of what.
    #[command(subcommand)]
    pub kind: VerifyKind,
}

/// Kinds of `verify`: both tell keys and proofs apart by content.
#[derive(Debug, Subcommand)]
pub enum VerifyKind {
    /// snarkjs files; arguments as in `snarkjs groth16 verify`
    Circom(VerifyCircom),
    /// A bellman key and a proof of any form
    R1cs(VerifyR1cs),
}

/// `verify circom`.
#[derive(Debug, Args)]
pub struct VerifyCircom {
    /// Verifying key
    #[arg(value_name = "VERIFICATION_KEY.json")]
    pub key: PathBuf,
    /// Public inputs
    #[arg(value_name = "PUBLIC.json")]
    pub public: PathBuf,
    /// Proof
    #[arg(value_name = "PROOF.json")]
    pub proof: PathBuf,
}

/// `verify r1cs`.
#[derive(Debug, Args)]
pub struct VerifyR1cs {
    /// Verifying key, or the key that holds it
    #[arg(value_name = "KEY.vk|KEY.params")]
    pub key: PathBuf,
    /// Public inputs
    #[arg(value_name = "PUBLIC.json")]
    pub public: PathBuf,
    /// Proof: 192 bytes, snarkjs's JSON or gnark's 244 bytes, told apart by content
    #[arg(value_name = "PROOF")]
    pub proof: PathBuf,
}

#[cfg(test)]
mod tests {
    use ff::Field;

    use super::*;

    #[test]
    fn blinding_factors() {
        let parse = |s: &str| s.parse::<FieldElement>().map(|f| f.0);
        assert_eq!(parse("0"), Ok(Scalar::ZERO));
        assert_eq!(parse("0x10"), Ok(Scalar::from(16)));
        assert_eq!(parse("0016"), Ok(Scalar::from(16)));
        let r = "52435875175126190479447740508185965837690552500527637822603658699938581184513";
        let r_minus_1 = "52435875175126190479447740508185965837690552500527637822603658699938581184512";
        assert_eq!(parse(r_minus_1), Ok(-Scalar::ONE));
        let huge = "9".repeat(100);
        for bad in ["", "-1", "0x", "1_0", "1.0", "+1", "0xg", r, &huge, "ten"] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
        assert_eq!(format!("{:?}", FieldElement(Scalar::from(77))), "FieldElement(..)");
    }
}
