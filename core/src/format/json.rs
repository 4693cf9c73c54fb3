//! snarkjs's JSON: verification_key.json, proof.json and public.json.
//!
//! Numbers are decimal strings, canonical. G1 is `[x, y, "1"]`, G2 `[[x.c0, x.c1], [y.c0, y.c1], ["1", "0"]]`, the identity
//! `["0", "1", "0"]` and likewise in G2. Readers accept what snarkjs accepts beyond that: a missing protocol or curve, the curve's
//! other spelling, bare numbers, 0x-hexadecimal, points without the last coordinate. They refuse what it lets pass and should
//! not: coordinates not below p and public values not below r, which give one proof or statement several spellings.

use std::io::Write;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::json_points::{Context, fp12, point_json};
use super::point::Identity;
use super::{FormatError, Result, Source, numbers, put};
use crate::curve::{Element, G1, G1Affine, G2, Scalar};
use crate::key::VerifyingKey;
use crate::proof::Proof;

/// Largest proof.json.
const PROOF_LIMIT: usize = 1 << 20;
/// Largest verification_key.json and public.json: enough for 400,000 public values of full size, and bounds what parsing may allocate.
pub(super) const LIMIT: usize = 32 << 20;
/// Most public values: one takes 32 bytes in memory and as few as two in the file. These are 16 MiB.
const MAX_PUBLIC: usize = 1 << 19;

#[derive(Deserialize)]
struct RawProof<'a> {
    #[serde(borrow)]
    pi_a: &'a RawValue,
    #[serde(borrow)]
    pi_b: &'a RawValue,
    #[serde(borrow)]
    pi_c: &'a RawValue,
    #[serde(borrow, default)]
    protocol: Option<&'a RawValue>,
    #[serde(borrow, default)]
    curve: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawVk<'a> {
    #[serde(borrow, default)]
    protocol: Option<&'a RawValue>,
    #[serde(borrow, default)]
    curve: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "nPublic")]
    public: Option<&'a RawValue>,
    #[serde(borrow)]
    vk_alpha_1: &'a RawValue,
    #[serde(borrow)]
    vk_beta_2: &'a RawValue,
    #[serde(borrow)]
    vk_gamma_2: &'a RawValue,
    #[serde(borrow)]
    vk_delta_2: &'a RawValue,
    #[serde(borrow, rename = "IC")]
    ic: &'a RawValue,
}

/// Reads proof.json. The identity is a value of this format; the pairing check decides what it is worth.
///
/// # Errors
/// Not JSON, another protocol or curve, a coordinate not below p, a point off the curve or outside the subgroup.
pub fn read_proof(source: &Source) -> Result<Proof> {
    let cx = Context { file: source.name() };
    let raw: RawProof<'_> = cx.parse(cx.text(source, PROOF_LIMIT)?, "proof")?;
    cx.expect_protocol(raw.protocol, raw.curve)?;
    Ok(Proof {
        a: cx.point::<G1>(raw.pi_a, "pi_a", Identity::Allowed)?,
        b: cx.point::<G2>(raw.pi_b, "pi_b", Identity::Allowed)?,
        c: cx.point::<G1>(raw.pi_c, "pi_c", Identity::Allowed)?,
    })
}

/// Reads verification_key.json. beta and delta in G1 are not in it and become the identity. `vk_alphabeta_12` is not read.
///
/// # Errors
/// As [`read_proof`]; the identity anywhere; a number of IC points that does not match nPublic.
pub fn read_vk(source: &Source) -> Result<VerifyingKey> {
    let cx = Context { file: source.name() };
    let raw: RawVk<'_> = cx.parse(cx.text(source, LIMIT)?, "verification key")?;
    cx.expect_protocol(raw.protocol, raw.curve)?;
    let refused = Identity::Refused;
    // A point takes more bytes there than here, and the first bad one ends it.
    let ic =
        cx.list(raw.ic.get(), "IC", usize::MAX, |i, p| cx.point::<G1>(p, &format!("IC[{i}]"), refused))?;
    if ic.is_empty() {
        return Err(cx.error("IC", "at least one point", "none"));
    }
    if let Some(public) = raw.public
        && numbers::integer(public) != Some((ic.len() - 1).into())
    {
        let expected = format!("{}, one less than IC has points", ic.len() - 1);
        return Err(cx.error("nPublic", expected, numbers::shown(public)));
    }
    Ok(VerifyingKey {
        alpha_g1: cx.point::<G1>(raw.vk_alpha_1, "vk_alpha_1", refused)?,
        beta_g1: G1Affine::zeroed(),
        beta_g2: cx.point::<G2>(raw.vk_beta_2, "vk_beta_2", refused)?,
        gamma_g2: cx.point::<G2>(raw.vk_gamma_2, "vk_gamma_2", refused)?,
        delta_g1: G1Affine::zeroed(),
        delta_g2: cx.point::<G2>(raw.vk_delta_2, "vk_delta_2", refused)?,
        ic,
    })
}

/// Reads public.json: the public values without the constant 1. `null`, as an old prover writes for none, is none.
///
/// # Errors
/// Not a JSON array of integers; a value not below r.
pub fn read_public(source: &Source) -> Result<Vec<Scalar>> {
    let cx = Context { file: source.name() };
    let text = cx.text(source, LIMIT)?;
    if text.trim_ascii() == "null" {
        return Ok(Vec::new());
    }
    cx.list(text, "public values", MAX_PUBLIC, |i, raw| cx.scalar(raw, &format!("public value {i}")))
}

/// Writes proof.json as snarkjs does.
///
/// # Errors
/// What the writer refuses.
pub fn write_proof(out: &mut impl Write, proof: &Proof) -> Result<()> {
    write_json(
        out,
        &ProofJson {
            pi_a: point_json::<G1>(&proof.a),
            pi_b: point_json::<G2>(&proof.b),
            pi_c: point_json::<G1>(&proof.c),
            protocol: PROTOCOL,
            curve: CURVE,
        },
    )
}

/// Writes verification_key.json as snarkjs does, the pairing of alpha and beta included.
///
/// # Errors
/// What the writer refuses.
pub fn write_vk(out: &mut impl Write, vk: &VerifyingKey) -> Result<()> {
    write_json(
        out,
        &VkJson {
            protocol: PROTOCOL,
            curve: CURVE,
            public: vk.ic.len().saturating_sub(1),
            vk_alpha_1: point_json::<G1>(&vk.alpha_g1),
            vk_beta_2: point_json::<G2>(&vk.beta_g2),
            vk_gamma_2: point_json::<G2>(&vk.gamma_g2),
            vk_delta_2: point_json::<G2>(&vk.delta_g2),
            vk_alphabeta_12: fp12(&vk.alpha_g1, &vk.beta_g2),
            ic: vk.ic.iter().map(point_json::<G1>).collect(),
        },
    )
}

/// Writes public.json: the values without the constant 1.
///
/// # Errors
/// What the writer refuses.
pub fn write_public(out: &mut impl Write, public: &[Scalar]) -> Result<()> {
    let values: Vec<String> = public.iter().map(|v| numbers::decimal(&v.to_bytes_be())).collect();
    write_json(out, &values)
}

const PROTOCOL: &str = "groth16";
const CURVE: &str = "bls12381";

#[derive(serde::Serialize)]
struct ProofJson {
    pi_a: serde_json::Value,
    pi_b: serde_json::Value,
    pi_c: serde_json::Value,
    protocol: &'static str,
    curve: &'static str,
}

#[derive(serde::Serialize)]
struct VkJson {
    protocol: &'static str,
    curve: &'static str,
    #[serde(rename = "nPublic")]
    public: usize,
    vk_alpha_1: serde_json::Value,
    vk_beta_2: serde_json::Value,
    vk_gamma_2: serde_json::Value,
    vk_delta_2: serde_json::Value,
    vk_alphabeta_12: serde_json::Value,
    #[serde(rename = "IC")]
    ic: Vec<serde_json::Value>,
}

/// One space of indentation and no newline at the end, as JavaScript's `JSON.stringify(x, null, 1)`.
fn write_json(out: &mut impl Write, value: &impl serde::Serialize) -> Result<()> {
    let mut text = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b" ");
    value
        .serialize(&mut serde_json::Serializer::with_formatter(&mut text, formatter))
        .map_err(|e| FormatError::io("output", e.into()))?;
    put(out, &text)
}
