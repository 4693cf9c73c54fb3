//! The 192-byte proof of bellman, Filecoin and arkworks: A (48), B (96), C (48), compressed in zcash's form.
//!
//! No point may be the identity, on writing or on reading: a proof that has one is the mark of a broken prover, and verifiers that
//! read this form refuse it.

use group::GroupEncoding;

use super::point::PointError;
use super::{FormatError, Result, Source, gnark, json};
use crate::curve::{Curve, Element, G1, G2};
use crate::proof::Proof;

/// Length of the compressed form.
pub const BYTES: usize = 192;

/// How a proof is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProofFormat {
    /// 192 bytes.
    Raw,
    /// snarkjs's proof.json.
    Snarkjs,
    /// gnark's 244 bytes.
    Gnark,
}

impl std::fmt::Display for ProofFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ProofFormat::Raw => "raw",
            ProofFormat::Snarkjs => "snarkjs",
            ProofFormat::Gnark => "gnark",
        })
    }
}

/// Reads a proof in any format, told apart by content: a brace begins JSON, and the others by their length.
///
/// # Errors
/// None of the formats, or those of the format it is in.
pub fn read_any(source: &Source) -> Result<(Proof, ProofFormat)> {
    let bytes = source.bytes();
    // The first byte of a compressed point has its highest bit set, so it is never text.
    if super::sniff::json_start(bytes).is_some() {
        return Ok((json::read_proof(source)?, ProofFormat::Snarkjs));
    }
    match bytes.len() {
        BYTES => Ok((decode(source.name(), bytes)?, ProofFormat::Raw)),
        gnark::BYTES => Ok((gnark::decode(source.name(), bytes)?, ProofFormat::Gnark)),
        other => {
            let expected = format!("{BYTES} bytes, {} bytes (gnark) or JSON", gnark::BYTES);
            Err(FormatError::content(source.name(), "length", None, expected, format!("{other} bytes")))
        }
    }
}

/// The 192 bytes.
///
/// # Errors
/// A point that is the identity.
pub fn to_bytes(proof: &Proof) -> Result<[u8; BYTES]> {
    let mut out = [0; BYTES];
    let (a, rest) = out.split_at_mut(48);
    let (b, c) = rest.split_at_mut(96);
    compress::<G1>(&proof.a, "A", a)?;
    compress::<G2>(&proof.b, "B", b)?;
    compress::<G1>(&proof.c, "C", c)?;
    Ok(out)
}

/// The proof in 192 bytes.
///
/// # Errors
/// Another length, flag bits that are not those of a compressed point, an x that no point has, a point outside the subgroup, the
/// identity.
pub fn from_bytes(bytes: &[u8]) -> Result<Proof> {
    decode("proof", bytes)
}

/// [`from_bytes`] with the file's name in messages.
pub(super) fn decode(file: &str, bytes: &[u8]) -> Result<Proof> {
    if bytes.len() != BYTES {
        return Err(FormatError::content(file, "length", None, format!("{BYTES} bytes"), bytes.len()));
    }
    let (a, rest) = bytes.split_at(48);
    let (b, c) = rest.split_at(96);
    let wrong = |place: &'static str, offset: u64| {
        move |e| FormatError::content(file, place, offset, "a compressed point, not the identity", e)
    };
    Ok(Proof {
        a: decompress::<G1>(a).map_err(wrong("A", 0))?,
        b: decompress::<G2>(b).map_err(wrong("B", 48))?,
        c: decompress::<G1>(c).map_err(wrong("C", 144))?,
    })
}

fn compress<C: Curve>(point: &C::Affine, place: &str, out: &mut [u8]) -> Result<()> {
    if *point == C::Affine::zeroed() {
        return Err(FormatError::content(
            "proof",
            place,
            None,
            "a point that is not the identity",
            PointError::Identity,
        ));
    }
    out.copy_from_slice(point.to_bytes().as_ref());
    Ok(())
}

const COMPRESSED: u8 = 0x80;
const INFINITY: u8 = 0x40;

fn decompress<C: Curve>(bytes: &[u8]) -> Result<C::Affine, PointError> {
    let mut repr = <C::Affine as GroupEncoding>::Repr::default();
    let expected = repr.as_ref().len();
    if bytes.len() != expected {
        return Err(PointError::Length { expected, found: bytes.len() });
    }
    repr.as_mut().copy_from_slice(bytes);
    let flags = bytes.first().map_or(0, |b| b & 0xe0);
    if flags & COMPRESSED == 0 {
        return Err(PointError::Flags { found: flags, reason: "the point is not compressed" });
    }
    if flags & INFINITY != 0 {
        return Err(PointError::Identity);
    }
    let point = Option::from(C::Affine::from_bytes_unchecked(&repr)).ok_or(PointError::NoSuchPoint)?;
    super::point::check::<C>(&point, super::point::Identity::Refused)?;
    Ok(point)
}
