//! Points and field elements inside snarkjs's JSON.

use serde::Deserialize;
use serde::de::{Deserializer as _, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::point::{self, Identity};
use super::{FormatError, Result, Source, numbers, scalars};
use crate::backend::PointEncoding;
use crate::curve::{Curve, Element, G1, G1Affine, G2Affine, Scalar, as_bytes};

/// Bytes of one element of Fp.
const COORDINATE: usize = 48;

/// Takes the elements of an array one by one.
struct Elements<'a, F> {
    most: usize,
    take: F,
    /// What `take` refused an element with.
    refused: &'a mut Option<FormatError>,
}

impl<'t, T, F: FnMut(usize, &'t RawValue) -> Result<T>> Visitor<'t> for Elements<'_, F> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "an array of at most {} elements", self.most)
    }

    fn visit_seq<A: SeqAccess<'t>>(mut self, mut sequence: A) -> std::result::Result<Vec<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = sequence.next_element::<&RawValue>()? {
            if list.len() == self.most {
                return Err(serde::de::Error::invalid_length(self.most + 1, &self));
            }
            match (self.take)(list.len(), element) {
                Ok(taken) => list.push(taken),
                Err(error) => {
                    *self.refused = Some(error);
                    return Err(serde::de::Error::custom("refused"));
                }
            }
        }
        Ok(list)
    }
}

/// The file that messages are about.
pub(super) struct Context<'a> {
    pub(super) file: &'a str,
}

impl Context<'_> {
    pub(super) fn error(
        &self,
        place: impl Into<String>,
        expected: impl std::fmt::Display,
        found: impl std::fmt::Display,
    ) -> FormatError {
        FormatError::content(self.file, place, None, expected, found)
    }

    /// The source as text of bounded length.
    pub(super) fn text<'s>(&self, source: &'s Source, limit: usize) -> Result<&'s str> {
        let bytes = source.bytes();
        if bytes.len() > limit {
            return Err(self.error("length", format!("at most {limit} bytes of JSON"), bytes.len()));
        }
        std::str::from_utf8(bytes).map_err(|e| {
            FormatError::content(self.file, "text", e.valid_up_to() as u64, "UTF-8", "another byte")
        })
    }

    pub(super) fn parse<'t, T: Deserialize<'t>>(&self, text: &'t str, what: &str) -> Result<T> {
        serde_json::from_str(text).map_err(|e| self.malformed(what, &e))
    }

    fn malformed(&self, what: &str, error: &serde_json::Error) -> FormatError {
        let mut found = error.to_string();
        found.truncate(found.char_indices().nth(200).map_or(found.len(), |(end, _)| end));
        self.error(what, "well-formed JSON of this kind", found)
    }

    /// A JSON array of at most `most` elements, each taken as it is met: a list of many short elements would take many times the
    /// file.
    pub(super) fn list<'t, T>(
        &self,
        text: &'t str,
        what: &str,
        most: usize,
        take: impl FnMut(usize, &'t RawValue) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut refused = None;
        let list = Elements { most, take, refused: &mut refused };
        let mut json = serde_json::Deserializer::from_str(text);
        let parsed = json.deserialize_seq(list).and_then(|list| json.end().map(|()| list));
        match (refused, parsed) {
            (Some(error), _) => Err(error),
            (None, Ok(list)) => Ok(list),
            (None, Err(error)) => Err(self.malformed(what, &error)),
        }
    }

    /// Protocol and curve, where they are stated.
    pub(super) fn expect_protocol(
        &self,
        protocol: Option<&RawValue>,
        curve: Option<&RawValue>,
    ) -> Result<()> {
        let text = |raw: &RawValue| serde_json::from_str::<String>(raw.get()).ok();
        if let Some(raw) = protocol
            && text(raw).as_deref() != Some("groth16")
        {
            return Err(self.error("protocol", "\"groth16\"", numbers::shown(raw)));
        }
        if let Some(raw) = curve {
            // snarkjs compares names without case, dashes and the like.
            let plain = text(raw).map(|t| t.chars().filter(char::is_ascii_alphanumeric).collect::<String>());
            if !plain.is_some_and(|name| name.eq_ignore_ascii_case("bls12381")) {
                return Err(self.error("curve", "\"bls12381\"", numbers::shown(raw)));
            }
        }
        Ok(())
    }

    pub(super) fn scalar(&self, raw: &RawValue, place: &str) -> Result<Scalar> {
        let value = numbers::integer(raw)
            .ok_or_else(|| self.error(place, "an integer below r", numbers::shown(raw)))?;
        let scalar = numbers::to_bytes_be::<32>(&value).and_then(|mut bytes| {
            bytes.reverse();
            scalars::canonical(&bytes)
        });
        scalar.ok_or_else(|| {
            let mut r = super::modulus::scalar_modulus();
            r.reverse();
            self.error(place, format!("a value below r = {}", numbers::decimal(&r)), numbers::shown(raw))
        })
    }

    /// A coordinate in Montgomery form, little-endian.
    fn coordinate(&self, raw: &RawValue, place: &str) -> Result<[u8; COORDINATE]> {
        let value = numbers::integer(raw)
            .ok_or_else(|| self.error(place, "an integer below p", numbers::shown(raw)))?;
        numbers::to_bytes_be(&value).and_then(|bytes| point::from_canonical(&bytes)).ok_or_else(|| {
            let mut p = super::modulus::base_modulus();
            p.reverse();
            self.error(place, format!("a coordinate below p = {}", numbers::decimal(&p)), numbers::shown(raw))
        })
    }

    /// An element of the coordinate field: one number in G1, `[c0, c1]` in G2.
    fn element<C: Curve>(&self, raw: &RawValue, place: &str) -> Result<Vec<u8>> {
        if C::BYTES == G1::BYTES {
            return Ok(self.coordinate(raw, place)?.to_vec());
        }
        let [c0, c1]: [&RawValue; 2] = self.parse(raw.get(), place)?;
        let mut bytes = self.coordinate(c0, &format!("{place}[0]"))?.to_vec();
        bytes.extend(self.coordinate(c1, &format!("{place}[1]"))?);
        Ok(bytes)
    }

    /// `[x, y]` or `[x, y, z]`, where z is 1, or 0 in the identity (0, 1, 0).
    pub(super) fn point<C: Curve>(
        &self,
        raw: &RawValue,
        place: &str,
        identity: Identity,
    ) -> Result<C::Affine> {
        let parts: Vec<&RawValue> = self.list(raw.get(), place, 4, |_, part| Ok(part))?;
        let (x, y, z) = match parts[..] {
            [x, y] => (x, y, None),
            [x, y, z] => (x, y, Some(z)),
            _ => return Err(self.error(place, "2 or 3 coordinates", parts.len())),
        };
        let mut bytes = self.element::<C>(x, &format!("{place}[0]"))?;
        let y = self.element::<C>(y, &format!("{place}[1]"))?;
        let one = self.one::<C>();
        let point = match z.map(|z| self.element::<C>(z, &format!("{place}[2]"))).transpose()? {
            Some(z) if z.iter().all(|b| *b == 0) => {
                if y != one || bytes.iter().any(|b| *b != 0) {
                    return Err(self.error(
                        place,
                        "the identity as (0, 1, 0)",
                        "z = 0 with other coordinates",
                    ));
                }
                C::Affine::zeroed()
            }
            Some(z) if z != one => {
                return Err(self.error(format!("{place}[2]"), "1 or 0", numbers::shown(raw)));
            }
            _ => {
                bytes.extend(y);
                self.affine::<C>(&bytes, place)?
            }
        };
        let expected = format!("a point of {}", C::NAME);
        point::check::<C>(&point, identity).map_err(|e| self.error(place, expected, e))?;
        Ok(point)
    }

    /// (x, y) from its coordinates. (0, 0), which would become the identity, is not on the curve.
    fn affine<C: Curve>(&self, bytes: &[u8], place: &str) -> Result<C::Affine> {
        let expected = format!("a point of {}", C::NAME);
        if bytes.iter().all(|b| *b == 0) {
            return Err(self.error(place, expected, point::PointError::OffCurve));
        }
        point::decode::<C>(bytes, PointEncoding::Montgomery).map_err(|e| self.error(place, expected, e))
    }

    /// 1 in the coordinate field.
    fn one<C: Curve>(&self) -> Vec<u8> {
        let mut canonical = [0; COORDINATE];
        canonical[COORDINATE - 1] = 1;
        let mut one = point::from_canonical(&canonical).map_or(Vec::new(), |b| b.to_vec());
        one.resize(C::BYTES / 2, 0);
        one
    }
}

/// A point as snarkjs writes it.
pub(super) fn point_json<C: Curve>(p: &C::Affine) -> Value {
    let (coordinates, _) = as_bytes(std::slice::from_ref(p)).as_chunks::<COORDINATE>();
    let mut parts: Vec<Vec<String>> = coordinates
        .chunks(C::BYTES / 2 / COORDINATE)
        .map(|element| element.iter().map(|c| numbers::decimal(&point::to_canonical(c))).collect())
        .collect();
    let constant = |first: &str| {
        let mut element = vec!["0".to_string(); C::BYTES / 2 / COORDINATE];
        if let Some(c0) = element.first_mut() {
            *c0 = first.into();
        }
        element
    };
    if *p == C::Affine::zeroed() {
        parts = vec![constant("0"), constant("1"), constant("0")];
    } else {
        parts.push(constant("1"));
    }
    let value = |mut element: Vec<String>| {
        if element.len() == 1 { Value::from(element.swap_remove(0)) } else { Value::from(element) }
    };
    parts.into_iter().map(value).collect()
}

/// e(alpha, beta) as 2 x 3 x 2 numbers.
pub(super) fn fp12(alpha: &G1Affine, beta: &G2Affine) -> Value {
    let product = ::blst::blst_fp12::miller_loop(beta.as_ref(), alpha.as_ref()).final_exp();
    let number = |fp: &::blst::blst_fp| {
        let mut bytes = [0; COORDINATE];
        for (chunk, limb) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(fp.l) {
            *chunk = limb.to_le_bytes();
        }
        Value::from(numbers::decimal(&point::to_canonical(&bytes)))
    };
    let fp2 = |x: &::blst::blst_fp2| x.fp.iter().map(number).collect::<Value>();
    let fp6 = |x: &::blst::blst_fp6| x.fp2.iter().map(fp2).collect::<Value>();
    product.fp6.iter().map(fp6).collect()
}
