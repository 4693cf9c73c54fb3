//! The properties.

use cuzk_core::backend::PointEncoding;
use cuzk_core::circuit::{Matrices, Matrix};
use cuzk_core::curve::{Curve, Element, G1, G2, as_bytes};
use cuzk_core::format::point::{self, Identity};
use cuzk_core::format::{self, Result, Source};
use cuzk_core::key::{EncodedPoints, ProvingKey};
use cuzk_core::progress::Control;

fn source(data: &[u8]) -> Source {
    Source::from_bytes("fuzz", data.to_vec())
}

/// Parses `data`; `None` if it is refused with a message that names the file.
fn parse<T>(data: &[u8], read: impl FnOnce(&Source) -> Result<T>) -> Option<T> {
    match read(&source(data)) {
        Ok(value) => Some(value),
        Err(e) => {
            let message = e.to_string();
            assert!(message.starts_with("fuzz: "), "{message}");
            assert!(message.len() < 1000, "{} bytes of message", message.len());
            None
        }
    }
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out).expect("what was read can be written");
    out
}

/// Every index inside its range, rows ascending, no zero, as many rows as stated.
fn well_formed(m: &Matrices) {
    let ends = |matrix: &Matrix, rows: usize| {
        assert_eq!(matrix.rows(), rows);
        matrix.for_each_row(|_, entries| {
            let mut last = None;
            for entry in entries {
                assert!((entry.col as usize) < m.variables());
                assert!((entry.code as usize) < m.dictionary.len());
                assert!(last < Some(entry.col));
                last = Some(entry.col);
            }
        });
    };
    ends(&m.a, m.constraints + m.inputs);
    ends(&m.b, m.constraints);
    if let Some(c) = &m.c {
        ends(c, m.constraints);
    }
    assert!(m.dictionary.iter().all(|c| *c != Element::zeroed()));
    assert!(m.densities().a.len() >= m.inputs);
}

/// Every point of a query can be looked at, whatever it is.
fn decodable<C: Curve>(points: &EncodedPoints<C>) {
    for i in 0..points.len().min(4) {
        if let Ok(p) = point::decode::<C>(points.chunk(i..i + 1), points.encoding()) {
            let again = point::encode::<C>(&p, points.encoding());
            // In this encoding the identity has two spellings; every other point has one everywhere.
            let two = points.encoding() == PointEncoding::ZcashZeroIdentity && p == C::Affine::zeroed();
            assert!(two || again == points.chunk(i..i + 1), "{again:?}");
        }
    }
}

fn queries(key: &ProvingKey) {
    decodable(&key.h);
    decodable(&key.l.points);
    decodable(&key.a.points);
    decodable(&key.b1.points);
    decodable(&key.b2.points);
    assert_eq!(key.h.len(), key.quotient.len());
    assert_eq!(key.vk.ic.len(), key.inputs);
}

pub(crate) fn r1cs(data: &[u8]) {
    if let Some(circuit) = parse(data, format::r1cs::read) {
        well_formed(&circuit.matrices);
        assert_eq!(circuit.matrices.variables(), circuit.header.wires as usize);
        assert_eq!(circuit.matrices.constraints, circuit.header.constraints as usize);
        assert_eq!(format::r1cs::read_header(&source(data)).unwrap(), circuit.header);
    }
}

pub(crate) fn wtns(data: &[u8]) {
    if let Some(z) = parse(data, format::wtns::read) {
        assert!(parse(&written(|out| format::wtns::write(out, &z)), format::wtns::read) == Some(z));
    }
}

pub(crate) fn zkey(data: &[u8]) {
    if let Some(format::zkey::ZKey { key, matrices }) = parse(data, format::zkey::read) {
        well_formed(&matrices);
        queries(&key);
        // The dictionary's order is that of the entries, so it is the second writing that must be the same.
        let once = written(|out| format::zkey::write(out, &key, &matrices));
        let again = parse(&once, format::zkey::read).expect("what was written is read");
        assert_eq!(again.key.vk, key.vk);
        assert_eq!(again.key.quotient, key.quotient);
        assert_eq!(again.key.a.points.bytes(), key.a.points.bytes());
        assert_eq!(again.key.h.bytes(), key.h.bytes());
        assert!(written(|out| format::zkey::write(out, &again.key, &again.matrices)) == once);
        assert_eq!(format::zkey::read_vk(&source(data)).unwrap(), key.vk);
    }
}

pub(crate) fn params(data: &[u8]) {
    if let Some(key) = parse(data, |s| format::params::read(s, None)) {
        queries(&key);
        // Points of queries are checked later; a file is written again only if they can be decoded and are not the identity.
        let mut out = Vec::new();
        if format::params::write(&mut out, &key).is_ok() {
            assert!(
                data.starts_with(&out[..out.len().min(data.len())]) || key.quotient.root.generator() == 5
            );
            let again = parse(&out, |s| format::params::read(s, None)).expect("what was written is read");
            assert_eq!((again.vk, again.quotient), (key.vk, key.quotient));
        }
    }
}

pub(crate) fn vk(data: &[u8]) {
    if let Some(vk) = parse(data, format::vk::read) {
        assert!(written(|out| format::vk::write(out, &vk)) == data);
    }
    // verification_key.json lacks two points, so only the other forms can be written as `.vk`.
    if let Some(vk) = parse(data, format::vk::read_any) {
        let json = written(|out| format::json::write_vk(out, &vk));
        assert_eq!(parse(&json, format::json::read_vk).unwrap().ic, vk.ic);
    }
}

pub(crate) fn vk_json(data: &[u8]) {
    if let Some(vk) = parse(data, format::json::read_vk) {
        assert!(parse(&written(|out| format::json::write_vk(out, &vk)), format::json::read_vk) == Some(vk));
    }
}

pub(crate) fn proof_json(data: &[u8]) {
    if let Some(proof) = parse(data, format::json::read_proof) {
        assert!(
            parse(&written(|out| format::json::write_proof(out, &proof)), format::json::read_proof)
                == Some(proof)
        );
    }
}

pub(crate) fn public_json(data: &[u8]) {
    if let Some(public) = parse(data, format::json::read_public) {
        let again = written(|out| format::json::write_public(out, &public));
        assert!(parse(&again, format::json::read_public) == Some(public));
    }
}

pub(crate) fn proof192(data: &[u8]) {
    if let Ok(proof) = format::proof::from_bytes(data) {
        assert_eq!(format::proof::to_bytes(&proof).unwrap(), data);
    }
    parse(data, format::proof::read_any);
    single_points::<G1>(data);
    single_points::<G2>(data);
}

/// Any encoding of a point that is accepted is the only one of that point.
fn single_points<C: Curve>(data: &[u8]) {
    use cuzk_core::backend::PointEncoding::{Montgomery, ZcashBigEndian};
    for encoding in [Montgomery, ZcashBigEndian] {
        if let Ok(p) = point::decode::<C>(data, encoding) {
            assert_eq!(point::encode::<C>(&p, encoding), data);
            assert!(
                point::check::<C>(&p, Identity::Allowed).is_err()
                    || C::is_on_curve(&p)
                    || p == Element::zeroed()
            );
            assert_eq!(as_bytes(std::slice::from_ref(&p)), point::encode::<C>(&p, Montgomery));
        }
    }
}

pub(crate) fn gnark(data: &[u8]) {
    if let Ok(proof) = format::gnark::from_bytes(data) {
        assert_eq!(format::gnark::to_bytes(&proof).unwrap(), data);
    }
}

pub(crate) fn inspect(data: &[u8]) {
    let control = Control::default();
    if let Some(inspection) = parse(data, |s| format::inspect(s, &control)) {
        assert_eq!(inspection.bytes, data.len() as u64);
        let kind = format::sniff::kind(&source(data)).unwrap();
        assert_eq!(kind, inspection.format);
    }
}
