//! File formats, one module each: bytes in, checked structures out, and back. No proving logic here.
//!
//! Every reader bounds counts by the file's size before it allocates or loops, and names the file, the section or field, the
//! offset where there is one, what was expected and what was found. Large files are mapped, not read.

pub mod digest;
pub mod gnark;
pub mod json;
pub mod mmap;
pub mod params;
pub mod point;
pub mod proof;
pub mod r1cs;
pub mod sniff;
pub mod vk;
pub mod wtns;
pub mod zkey;

mod container;
mod error;
mod fields;
mod json_points;
mod modulus;
mod numbers;
mod scalars;
mod zkey_matrices;

pub use error::{FormatError, Result};
pub use mmap::{FileIdentity, Source};
pub use sniff::inspect;

use crate::backend::PointEncoding;
use crate::curve::Curve;
use crate::key::EncodedPoints;
use point::Identity;

/// Writes bytes; what a writer calls its file is the caller's to know.
fn put(out: &mut impl std::io::Write, bytes: &[u8]) -> Result<()> {
    out.write_all(bytes).map_err(|e| FormatError::io("output", e))
}

/// A count as files hold it.
fn count_u32(count: usize, name: &str) -> Result<u32> {
    u32::try_from(count)
        .map_err(|_| FormatError::content("output", name, None, format!("at most {}", u32::MAX), count))
}

/// Writes all points in `encoding`: as they are where they are in it already, one by one otherwise.
fn write_points<C: Curve>(
    out: &mut impl std::io::Write,
    points: &EncodedPoints<C>,
    encoding: PointEncoding,
    identity: Identity,
) -> Result<()> {
    if points.encoding() == encoding && identity == Identity::Allowed {
        return put(out, points.bytes());
    }
    for (index, bytes) in points.bytes().chunks_exact(C::BYTES).enumerate() {
        let point = point::decode::<C>(bytes, points.encoding()).and_then(|p| {
            let refused =
                identity == Identity::Refused && p == <C::Affine as crate::curve::Element>::zeroed();
            if refused { Err(point::PointError::Identity) } else { Ok(p) }
        });
        let point = point.map_err(|e| {
            FormatError::content(
                "output",
                format!("{} point {index}", C::NAME),
                None,
                "a point that can be written",
                e,
            )
        })?;
        put(out, &point::encode::<C>(&point, encoding))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_not_truncated() {
        assert_eq!(count_u32(u32::MAX as usize, "values").unwrap(), u32::MAX);
        let error = count_u32(u32::MAX as usize + 1, "values").unwrap_err().to_string();
        assert!(error.contains("values") && error.contains("found 4294967296"), "{error}");
    }
}
