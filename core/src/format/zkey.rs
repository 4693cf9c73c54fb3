//! `.zkey`: a snarkjs Groth16 key, with the matrices A and B inside.
//!
//! | section | content |
//! |---|---|
//! | 1 | protocol u32, 1 = Groth16 |
//! | 2 | n8q u32, p, n8r u32, r, variables u32, public u32, domain u32, alpha1, beta1, beta2, gamma2, delta1, delta2 |
//! | 3 | IC: public + 1 points of G1 |
//! | 4 | n u32, then n x (matrix u32, row u32, wire u32, value\[32\]); value = coefficient * 2^512 mod r |
//! | 5, 6, 7 | A (G1), B (G1), B (G2): one point per variable, the identity where it does not occur |
//! | 8 | C: one point of G1 per auxiliary variable; what bellman calls L |
//! | 9 | H: as many points of G1 as the domain has |
//! | 10 | hash of the circuit\[64\], contributions u32, contributions; not needed to prove |
//!
//! Points are x then y, little-endian Montgomery limbs, c0 before c1, the identity all zero: exactly the form of devices, so point
//! sections are never copied. The QAP sits on the powers of the root 5^t, H on the odd coset.

use std::io::Write;

use super::container::{Container, section_head, write_head};
use super::fields::Fields;
use super::modulus::{self, base_modulus, scalar_modulus};
use super::point::{self, Identity};
use super::zkey_matrices;
use super::{FormatError, Result, Source, put};
use crate::backend::{PointEncoding, Quotient, QuotientForm};
use crate::circuit::Matrices;
use crate::curve::{Curve, G1, G2, Root};
use crate::key::{EncodedPoints, ProvingKey, Query, Variables, VerifyingKey};

pub(super) const MAGIC: &[u8; 4] = b"zkey";

/// The largest domain that has a coset shift.
const MAX_LOG_N: u32 = Root::MAX_LOG_N - 1;

/// A key and the circuit's A and B.
#[derive(Clone, Debug)]
pub struct ZKey {
    /// The proving key; its queries point into the file.
    pub key: ProvingKey,
    /// A (input rows included) and B. There is no C: (C z)_i is taken as (A z)_i (B z)_i.
    pub matrices: Matrices,
}

/// What section 2 says before its points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ZKeyHeader {
    /// Length of z.
    pub variables: u32,
    /// Public outputs and inputs, without the constant 1.
    pub public: u32,
    /// Size of the domain, a power of two.
    pub domain: u32,
}

/// Reads a key. Points of the queries are not looked at: see [`crate::key::check_key`].
///
/// # Errors
/// Another version, protocol or field, sections of the wrong length, coefficients out of range, and points of the verifying key
/// that are the identity, off the curve or outside the subgroup.
pub fn read(source: &Source) -> Result<ZKey> {
    let container = Container::read(source, MAGIC, 1..=1)?;
    let (header, vk) = verifying_key(&container)?;
    let variables = header.variables as usize;
    let inputs = header.public as usize + 1;
    let log_n = header.domain.trailing_zeros();
    // Lengths first: they bound the counts of the header by the file's size.
    let query = Query {
        points: points::<G1>(source, &container, 5, "A", variables)?,
        variables: Variables::Range(0..header.variables),
    };
    let b1 = points::<G1>(source, &container, 6, "B1", variables)?;
    let b2 = points::<G2>(source, &container, 7, "B2", variables)?;
    let l = points::<G1>(source, &container, 8, "C", variables - inputs)?;
    let h = points::<G1>(source, &container, 9, "H", header.domain as usize)?;
    let matrices = zkey_matrices::read(&mut container.require(4, "coefficients")?, &header)?;
    let key = ProvingKey {
        vk,
        quotient: Quotient { log_n, root: Root::Five, form: QuotientForm::OddCoset },
        inputs,
        aux: variables - inputs,
        h,
        l: Query { points: l, variables: Variables::Range(inputs as u32..header.variables) },
        b1: Query { points: b1, variables: query.variables.clone() },
        b2: Query { points: b2, variables: query.variables.clone() },
        a: query,
        source: source.shared_name(),
    };
    Ok(ZKey { key, matrices })
}

/// Reads the verifying key alone.
///
/// # Errors
/// As [`read`], as far as sections 1 to 3 go.
pub fn read_vk(source: &Source) -> Result<VerifyingKey> {
    Ok(verifying_key(&Container::read(source, MAGIC, 1..=1)?)?.1)
}

fn verifying_key(container: &Container<'_>) -> Result<(ZKeyHeader, VerifyingKey)> {
    let mut protocol = container.require(1, "protocol")?;
    let at = protocol.offset();
    match protocol.u32_le("protocol")? {
        1 => protocol.end()?,
        other => {
            let name =
                [(2, " (PLONK)"), (10, " (fflonk)")].into_iter().find(|p| p.0 == other).map_or("", |p| p.1);
            return Err(protocol.error_at("protocol", at, "1 (Groth16)", format!("{other}{name}")));
        }
    }
    let mut fields = container.require(2, "header")?;
    modulus::expect(&mut fields, "the base field", &base_modulus())?;
    modulus::expect(&mut fields, "the scalar field", &scalar_modulus())?;
    let header = header(&mut fields)?;
    let mut vk = VerifyingKey {
        alpha_g1: point_of::<G1>(&mut fields, "alpha1")?,
        beta_g1: point_of::<G1>(&mut fields, "beta1")?,
        beta_g2: point_of::<G2>(&mut fields, "beta2")?,
        gamma_g2: point_of::<G2>(&mut fields, "gamma2")?,
        delta_g1: point_of::<G1>(&mut fields, "delta1")?,
        delta_g2: point_of::<G2>(&mut fields, "delta2")?,
        ic: Vec::new(),
    };
    fields.end()?;
    let mut ic = container.require(3, "IC")?;
    let count = header.public as usize + 1;
    expect_points::<G1>(&ic, count)?;
    vk.ic = (0..count).map(|i| point_of::<G1>(&mut ic, &format!("point {i}"))).collect::<Result<_>>()?;
    Ok((header, vk))
}

fn header(fields: &mut Fields<'_>) -> Result<ZKeyHeader> {
    let at = fields.offset();
    let header = ZKeyHeader {
        variables: fields.u32_le("variables")?,
        public: fields.u32_le("public values")?,
        domain: fields.u32_le("domain")?,
    };
    if header.variables == 0 {
        return Err(fields.error_at("variables", at, "at least 1, the constant 1", 0));
    }
    if header.public >= header.variables {
        let expected = format!("below the {} variables, one of which is the constant 1", header.variables);
        return Err(fields.error_at("public values", at + 4, expected, header.public));
    }
    if !header.domain.is_power_of_two() || header.domain > 1 << MAX_LOG_N {
        let expected = format!("a power of two up to 2^{MAX_LOG_N}");
        return Err(fields.error_at("domain", at + 8, expected, header.domain));
    }
    Ok(header)
}

/// A point of the verifying key, fully checked. The identity there would let proofs be forged, or leave an input unbound.
fn point_of<C: Curve>(fields: &mut Fields<'_>, name: &str) -> Result<C::Affine> {
    let at = fields.offset();
    let bytes = fields.take(C::BYTES, name)?;
    point::decode_checked::<C>(bytes, PointEncoding::Montgomery, Identity::Refused)
        .map_err(|e| fields.error_at(name, at, format!("a point of {}, not the identity", C::NAME), e))
}

/// A section that is nothing but `count` points.
fn points<C: Curve>(
    source: &Source,
    container: &Container<'_>,
    kind: u32,
    name: &str,
    count: usize,
) -> Result<EncodedPoints<C>> {
    let fields = container.require(kind, name)?;
    expect_points::<C>(&fields, count)?;
    let range = fields.offset()..fields.offset() + fields.left();
    EncodedPoints::new(source.shared(), range, PointEncoding::Montgomery)
        .ok_or_else(|| fields.error("length", "whole points", fields.left()))
}

fn expect_points<C: Curve>(fields: &Fields<'_>, count: usize) -> Result<()> {
    let expected = count as u64 * C::BYTES as u64;
    if fields.left() as u64 == expected {
        return Ok(());
    }
    let size = C::BYTES;
    let found = format!("{} bytes ({} points)", fields.left(), fields.left() / size);
    Err(fields.error("length", format!("{expected} bytes for {count} points of {size}"), found))
}

/// Writes a key so that snarkjs proves with it: sections 1 to 10, no contributions.
///
/// # Errors
/// A key whose H is not on the odd coset of the root 5, whose queries do not cover every variable, or whose verifying key has
/// no beta or delta in G1; and what the writer refuses.
pub fn write(out: &mut impl Write, key: &ProvingKey, matrices: &Matrices) -> Result<()> {
    expect_writable(key, matrices)?;
    let vk = &key.vk;
    put(out, &write_head(MAGIC, 1, 10))?;
    put(out, &section_head(1, 4))?;
    put(out, &1u32.to_le_bytes())?;
    let mut head = 48u32.to_le_bytes().to_vec();
    head.extend(base_modulus());
    head.extend(32u32.to_le_bytes());
    head.extend(scalar_modulus());
    for count in [key.variables(), key.inputs - 1, 1 << key.quotient.log_n] {
        head.extend((count as u32).to_le_bytes());
    }
    head.extend(point::encode::<G1>(&vk.alpha_g1, PointEncoding::Montgomery));
    head.extend(point::encode::<G1>(&vk.beta_g1, PointEncoding::Montgomery));
    head.extend(point::encode::<G2>(&vk.beta_g2, PointEncoding::Montgomery));
    head.extend(point::encode::<G2>(&vk.gamma_g2, PointEncoding::Montgomery));
    head.extend(point::encode::<G1>(&vk.delta_g1, PointEncoding::Montgomery));
    head.extend(point::encode::<G2>(&vk.delta_g2, PointEncoding::Montgomery));
    put(out, &section_head(2, head.len() as u64))?;
    put(out, &head)?;
    put(out, &section_head(3, vk.ic.len() as u64 * 96))?;
    put(out, crate::curve::as_bytes(&vk.ic))?;
    zkey_matrices::write(out, matrices)?;
    write_points(out, 5, &key.a.points)?;
    write_points(out, 6, &key.b1.points)?;
    write_points(out, 7, &key.b2.points)?;
    write_points(out, 8, &key.l.points)?;
    write_points(out, 9, &key.h)?;
    // 64 bytes of circuit hash and a count of 0 contributions.
    put(out, &section_head(10, 68))?;
    put(out, &[0; 68])
}

fn expect_writable(key: &ProvingKey, matrices: &Matrices) -> Result<()> {
    let refuse = |place: &str, expected: String, found: String| {
        Err(FormatError::content(&key.source, place.to_string(), None, expected, found))
    };
    let Quotient { root, form, log_n } = key.quotient;
    if (root, form) != (Root::Five, QuotientForm::OddCoset) || log_n > MAX_LOG_N {
        let found = format!("{form:?} on the root {root}, domain 2^{log_n}");
        return refuse("form of H", format!("OddCoset on the root 5, domain up to 2^{MAX_LOG_N}"), found);
    }
    let m = key.variables();
    let lengths = [
        ("A", key.a.points.len(), m),
        ("B1", key.b1.points.len(), m),
        ("B2", key.b2.points.len(), m),
        ("C", key.l.points.len(), key.aux),
        ("H", key.h.len(), 1 << log_n),
        ("IC", key.vk.ic.len(), key.inputs),
        ("columns of the matrices", matrices.variables(), m),
        ("inputs of the matrices", matrices.inputs, key.inputs),
    ];
    for (place, found, expected) in lengths {
        if found != expected {
            return refuse(place, expected.to_string(), found.to_string());
        }
    }
    if u32::try_from(m).is_err() || key.inputs == 0 {
        return refuse("variables", format!("1 to {}, the constant 1 among them", u32::MAX), m.to_string());
    }
    let identity = <crate::curve::G1Affine as crate::curve::Element>::zeroed();
    if key.vk.beta_g1 == identity || key.vk.delta_g1 == identity {
        return refuse("verifying key", "beta and delta in G1".into(), "the identity".into());
    }
    Ok(())
}

fn write_points<C: Curve>(out: &mut impl Write, kind: u32, points: &EncodedPoints<C>) -> Result<()> {
    put(out, &section_head(kind, points.bytes().len() as u64))?;
    super::write_points(out, points, PointEncoding::Montgomery, Identity::Allowed)
}
