//! `.params`: bellman's and bellperson's proving key, up to tens of gigabytes, always mapped.
//!
//! A verifying key ([`super::vk`]), then H, L, A, B in G1, B in G2, each `n u32 big-endian | n points`, uncompressed, zcash's
//! big-endian form. No point may be the identity: variables that do not occur in A or B are left out, and the circuit tells which.
//! All offsets follow from the five lengths, so opening a file touches five pages besides its head.
//!
//! The root of unity is nowhere in the file. bellman's is 7; snarkjs's `zkey export bellman` writes the same layout on its own
//! root, 5, followed by the record of the ceremony: 64 bytes of circuit hash, a count and 544 bytes per contribution. That
//! record is how the root is told. snarkjs also leaves the identities in: its A and B have a point for every variable,
//! and it writes the identity as zeros, without the flag.

use std::io::Write;

use super::fields::Fields;
use super::point::Identity;
use super::{FormatError, Result, Source, put, vk};
use crate::backend::{PointEncoding, Quotient, QuotientForm};
use crate::curve::{Curve, G1, G2, Root};
use crate::key::{EncodedPoints, ProvingKey, Query, Variables};

/// One contribution: delta after it (96), s (96), s * delta (96), r * delta (192), transcript hash (64).
const CONTRIBUTION: usize = 96 * 3 + 192 + 64;

/// Length of the circuit hash at the head of the ceremony's record.
const CS_HASH: usize = 64;

/// Reads a key. `root` overrides what the file suggests. Points of the queries are not looked at: see
/// [`crate::key::check_key`].
///
/// # Errors
/// Lengths that the file does not bear out, an H whose length is not a power of two less one, bytes after the end that are no
/// ceremony record, and points of the verifying key that are malformed, off the curve, outside the subgroup or the identity.
pub fn read(source: &Source, root: Option<Root>) -> Result<ProvingKey> {
    let mut fields = Fields::new(source.name(), "parameters", source.bytes(), 0);
    let vk = vk::read_fields(&mut fields)?;
    let at_h = fields.offset();
    let h = points::<G1>(source, &mut fields, "H")?;
    let n = h.len() as u64 + 1;
    if !n.is_power_of_two() || n >= 1 << Root::MAX_LOG_N {
        let expected = format!("a power of two up to 2^{}, less one", Root::MAX_LOG_N - 1);
        return Err(fields.error_at("length of H", at_h, expected, h.len()));
    }
    let l = points::<G1>(source, &mut fields, "L")?;
    let (inputs, aux) = (vk.ic.len(), l.len());
    let variables = u32::try_from(inputs + aux)
        .map_err(|_| fields.error("variables", format!("at most {}", u32::MAX), inputs + aux))?;
    let mut a = query::<G1>(source, &mut fields, "A", variables)?;
    let at_b = fields.offset();
    let mut b1 = query::<G1>(source, &mut fields, "B in G1", variables)?;
    let at_b2 = fields.offset();
    let mut b2 = query::<G2>(source, &mut fields, "B in G2", variables)?;
    if b1.points.len() != b2.points.len() {
        let expected = format!("{}, as B in G1 has (byte {at_b})", b1.points.len());
        return Err(fields.error_at("length of B in G2", at_b2, expected, b2.points.len()));
    }
    let exported = trailer(&mut fields)?;
    if exported && a.points.len() == variables as usize && b1.points.len() == variables as usize {
        // Where every variable has a point anyway, both readings say the same.
        a.variables = Variables::Range(0..variables);
        b1.variables = a.variables.clone();
        b2.variables = a.variables.clone();
    }
    let implied = if exported { Root::Five } else { Root::Seven };
    let quotient =
        Quotient { log_n: n.trailing_zeros(), root: root.unwrap_or(implied), form: QuotientForm::Monomial };
    let l = Query { points: l, variables: Variables::Range(inputs as u32..variables) };
    let mut key = ProvingKey { vk, quotient, inputs, aux, h, l, a, b1, b2, source: source.shared_name() };
    if exported {
        key.l = zeros_are_identities(key.l);
        key.a = zeros_are_identities(key.a);
        key.b1 = zeros_are_identities(key.b1);
        key.b2 = zeros_are_identities(key.b2);
    }
    Ok(key)
}

/// Zeros are the identity in what snarkjs exports.
fn zeros_are_identities<C: Curve>(query: Query<C>) -> Query<C> {
    Query { points: query.points.with_encoding(PointEncoding::ZcashZeroIdentity), ..query }
}

/// `n u32 | n points`, skipped over.
fn points<C: Curve>(source: &Source, fields: &mut Fields<'_>, name: &str) -> Result<EncodedPoints<C>> {
    let at = fields.offset();
    let count = fields.u32_be(&format!("length of {name}"))?;
    let (expected, left) = (u64::from(count) * C::BYTES as u64, fields.left());
    let bytes = usize::try_from(expected).ok().filter(|b| *b <= left).ok_or_else(|| {
        let most = format!("at most {} points in the {left} bytes left", left / C::BYTES);
        fields.error_at(&format!("length of {name}"), at, most, format!("{count} points ({expected} bytes)"))
    })?;
    let start = fields.offset();
    fields.take(bytes, name)?;
    EncodedPoints::new(source.shared(), start..start + bytes, PointEncoding::ZcashBigEndian)
        .ok_or_else(|| fields.error_at(name, start, "whole points", bytes))
}

fn query<C: Curve>(source: &Source, fields: &mut Fields<'_>, name: &str, variables: u32) -> Result<Query<C>> {
    let at = fields.offset();
    let points = points::<C>(source, fields, name)?;
    if points.len() > variables as usize {
        let expected = format!("at most the {variables} variables (IC and L)");
        return Err(fields.error_at(&format!("length of {name}"), at, expected, points.len()));
    }
    Ok(Query { points, variables: Variables::FromDensity })
}

/// Whether a ceremony's record follows; anything else after the queries is refused.
fn trailer(fields: &mut Fields<'_>) -> Result<bool> {
    if fields.left() == 0 {
        return Ok(false);
    }
    let at = fields.offset();
    let found = fields.left();
    let wrong = |fields: &Fields<'_>, count: Option<u32>| {
        let expected = "nothing, or 64 bytes of hash, a count and 544 bytes for each contribution";
        let count = count.map_or(String::new(), |n| format!(", {n} contributions stated"));
        fields.error_at("after the queries", at, expected, format!("{found} bytes{count}"))
    };
    if found < CS_HASH + 4 {
        return Err(wrong(fields, None));
    }
    fields.take(CS_HASH, "circuit hash")?;
    let count = fields.u32_be("contributions")?;
    if fields.left() as u64 != u64::from(count) * CONTRIBUTION as u64 {
        return Err(wrong(fields, Some(count)));
    }
    Ok(true)
}

/// Writes a key. Identities stay where the key has a point for every variable. One on the root 5 gets an empty ceremony record at its end, which is what says so to every reader.
///
/// # Errors
/// A key whose H is not monomial, an identity among its points, more than 2^32 - 1 points; what the writer refuses.
pub fn write(out: &mut impl Write, key: &ProvingKey) -> Result<()> {
    if key.quotient.form != QuotientForm::Monomial {
        let found = format!("{:?}", key.quotient.form);
        return Err(FormatError::content(&key.source, "form of H", None, "Monomial", found));
    }
    let omitted = key.identity_of_absent();
    vk::write(out, &key.vk)?;
    write_query(out, &key.h, "H", Identity::Refused)?;
    write_query(out, &key.l.points, "L", omitted)?;
    write_query(out, &key.a.points, "A", omitted)?;
    write_query(out, &key.b1.points, "B in G1", omitted)?;
    write_query(out, &key.b2.points, "B in G2", omitted)?;
    match key.quotient.root {
        Root::Seven => Ok(()),
        Root::Five => put(out, &[0; CS_HASH + 4]),
    }
}

fn write_query<C: Curve>(
    out: &mut impl Write,
    points: &EncodedPoints<C>,
    name: &str,
    identity: Identity,
) -> Result<()> {
    let count = super::count_u32(points.len(), &format!("length of {name}"))?;
    put(out, &count.to_be_bytes())?;
    super::write_points(out, points, PointEncoding::ZcashBigEndian, identity)
}
