//! `.params`, `.vk` and 192-byte proofs against bellperson's own reader and writer.

use bellperson::groth16;
use bellperson::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::{Bls12, Scalar};
use cuzk_core::backend::{PointEncoding, QuotientForm};
use cuzk_core::curve::{Curve, G1Affine, G2Affine, Root};
use cuzk_core::format::point::{Identity, decode_checked};
use cuzk_core::format::{Source, gnark, json, params, proof, vk, zkey};
use cuzk_core::key::{EncodedPoints, ProvingKey, Variables};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::{fixture, written};

const SEED: u64 = 0x62656c6c6d616e;

/// y = x^(2^3), y public: 3 squarings, and one linear constraint.
struct Squarings;

impl Circuit<Scalar> for Squarings {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut value = Scalar::from(3);
        let mut x = cs.alloc(|| "x", || Ok(value))?;
        for i in 0..3 {
            value = value * value;
            let y = cs.alloc(|| format!("y{i}"), || Ok(value))?;
            cs.enforce(|| format!("square {i}"), |lc| lc + x, |lc| lc + x, |lc| lc + y);
            x = y;
        }
        let out = cs.alloc_input(|| "out", || Ok(value))?;
        cs.enforce(|| "out", |lc| lc + x, |lc| lc + CS::one(), |lc| lc + out);
        Ok(())
    }
}

fn parameters() -> groth16::Parameters<Bls12> {
    groth16::generate_random_parameters(Squarings, &mut ChaCha20Rng::seed_from_u64(SEED)).unwrap()
}

fn bytes_of(parameters: &groth16::Parameters<Bls12>) -> Vec<u8> {
    let mut out = Vec::new();
    parameters.write(&mut out).unwrap();
    out
}

/// A small monomial key on the root 7.
pub(crate) fn small_key() -> ProvingKey {
    params::read(&Source::from_bytes("small.params", bytes_of(&parameters())), None).unwrap()
}

fn points<C: Curve>(encoded: &EncodedPoints<C>) -> Vec<C::Affine> {
    decoded(encoded, Identity::Refused)
}

fn any_points<C: Curve>(encoded: &EncodedPoints<C>) -> Vec<C::Affine> {
    decoded(encoded, Identity::Allowed)
}

fn decoded<C: Curve>(encoded: &EncodedPoints<C>, identity: Identity) -> Vec<C::Affine> {
    let decode = |bytes| decode_checked::<C>(bytes, encoded.encoding(), identity).unwrap();
    encoded.bytes().chunks(C::BYTES).map(decode).collect()
}

#[test]
fn bellperson_s_key_is_read_point_for_point() {
    let theirs = parameters();
    let ours = small_key();
    let vk = &theirs.vk;
    assert_eq!((ours.vk.alpha_g1, ours.vk.beta_g1, ours.vk.delta_g1), (vk.alpha_g1, vk.beta_g1, vk.delta_g1));
    assert_eq!((ours.vk.beta_g2, ours.vk.gamma_g2, ours.vk.delta_g2), (vk.beta_g2, vk.gamma_g2, vk.delta_g2));
    assert_eq!(ours.vk.ic, vk.ic);
    assert_eq!(points(&ours.h), *theirs.h);
    assert_eq!(points(&ours.l.points), *theirs.l);
    assert_eq!(points(&ours.a.points), *theirs.a);
    assert_eq!(points(&ours.b1.points), *theirs.b_g1);
    assert_eq!(points(&ours.b2.points), *theirs.b_g2);
    assert_eq!((ours.inputs, ours.aux), (2, 4));
    assert_eq!((ours.quotient.log_n, ours.quotient.root), (3, Root::Seven));
    assert_eq!(ours.quotient.form, QuotientForm::Monomial);
    assert_eq!(ours.a.variables, Variables::FromDensity);
    assert_eq!(ours.l.variables, Variables::Range(2..6));
}

#[test]
fn our_key_is_read_by_bellperson() {
    let theirs = parameters();
    let out = written(|out| params::write(out, &small_key()));
    assert!(out == bytes_of(&theirs));
    assert!(groth16::Parameters::<Bls12>::read(&out[..], true).unwrap() == theirs);

    let out = written(|out| vk::write(out, &small_key().vk));
    assert!(groth16::VerifyingKey::<Bls12>::read(&out[..]).unwrap() == theirs.vk);
    assert_eq!(vk::read(&Source::from_bytes("k.vk", out)).unwrap(), small_key().vk);
}

/// The same key with its points held in the devices' form is written alike.
#[test]
fn points_are_converted_on_writing() {
    let key = small_key();
    let mut converted = key.clone();
    converted.h = EncodedPoints::from_points(&points(&key.h));
    converted.b2.points = EncodedPoints::from_points(&points(&key.b2.points));
    assert!(written(|out| params::write(out, &key)) == written(|out| params::write(out, &converted)));
    converted.h = EncodedPoints::from_points(&vec![G1Affine::default(); key.h.len()]);
    let error = params::write(&mut Vec::new(), &converted).unwrap_err().to_string();
    assert!(error.contains("G1 point 0") && error.contains("identity"), "{error}");
}

#[test]
fn proofs_in_bytes_are_bellperson_s() {
    let ours = json::read_proof(&fixture("mul3/proof_1.json")).unwrap();
    let theirs = groth16::Proof::<Bls12> { a: ours.a, b: ours.b, c: ours.c };
    let mut bytes = Vec::new();
    theirs.write(&mut bytes).unwrap();
    assert_eq!(bytes, proof::to_bytes(&ours).unwrap());
    assert_eq!(groth16::Proof::<Bls12>::read(&bytes[..]).unwrap(), theirs);
}

/// snarkjs's export ends in a record of the ceremony, which says that the root is 5; a key on that root gets one.
#[test]
fn root_of_unity_by_trailer_and_by_override() {
    let plain = bytes_of(&parameters());
    let read = |bytes: &[u8], root| params::read(&Source::from_bytes("k.params", bytes.to_vec()), root);
    let with_record = |contributions: u32, bytes: usize| {
        let mut out = plain.clone();
        out.extend([7; 64]);
        out.extend(contributions.to_be_bytes());
        out.resize(out.len() + bytes, 9);
        out
    };
    assert_eq!(read(&plain, None).unwrap().quotient.root, Root::Seven);
    assert_eq!(read(&plain, Some(Root::Five)).unwrap().quotient.root, Root::Five);
    for contributions in 0..3 {
        let file = with_record(contributions, contributions as usize * 544);
        assert_eq!(read(&file, None).unwrap().quotient.root, Root::Five);
        assert_eq!(read(&file, Some(Root::Seven)).unwrap().quotient.root, Root::Seven);
    }
    for (file, found) in [
        (with_record(1, 543), "611 bytes, 1 contributions stated"),
        (with_record(u32::MAX, 544), "4294967295 contributions stated"),
        ([&plain[..], &[0]].concat(), "1 bytes"),
    ] {
        let error = read(&file, None).unwrap_err().to_string();
        assert!(error.contains("after the queries") && error.contains(found), "{error}");
    }
    let five = read(&plain, Some(Root::Five)).unwrap();
    let again = written(|out| params::write(out, &five));
    assert_eq!(read(&again, None).unwrap().quotient.root, Root::Five);
    assert!(groth16::Parameters::<Bls12>::read(&again[..], true).unwrap() == parameters());
}

/// snarkjs's `zkey export bellman`: every point is that of the `.zkey`, identities included, and H another basis.
#[test]
fn snarkjs_s_export_is_read_with_its_identities() {
    for name in ["mul3", "unused_inputs"] {
        let file = fixture(&format!("../bellman/{name}_snarkjs.params"));
        let key = params::read(&file, None).unwrap();
        let zkey = zkey::read(&fixture(&format!("{name}/circuit.zkey"))).unwrap().key;
        assert_eq!((key.quotient.root, key.quotient.form), (Root::Five, QuotientForm::Monomial), "{name}");
        assert_eq!((key.quotient.log_n, &key.vk), (zkey.quotient.log_n, &zkey.vk), "{name}");
        assert_eq!(any_points(&key.a.points), any_points(&zkey.a.points), "{name}");
        assert_eq!(any_points(&key.b1.points), any_points(&zkey.b1.points), "{name}");
        assert_eq!(any_points(&key.b2.points), any_points(&zkey.b2.points), "{name}");
        assert_eq!(any_points(&key.l.points), any_points(&zkey.l.points), "{name}");
        assert_eq!(key.a.variables, zkey.a.variables, "{name}");
        assert!(any_points(&key.b1.points).contains(&G1Affine::default()), "{name}");
        cuzk_core::key::check_key(&key, &Default::default()).unwrap();
        // Nothing is copied: the points lie where the file has them.
        let at = key.b1.points.offset();
        assert_eq!(key.b1.points.bytes().as_ptr(), file.bytes()[at..].as_ptr(), "{name}");
        assert_eq!(key.b1.points.encoding(), PointEncoding::ZcashZeroIdentity, "{name}");
        // Written again, all is the same but the record of the ceremony and the flag that snarkjs leaves out.
        let out = written(|out| params::write(out, &key));
        let queries = out.len() - 68;
        let pairs = || out[..queries].iter().zip(file.bytes());
        assert!(pairs().all(|(ours, theirs)| ours == theirs || (*ours, *theirs) == (0x40, 0)), "{name}");
        assert!(pairs().any(|(ours, theirs)| ours != theirs), "{name}");
        assert_eq!(
            params::read(&Source::from_bytes("again", out), None).unwrap().a.variables,
            key.a.variables
        );
    }
}

#[test]
fn refusals_name_the_place() {
    let plain = bytes_of(&parameters());
    let key = small_key();
    let lengths = |name: &str| match name {
        "H" => key.h.offset() - 4,
        "L" => key.l.points.offset() - 4,
        "A" => key.a.points.offset() - 4,
        "B in G1" => key.b1.points.offset() - 4,
        _ => key.b2.points.offset() - 4,
    };
    let with_word = |at: usize, word: u32| {
        let mut bytes = plain.clone();
        bytes[at..at + 4].copy_from_slice(&word.to_be_bytes());
        params::read(&Source::from_bytes("k.params", bytes), None).unwrap_err().to_string()
    };
    for name in ["H", "L", "A", "B in G1", "B in G2"] {
        let error = with_word(lengths(name), u32::MAX);
        assert!(error.contains(&format!("length of {name} at byte {}", lengths(name))), "{error}");
        assert!(error.contains("found 4294967295 points"), "{error}");
    }
    assert!(with_word(lengths("H"), 6).contains("length of H at byte"), "6 + 1 is no power of two");
    assert!(with_word(864, 0).contains("number of IC points at byte 864: expected 1 to"));

    // The first point of every kind in the verifying key: identity, off the curve, compressed, not below p.
    let with_point = |at: usize, edit: fn(&mut [u8])| {
        let mut bytes = plain.clone();
        edit(&mut bytes[at..at + 96]);
        vk::read_any(&Source::from_bytes("k.params", bytes)).unwrap_err().to_string()
    };
    let identity = |p: &mut [u8]| {
        p.fill(0);
        p[0] = 0x40;
    };
    for (at, name) in [(0, "alpha in G1"), (96, "beta in G1"), (576, "delta in G1"), (868, "IC point 0")] {
        assert!(with_point(at, identity).contains(&format!("{name} at byte {at}")), "{name}");
        let error = with_point(at, |p| p[95] ^= 1);
        assert!(error.contains(name) && error.contains("not on the curve"), "{error}");
        let error = with_point(at, |p| p[48..].fill(0x1f));
        assert!(error.contains(name) && error.contains("flag") || error.contains("not below p"), "{error}");
    }
    let error = params::read(
        &Source::from_bytes("k.params", {
            let mut b = plain.clone();
            b[0] |= 0x80;
            b
        }),
        None,
    );
    assert!(error.unwrap_err().to_string().contains("compressed"));
}

#[test]
fn a_key_of_the_other_form_is_not_written() {
    let zkey = zkey::read(&fixture("mul3/circuit.zkey")).unwrap();
    let error = params::write(&mut Vec::new(), &zkey.key).unwrap_err().to_string();
    assert!(error.contains("expected Monomial, found OddCoset"), "{error}");
    let error = zkey::write(&mut Vec::new(), &small_key(), &zkey.matrices).unwrap_err().to_string();
    assert!(error.contains("OddCoset on the root 5"), "{error}");
    let vk = json::read_vk(&fixture("mul3/verification_key.json")).unwrap();
    let error = vk::write(&mut Vec::new(), &vk).unwrap_err().to_string();
    assert!(error.contains("beta in G1"), "{error}");
    let _: (G1Affine, G2Affine) = (vk.beta_g1, vk.beta_g2);
}

/// The fixtures beside circom's, which fuzzing starts from, are the key above and a proof of mul3.
#[test]
fn fixtures_are_reproducible() {
    let p = json::read_proof(&fixture("mul3/proof_1.json")).unwrap();
    for (name, bytes) in [
        ("squarings.params", bytes_of(&parameters())),
        ("squarings.vk", written(|out| vk::write(out, &small_key().vk))),
        ("mul3.proof", proof::to_bytes(&p).unwrap().to_vec()),
        ("mul3.gnark", gnark::to_bytes(&p).unwrap().to_vec()),
    ] {
        assert!(fixture(&format!("../bellman/{name}")).bytes() == bytes, "{name}");
    }
}
