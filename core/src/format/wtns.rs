//! `.wtns`: a circom witness. Section 1 is `n8 u32 | r[n8] | values u32`, section 2 the values, 32 little-endian bytes each,
//! canonical. Value 0 is the constant 1, then come public outputs, public inputs and the rest.

use std::io::Write;

use ff::{Field, PrimeField};
use rayon::prelude::*;

use super::container::{Container, section_head, write_head};
use super::modulus::{self, scalar_modulus};
use super::{Result, Source, count_u32, put, scalars};
use crate::curve::Scalar;

pub(super) const MAGIC: &[u8; 4] = b"wtns";

/// What section 1 says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct WtnsHeader {
    /// Number of values.
    pub values: u32,
}

/// Values per task: below this, threads cost more than they bring.
const CHUNK: usize = 1 << 13;

/// Reads a witness.
///
/// # Errors
/// Versions other than 1 and 2, another field, a length that does not match the count, a value not below r, value 0 not 1.
pub fn read(source: &Source) -> Result<Vec<Scalar>> {
    let container = Container::read(source, MAGIC, 1..=2)?;
    let header = header(&container)?;
    let mut fields = container.require(2, "values")?;
    let start = fields.offset();
    let expected = u64::from(header.values) * 32;
    if fields.left() as u64 != expected {
        let expected = format!("{expected} bytes for {} values", header.values);
        return Err(fields.error("length", expected, format!("{} bytes", fields.left())));
    }
    let bytes = fields.take(fields.left(), "values")?;
    let (values, _) = bytes.as_chunks::<32>();
    let decode = |chunk: &[[u8; 32]]| chunk.iter().map(scalars::canonical).collect::<Option<Vec<_>>>();
    let parts: Option<Vec<Vec<Scalar>>> = if values.len() <= CHUNK {
        decode(values).map(|z| vec![z])
    } else {
        values.par_chunks(CHUNK).map(decode).collect()
    };
    let z = match parts {
        Some(parts) => parts.concat(),
        None => {
            let index = values.iter().position(|v| scalars::canonical(v).is_none()).unwrap_or(0);
            let (expected, found) = scalars::too_large_secret();
            return Err(fields.error_at(&format!("value {index}"), start + 32 * index, expected, found));
        }
    };
    match z.first() {
        Some(one) if *one == Scalar::ONE => Ok(z),
        Some(zero) if bool::from(zero.is_zero()) => Err(fields.error_at("value 0", start, "1", "0")),
        Some(two) if *two == Scalar::from(2) => Err(fields.error_at("value 0", start, "1", "2")),
        // It may be a secret that stands in the wrong place.
        Some(_) => Err(fields.error_at("value 0", start, "1", "another number")),
        None => Err(fields.error_at("value 0", start, "1", "no values")),
    }
}

/// Reads section 1 alone.
///
/// # Errors
/// As [`read`], as far as the header goes.
pub fn read_header(source: &Source) -> Result<WtnsHeader> {
    header(&Container::read(source, MAGIC, 1..=2)?)
}

fn header(container: &Container<'_>) -> Result<WtnsHeader> {
    let mut fields = container.require(1, "header")?;
    modulus::expect(&mut fields, "the scalar field", &scalar_modulus())?;
    let values = fields.u32_le("number of values")?;
    fields.end()?;
    Ok(WtnsHeader { values })
}

/// Writes a witness, version 2.
///
/// # Errors
/// What the writer refuses.
pub fn write(out: &mut impl Write, z: &[Scalar]) -> Result<()> {
    let count = count_u32(z.len(), "number of values")?;
    put(out, &write_head(MAGIC, 2, 2))?;
    put(out, &section_head(1, 40))?;
    put(out, &32u32.to_le_bytes())?;
    put(out, &scalar_modulus())?;
    put(out, &count.to_le_bytes())?;
    put(out, &section_head(2, z.len() as u64 * 32))?;
    z.iter().try_for_each(|v| put(out, &v.to_repr()))
}
