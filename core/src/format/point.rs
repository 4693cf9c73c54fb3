//! Single points: two encodings, and the checks that a point from a file must pass.

use crate::backend::PointEncoding;
use crate::curve::{BaseField, Curve, Element, Fp, as_bytes, as_bytes_mut};

/// Bytes of one element of Fp.
const COORDINATE: usize = 48;

/// 2^768 mod p: multiplying by it (with Montgomery's reduction) takes a canonical value to Montgomery form.
const R_SQUARED: [u64; 6] = [
    0xf4df_1f34_1c34_1746,
    0x0a76_e6a6_09d1_04f1,
    0x8de5_476c_4c95_b6d5,
    0x67eb_88a9_939d_83c0,
    0x9a79_3e85_b519_952d,
    0x1198_8fe5_92ca_e3aa,
];

/// What is wrong with a point.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PointError {
    /// Not as many bytes as the encoding has.
    #[error("{found} bytes instead of {expected}")]
    Length {
        /// Bytes of the encoding.
        expected: usize,
        /// Bytes given.
        found: usize,
    },
    /// A coordinate is not below p.
    #[error("coordinate {index} is 0x{value}, which is not below p = 0x{}", modulus())]
    NonCanonical {
        /// Which element of Fp, in the order of the encoding.
        index: usize,
        /// Its value (in Montgomery encoding: its Montgomery form), hexadecimal.
        value: String,
    },
    /// Flag bits that the encoding does not allow.
    #[error("flag bits {found:#04x} in the first byte: {reason}")]
    Flags {
        /// The three bits.
        found: u8,
        /// What is wrong with them.
        reason: &'static str,
    },
    /// Compressed: no point has this x coordinate, or it is not below p.
    #[error("no point of the curve has this x coordinate")]
    NoSuchPoint,
    /// Not on the curve.
    #[error("not on the curve")]
    OffCurve,
    /// On the curve, outside the subgroup.
    #[error("on the curve, but not in the subgroup of order r")]
    OutsideSubgroup,
    /// The identity where it is not allowed.
    #[error("the identity, which is not allowed here")]
    Identity,
}

/// p, hexadecimal.
fn modulus() -> String {
    Fp::MODULUS.iter().rev().map(|limb| format!("{limb:016x}")).collect()
}

/// Whether the identity may stand in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// A variable that occurs nowhere has it.
    Allowed,
    /// It would make the proof system unsound or the file unreadable for others.
    Refused,
}

/// Decodes a point. Coordinates must be below p and flags in order; curve and subgroup are left to [`check`].
///
/// # Errors
/// [`PointError::Length`], [`PointError::NonCanonical`], [`PointError::Flags`].
pub fn decode<C: Curve>(bytes: &[u8], encoding: PointEncoding) -> Result<C::Affine, PointError> {
    if bytes.len() != C::BYTES {
        return Err(PointError::Length { expected: C::BYTES, found: bytes.len() });
    }
    match encoding {
        PointEncoding::Montgomery => decode_montgomery::<C>(bytes),
        PointEncoding::ZcashZeroIdentity if bytes.iter().all(|b| *b == 0) => Ok(C::Affine::zeroed()),
        PointEncoding::ZcashBigEndian | PointEncoding::ZcashZeroIdentity => decode_zcash::<C>(bytes),
    }
}

/// On the curve, in the subgroup, and not the identity where that is refused.
///
/// # Errors
/// [`PointError::Identity`], [`PointError::OffCurve`], [`PointError::OutsideSubgroup`].
pub fn check<C: Curve>(point: &C::Affine, identity: Identity) -> Result<(), PointError> {
    if *point == C::Affine::zeroed() {
        return if identity == Identity::Allowed { Ok(()) } else { Err(PointError::Identity) };
    }
    if !C::is_on_curve(point) {
        return Err(PointError::OffCurve);
    }
    if !C::is_in_subgroup(point) {
        return Err(PointError::OutsideSubgroup);
    }
    Ok(())
}

/// [`decode`] and [`check`].
///
/// # Errors
/// Those of both.
pub fn decode_checked<C: Curve>(
    bytes: &[u8],
    encoding: PointEncoding,
    identity: Identity,
) -> Result<C::Affine, PointError> {
    let point = decode::<C>(bytes, encoding)?;
    check::<C>(&point, identity)?;
    Ok(point)
}

/// Encodes a point in `C::BYTES` bytes.
pub fn encode<C: Curve>(point: &C::Affine, encoding: PointEncoding) -> Vec<u8> {
    let raw = as_bytes(std::slice::from_ref(point));
    if encoding == PointEncoding::Montgomery {
        return raw.to_vec();
    }
    let mut out = Vec::with_capacity(C::BYTES);
    if *point == C::Affine::zeroed() {
        out.resize(C::BYTES, 0);
        if encoding == PointEncoding::ZcashBigEndian {
            out[0] = INFINITY;
        }
        return out;
    }
    let (coordinates, _) = raw.as_chunks::<COORDINATE>();
    for index in zcash_order(coordinates.len()) {
        out.extend(to_canonical(&coordinates[index]));
    }
    out
}

const COMPRESSED: u8 = 0x80;
/// The flag of the identity.
const INFINITY: u8 = 0x40;
const SIGN: u8 = 0x20;

/// Coordinates in memory are c0 before c1; zcash writes c1 before c0, x before y. Its own inverse.
fn zcash_order(coordinates: usize) -> impl Iterator<Item = usize> {
    let per_element = coordinates / 2;
    (0..coordinates).map(move |i| i / per_element * per_element + (per_element - 1 - i % per_element))
}

fn decode_montgomery<C: Curve>(bytes: &[u8]) -> Result<C::Affine, PointError> {
    let (coordinates, _) = bytes.as_chunks::<COORDINATE>();
    for (index, coordinate) in coordinates.iter().enumerate() {
        if Fp::from_montgomery(limbs_le(coordinate)).is_none() {
            let value = coordinate.iter().rev().map(|b| format!("{b:02x}")).collect();
            return Err(PointError::NonCanonical { index, value });
        }
    }
    let mut point = C::Affine::zeroed();
    as_bytes_mut(std::slice::from_mut(&mut point)).copy_from_slice(bytes);
    Ok(point)
}

fn decode_zcash<C: Curve>(bytes: &[u8]) -> Result<C::Affine, PointError> {
    let flags = bytes.first().map_or(0, |b| b & (COMPRESSED | INFINITY | SIGN));
    let wrong = |reason| Err(PointError::Flags { found: flags, reason });
    match flags {
        0 => {}
        INFINITY if bytes.iter().skip(1).all(|b| *b == 0) && bytes.first() == Some(&INFINITY) => {
            return Ok(C::Affine::zeroed());
        }
        INFINITY => return wrong("the identity must be zero but for its flag"),
        f if f & COMPRESSED != 0 => return wrong("the point is compressed, an uncompressed one is expected"),
        _ => return wrong("the sign bit is set in an uncompressed point"),
    }
    let mut point = C::Affine::zeroed();
    let (coordinates, _) = bytes.as_chunks::<COORDINATE>();
    let (out, _) = as_bytes_mut(std::slice::from_mut(&mut point)).as_chunks_mut::<COORDINATE>();
    for (index, (coordinate, to)) in coordinates.iter().zip(zcash_order(coordinates.len())).enumerate() {
        let Some(montgomery) = from_canonical(coordinate) else {
            let value = coordinate.iter().map(|b| format!("{b:02x}")).collect();
            return Err(PointError::NonCanonical { index, value });
        };
        out[to] = montgomery;
    }
    // (0, 0) is how the identity lies in memory, but not how this encoding writes it.
    if point == C::Affine::zeroed() { Err(PointError::OffCurve) } else { Ok(point) }
}

fn limbs_le(bytes: &[u8; COORDINATE]) -> [u64; 6] {
    let mut limbs = [0; 6];
    for (limb, chunk) in limbs.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *limb = u64::from_le_bytes(*chunk);
    }
    limbs
}

fn bytes_le(limbs: [u64; 6]) -> [u8; COORDINATE] {
    let mut out = [0; COORDINATE];
    for (chunk, limb) in out.as_chunks_mut::<8>().0.iter_mut().zip(limbs) {
        *chunk = limb.to_le_bytes();
    }
    out
}

/// Big-endian canonical to little-endian Montgomery; `None` if not below p.
pub(super) fn from_canonical(big_endian: &[u8; COORDINATE]) -> Option<[u8; COORDINATE]> {
    let mut bytes = *big_endian;
    bytes.reverse();
    let value = Fp::from_montgomery(limbs_le(&bytes))?;
    Some(bytes_le(value.mul(&Fp::from_montgomery(R_SQUARED)?).to_montgomery()))
}

/// Little-endian Montgomery to big-endian canonical: a Montgomery multiplication by the integer 1.
pub(super) fn to_canonical(montgomery: &[u8; COORDINATE]) -> [u8; COORDINATE] {
    let one = Fp::from_montgomery([1, 0, 0, 0, 0, 0]);
    let value = Fp::from_montgomery(limbs_le(montgomery));
    let canonical = value.zip(one).map_or([0; 6], |(v, one)| v.mul(&one).to_montgomery());
    let mut bytes = bytes_le(canonical);
    bytes.reverse();
    bytes
}
