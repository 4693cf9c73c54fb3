//! What a file is, told by its content, and what there is to say about it.

use serde::Serialize;
use serde::de::IgnoredAny;

use super::proof::ProofFormat;
use super::r1cs::R1csHeader;
use super::{FormatError, Result, Source, digest, gnark, json, params, proof, r1cs, vk, wtns, zkey};
use crate::backend::Quotient;
use crate::circuit::Matrices;
use crate::curve::Scalar;
use crate::key::ProvingKey;
use crate::progress::Control;

/// The formats that are read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// circom's circuit.
    R1cs,
    /// circom's witness.
    Wtns,
    /// snarkjs's key.
    Zkey,
    /// bellman's key.
    Params,
    /// bellman's verifying key.
    Vk,
    /// snarkjs's verification_key.json.
    VerificationKeyJson,
    /// snarkjs's public.json.
    PublicJson,
    /// A proof, in one of three forms.
    Proof,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Kind::R1cs => "r1cs",
            Kind::Wtns => "wtns",
            Kind::Zkey => "zkey",
            Kind::Params => "params",
            Kind::Vk => "vk",
            Kind::VerificationKeyJson => "verification_key.json",
            Kind::PublicJson => "public.json",
            Kind::Proof => "proof",
        })
    }
}

/// Tells a format by its content. A file that is none of the others is taken for `.params`, which has no mark of its own.
///
/// # Errors
/// An empty file, and JSON or a container of another kind.
pub fn kind(source: &Source) -> Result<Kind> {
    let bytes = source.bytes();
    let unknown = |found: String| {
        let expected = "r1cs, wtns, zkey, params, vk, verification_key.json, public.json or a proof";
        Err(FormatError::content(source.name(), "content", None, expected, found))
    };
    match bytes.first_chunk::<4>() {
        Some(r1cs::MAGIC) => return Ok(Kind::R1cs),
        Some(wtns::MAGIC) => return Ok(Kind::Wtns),
        Some(zkey::MAGIC) => return Ok(Kind::Zkey),
        Some(b"ptau") => return unknown("powers of tau (ptau)".into()),
        _ if bytes.is_empty() => return unknown("an empty file".into()),
        _ => {}
    }
    if let Some(first) = json_start(bytes) {
        return match first {
            b'[' | b'n' => Ok(Kind::PublicJson),
            _ => match object(bytes) {
                Some(Object { pi_a: Some(_), .. }) => Ok(Kind::Proof),
                Some(Object { vk_alpha_1: Some(_), .. }) => Ok(Kind::VerificationKeyJson),
                _ => unknown("a JSON object with neither pi_a nor vk_alpha_1, or incomplete JSON".into()),
            },
        };
    }
    // A compressed point has the highest bit of its first byte set; an uncompressed one never.
    let compressed = bytes.first().is_some_and(|b| b & 0x80 != 0);
    match bytes.len() {
        proof::BYTES | gnark::BYTES if compressed => Ok(Kind::Proof),
        _ if compressed => unknown(format!("{} bytes that begin like a proof", bytes.len())),
        _ if vk::has_length_of_vk(bytes) => Ok(Kind::Vk),
        _ => Ok(Kind::Params),
    }
}

/// The first byte of JSON text, if the content looks like text at all: binary files may begin with a brace by chance.
pub(super) fn json_start(bytes: &[u8]) -> Option<u8> {
    let head = bytes.get(..bytes.len().min(64))?;
    let text = head.iter().all(|b| matches!(b, b' '..=b'~' | b'\t' | b'\n' | b'\r'));
    bytes
        .iter()
        .find(|b| !b.is_ascii_whitespace())
        .copied()
        .filter(|b| text && matches!(b, b'{' | b'[' | b'n'))
}

#[derive(serde::Deserialize)]
struct Object {
    pi_a: Option<IgnoredAny>,
    vk_alpha_1: Option<IgnoredAny>,
}

fn object(bytes: &[u8]) -> Option<Object> {
    (bytes.len() <= json::LIMIT).then(|| serde_json::from_slice(bytes).ok()).flatten()
}

/// What there is to say about a file.
#[derive(Clone, Debug, Serialize)]
pub struct Inspection {
    /// Its name as given.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
    /// Its format.
    pub format: Kind,
    /// Always BLS12-381: other curves are refused.
    pub curve: &'static str,
    /// What depends on the format.
    pub content: Content,
    /// What is not wrong, but should be known.
    pub warnings: Vec<Warning>,
}

/// What depends on the format.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
#[non_exhaustive]
pub enum Content {
    /// A circuit.
    Circuit {
        /// Counts of the header.
        header: R1csHeader,
        /// Its matrices.
        matrices: MatrixSummary,
        /// Uses of custom gates.
        custom_gates: usize,
    },
    /// A witness.
    Witness {
        /// Number of values, the constant 1 included.
        values: usize,
        /// How many of them are 0 or 1.
        bits: usize,
    },
    /// A proving key.
    Key {
        /// Domain, root of unity, form of H.
        quotient: Quotient,
        /// The constant 1 and the public values.
        inputs: usize,
        /// Auxiliary variables.
        aux: usize,
        /// Points of each query.
        points: QueryLengths,
        /// The matrices inside (`.zkey`).
        matrices: Option<MatrixSummary>,
    },
    /// A verifying key.
    VerifyingKey {
        /// Public values, without the constant 1.
        public: usize,
    },
    /// A proof.
    Proof {
        /// How it is written.
        form: ProofFormat,
    },
    /// Public values.
    Public {
        /// How many, without the constant 1.
        values: usize,
    },
}

/// Size and density of a circuit's matrices.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MatrixSummary {
    /// Constraints.
    pub constraints: usize,
    /// Entries of A, without the input rows.
    pub nnz_a: u64,
    /// Entries of B.
    pub nnz_b: u64,
    /// Entries of C, where the file has it.
    pub nnz_c: Option<u64>,
    /// Distinct coefficients.
    pub coefficients: usize,
    /// Variables that occur in A, input rows included.
    pub density_a: usize,
    /// Variables that occur in B.
    pub density_b: usize,
}

/// Number of points of each query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct QueryLengths {
    /// H.
    pub h: usize,
    /// L, which snarkjs calls C.
    pub l: usize,
    /// A.
    pub a: usize,
    /// B in G1.
    pub b1: usize,
    /// B in G2.
    pub b2: usize,
}

/// Something that is allowed, and that its user should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "warning")]
#[non_exhaustive]
pub enum Warning {
    /// Groth16 ignores custom gates: the circuit proves less than its source says.
    CustomGates {
        /// Uses.
        uses: usize,
    },
    /// delta is the generator: phase 2 of the setup had no contribution, and anyone can forge proofs.
    Forgeable,
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Warning::CustomGates { uses } => {
                write!(f, "{uses} custom gates, which Groth16 ignores: the circuit proves less than its source says")
            }
            Warning::Forgeable => {
                f.write_str("delta is the generator: nobody contributed to phase 2 of the setup, and anyone can forge proofs")
            }
        }
    }
}

/// Reads a file of any format and says what it is. Points of a key's queries are not checked.
///
/// # Errors
/// Those of the format, and [`FormatError::Cancelled`].
pub fn inspect(source: &Source, control: &Control) -> Result<Inspection> {
    let format = kind(source)?;
    let mut warnings = Vec::new();
    let content = match format {
        Kind::R1cs => {
            let circuit = r1cs::read(source)?;
            let custom_gates = circuit.custom_gates;
            if custom_gates > 0 {
                warnings.push(Warning::CustomGates { uses: custom_gates });
            }
            Content::Circuit { header: circuit.header, matrices: summary(&circuit.matrices), custom_gates }
        }
        Kind::Wtns => {
            let z = wtns::read(source)?;
            let is_bit =
                |v: &&Scalar| **v == <Scalar as ff::Field>::ZERO || **v == <Scalar as ff::Field>::ONE;
            Content::Witness { values: z.len(), bits: z.iter().filter(is_bit).count() }
        }
        Kind::Zkey => {
            let zkey::ZKey { key, matrices } = zkey::read(source)?;
            key_content(&key, Some(&matrices), &mut warnings)
        }
        Kind::Params => key_content(&params::read(source, None)?, None, &mut warnings),
        Kind::Vk | Kind::VerificationKeyJson => {
            let vk = vk::read_any(source)?;
            warnings.extend(vk.is_forgeable().then_some(Warning::Forgeable));
            Content::VerifyingKey { public: vk.ic.len().saturating_sub(1) }
        }
        Kind::PublicJson => Content::Public { values: json::read_public(source)?.len() },
        Kind::Proof => Content::Proof { form: proof::read_any(source)?.1 },
    };
    Ok(Inspection {
        file: source.name().into(),
        bytes: source.bytes().len() as u64,
        sha256: digest::sha256(source, control)?,
        format,
        curve: "bls12-381",
        content,
        warnings,
    })
}

fn key_content(key: &ProvingKey, matrices: Option<&Matrices>, warnings: &mut Vec<Warning>) -> Content {
    warnings.extend(key.is_forgeable().then_some(Warning::Forgeable));
    Content::Key {
        quotient: key.quotient,
        inputs: key.inputs,
        aux: key.aux,
        points: QueryLengths {
            h: key.h.len(),
            l: key.l.points.len(),
            a: key.a.points.len(),
            b1: key.b1.points.len(),
            b2: key.b2.points.len(),
        },
        matrices: matrices.map(summary),
    }
}

fn summary(m: &Matrices) -> MatrixSummary {
    let densities = m.densities();
    MatrixSummary {
        constraints: m.constraints,
        nnz_a: m.a.nnz().saturating_sub(m.inputs as u64),
        nnz_b: m.b.nnz(),
        nnz_c: m.c.as_ref().map(crate::circuit::Matrix::nnz),
        coefficients: m.dictionary.len(),
        density_a: densities.a.len(),
        density_b: densities.b.len(),
    }
}
