//! `.vk`: bellman's verifying key, which is also how a `.params` file begins.
//!
//! alpha (G1), beta (G1), beta (G2), gamma (G2), delta (G1), delta (G2), n u32 big-endian, n points of G1. All points are
//! uncompressed, zcash's big-endian form; none may be the identity.

use std::io::Write;

use super::fields::Fields;
use super::point::{self, Identity};
use super::sniff::{self, Kind};
use super::{Result, Source, json, params, put, zkey};
use crate::backend::PointEncoding;
use crate::curve::{Curve, G1, G1Affine, G2, as_bytes};
use crate::key::VerifyingKey;

/// Bytes before the count of IC points.
const FIXED: usize = 3 * 96 + 3 * 192;

/// Reads a verifying key.
///
/// # Errors
/// A length that does not match the count; a point that is malformed, off the curve, outside the subgroup or the identity.
pub fn read(source: &Source) -> Result<VerifyingKey> {
    let mut fields = Fields::new(source.name(), "verifying key", source.bytes(), 0);
    let vk = read_fields(&mut fields)?;
    fields.end()?;
    Ok(vk)
}

/// Reads the verifying key of any file that has one, told apart by content: verification_key.json, `.zkey`, `.vk`, `.params`.
///
/// # Errors
/// Those of the format that the content is nearest to.
pub fn read_any(source: &Source) -> Result<VerifyingKey> {
    match sniff::kind(source)? {
        Kind::Zkey => zkey::read_vk(source),
        Kind::Vk => read(source),
        Kind::Params => Ok(params::read(source, None)?.vk),
        Kind::VerificationKeyJson => json::read_vk(source),
        other => {
            let expected = "a verifying key, or a key that has one";
            Err(super::FormatError::content(source.name(), "content", None, expected, other))
        }
    }
}

/// Reads the key at the cursor.
pub(super) fn read_fields(fields: &mut Fields<'_>) -> Result<VerifyingKey> {
    let mut vk = VerifyingKey {
        alpha_g1: point_of::<G1>(fields, "alpha in G1")?,
        beta_g1: point_of::<G1>(fields, "beta in G1")?,
        beta_g2: point_of::<G2>(fields, "beta in G2")?,
        gamma_g2: point_of::<G2>(fields, "gamma in G2")?,
        delta_g1: point_of::<G1>(fields, "delta in G1")?,
        delta_g2: point_of::<G2>(fields, "delta in G2")?,
        ic: Vec::new(),
    };
    let at = fields.offset();
    let count = fields.u32_be("number of IC points")? as usize;
    let most = fields.left() / G1::BYTES;
    if count == 0 || count > most {
        let expected = format!("1 to {most}, what the bytes left can hold");
        return Err(fields.error_at("number of IC points", at, expected, count));
    }
    vk.ic = (0..count).map(|i| point_of::<G1>(fields, &format!("IC point {i}"))).collect::<Result<_>>()?;
    Ok(vk)
}

fn point_of<C: Curve>(fields: &mut Fields<'_>, name: &str) -> Result<C::Affine> {
    let at = fields.offset();
    let bytes = fields.take(C::BYTES, name)?;
    point::decode_checked::<C>(bytes, PointEncoding::ZcashBigEndian, Identity::Refused)
        .map_err(|e| fields.error_at(name, at, format!("a point of {}, not the identity", C::NAME), e))
}

/// Whether `bytes` are as long as a verifying key with the count they state: how a `.vk` is told from a `.params`.
pub(super) fn has_length_of_vk(bytes: &[u8]) -> bool {
    let count =
        bytes.get(FIXED..FIXED + 4).and_then(|b| b.first_chunk::<4>()).map(|b| u32::from_be_bytes(*b));
    count.is_some_and(|n| bytes.len() as u64 == FIXED as u64 + 4 + u64::from(n) * 96)
}

/// Writes a verifying key.
///
/// # Errors
/// A key with an identity (one read from verification_key.json lacks beta and delta in G1); what the writer refuses.
pub fn write(out: &mut impl Write, vk: &VerifyingKey) -> Result<()> {
    let count = super::count_u32(vk.ic.len(), "number of IC points")?;
    write_point::<G1>(out, &vk.alpha_g1, "alpha in G1")?;
    write_point::<G1>(out, &vk.beta_g1, "beta in G1")?;
    write_point::<G2>(out, &vk.beta_g2, "beta in G2")?;
    write_point::<G2>(out, &vk.gamma_g2, "gamma in G2")?;
    write_point::<G1>(out, &vk.delta_g1, "delta in G1")?;
    write_point::<G2>(out, &vk.delta_g2, "delta in G2")?;
    put(out, &count.to_be_bytes())?;
    vk.ic.iter().try_for_each(|p: &G1Affine| write_point::<G1>(out, p, "IC"))
}

fn write_point<C: Curve>(out: &mut impl Write, p: &C::Affine, name: &str) -> Result<()> {
    if as_bytes(std::slice::from_ref(p)).iter().all(|b| *b == 0) {
        let found = "the identity (verification_key.json does not have beta and delta in G1)";
        return Err(super::FormatError::content(
            "output",
            name,
            None,
            "a point that is not the identity",
            found,
        ));
    }
    put(out, &point::encode::<C>(p, PointEncoding::ZcashBigEndian))
}
