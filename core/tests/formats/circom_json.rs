//! snarkjs's JSON: fixtures, the spellings that snarkjs accepts, and what must be refused.

use cuzk_core::curve::{Element, G1Affine, G2Affine, Scalar};
use cuzk_core::format::proof::{self, ProofFormat};
use cuzk_core::format::{Source, gnark, json, wtns, zkey};
use serde_json::{Value, json};

use crate::{CIRCUITS, fixture, json as value, written};

type Edit = fn(&mut Value);

fn source(value: &Value) -> Source {
    Source::from_bytes("t.json", serde_json::to_vec(value).unwrap())
}

#[test]
fn verification_key_is_that_of_the_zkey_and_is_written_as_snarkjs_writes_it() {
    for name in CIRCUITS {
        let file = fixture(&format!("{name}/verification_key.json"));
        let vk = json::read_vk(&file).unwrap();
        let mut from_zkey = zkey::read_vk(&fixture(&format!("{name}/circuit.zkey"))).unwrap();
        let out = written(|out| json::write_vk(out, &from_zkey));
        assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(file.bytes()), "{name}");
        from_zkey.beta_g1 = G1Affine::zeroed();
        from_zkey.delta_g1 = G1Affine::zeroed();
        assert_eq!(vk, from_zkey, "{name}");
    }
}

#[test]
fn proofs_and_public_values_are_written_as_snarkjs_writes_them() {
    for name in CIRCUITS {
        for run in 1..=2 {
            let file = fixture(&format!("{name}/proof_{run}.json"));
            let proof = json::read_proof(&file).unwrap();
            let out = written(|out| json::write_proof(out, &proof));
            assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(file.bytes()), "{name}");

            let raw = proof::to_bytes(&proof).unwrap();
            assert_eq!(proof::from_bytes(&raw).unwrap(), proof, "{name}");
            let long = gnark::to_bytes(&proof).unwrap();
            assert_eq!((&long[..192], gnark::from_bytes(&long).unwrap()), (&raw[..], proof), "{name}");
            for (bytes, format) in [
                (out, ProofFormat::Snarkjs),
                (raw.to_vec(), ProofFormat::Raw),
                (long.to_vec(), ProofFormat::Gnark),
            ] {
                assert_eq!(
                    proof::read_any(&Source::from_bytes("p", bytes)).unwrap(),
                    (proof, format),
                    "{name}"
                );
            }

            let file = fixture(&format!("{name}/public_{run}.json"));
            let public = json::read_public(&file).unwrap();
            assert_eq!(written(|out| json::write_public(out, &public)), file.bytes(), "{name}");
            let z = wtns::read(&fixture(&format!("{name}/witness_{run}.wtns"))).unwrap();
            assert_eq!(public, z[1..=public.len()], "{name}");
        }
    }
}

#[test]
fn identity_is_a_value_of_json_and_refused_in_bytes() {
    let file = fixture("no_constraints/proof_1_fixed0.json");
    let proof = json::read_proof(&file).unwrap();
    assert_eq!(proof.c, G1Affine::zeroed());
    let again = Source::from_bytes("again", written(|out| json::write_proof(out, &proof)));
    assert_eq!(json::read_proof(&again).unwrap(), proof);
    assert!(
        proof::to_bytes(&proof)
            .unwrap_err()
            .to_string()
            .contains("C: expected a point that is not the identity")
    );
    assert!(gnark::to_bytes(&proof).is_err());

    let mut good = proof::to_bytes(&json::read_proof(&fixture("mul3/proof_1.json")).unwrap()).unwrap();
    good[144..].fill(0);
    good[144] = 0xc0;
    let error = proof::from_bytes(&good).unwrap_err().to_string();
    assert!(error.contains("C at byte 144") && error.contains("identity"), "{error}");

    let mut proof = json::read_proof(&fixture("mul3/proof_1.json")).unwrap();
    proof.b = G2Affine::zeroed();
    let again = Source::from_bytes("again", written(|out| json::write_proof(out, &proof)));
    assert_eq!(json::read_proof(&again).unwrap(), proof);
}

#[test]
fn spellings_that_snarkjs_accepts() {
    let original = json::read_proof(&fixture("mul3/proof_1.json")).unwrap();
    let proof = value("mul3/proof_1.json");
    let edits: [(&str, Edit); 6] = [
        ("no protocol", |p| drop(p.as_object_mut().unwrap().remove("protocol"))),
        ("no curve", |p| drop(p.as_object_mut().unwrap().remove("curve"))),
        ("other spelling of the curve", |p| p["curve"] = json!("BLS12-381")),
        ("no z", |p| drop(p["pi_a"].as_array_mut().unwrap().pop())),
        ("no z in G2", |p| drop(p["pi_b"].as_array_mut().unwrap().pop())),
        ("unknown fields", |p| p["r"] = json!({"nested": [1, 2]})),
    ];
    for (what, edit) in edits {
        let mut edited = proof.clone();
        edit(&mut edited);
        assert_eq!(json::read_proof(&source(&edited)).unwrap(), original, "{what}");
    }
    let x = proof["pi_a"][0].as_str().unwrap();
    let text = proof.to_string();
    let number = text.replace(&format!("\"{x}\""), x);
    assert_ne!(number, text);
    let read = |text: &str| json::read_proof(&Source::from_bytes("t.json", text.as_bytes().to_vec()));
    assert_eq!(read(&number).unwrap(), original, "a bare number");
    let hex = format!("\"0x{:x}\"", x.parse::<num_bigint::BigUint>().unwrap());
    assert_eq!(read(&text.replace(&format!("\"{x}\""), &hex)).unwrap(), original, "hexadecimal");

    let public = |text: &str| json::read_public(&Source::from_bytes("public.json", text.as_bytes().to_vec()));
    let expected = vec![Scalar::from(210)];
    for text in ["[\"210\"]", "[210]", " [\"0xd2\"]\n", "[\"00210\"]"] {
        assert_eq!(public(text).unwrap(), expected, "{text}");
    }
    assert_eq!(public("[]").unwrap(), []);
    assert_eq!(public("null").unwrap(), []);
}

/// Everything wrong is refused by name.
#[test]
fn refusals_of_proofs() {
    let proof = value("mul3/proof_1.json");
    let p = num_bigint::BigUint::parse_bytes(
        b"1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab",
        16,
    )
    .unwrap();
    let plus_p = |text: &Value| {
        json!((text.as_str().unwrap().parse::<num_bigint::BigUint>().unwrap() + &p).to_string())
    };
    let cases: Vec<(&str, Value, &str)> = vec![
        ("curve", json!("bn128"), "curve: expected \"bls12381\", found \"bn128\""),
        ("protocol", json!("plonk"), "protocol: expected \"groth16\", found \"plonk\""),
        ("pi_a/0", plus_p(&proof["pi_a"][0]), "pi_a[0]: expected a coordinate below p"),
        ("pi_b/1/0", plus_p(&proof["pi_b"][1][0]), "pi_b[1][0]: expected a coordinate below p"),
        ("pi_a/1", json!("5"), "pi_a: expected a point of G1, found not on the curve"),
        ("pi_a/2", json!("2"), "pi_a[2]: expected 1 or 0"),
        ("pi_a/2", json!("0"), "pi_a: expected the identity as (0, 1, 0)"),
        ("pi_c", json!(["0", "0"]), "pi_c: expected a point of G1, found not on the curve"),
        ("pi_c", json!(["1"]), "pi_c: expected 2 or 3 coordinates, found 1"),
        ("pi_c", json!("x"), "pi_c: expected well-formed JSON"),
        ("pi_a/0", json!(-1), "pi_a[0]: expected an integer"),
        ("pi_a/0", json!(1.5), "pi_a[0]: expected an integer"),
        ("pi_a/0", json!("9".repeat(5000)), "(5002 bytes)"),
        (
            "pi_b",
            json!([proof["pi_b"][1], proof["pi_b"][0]]),
            "pi_b: expected a point of G2, found not on the curve",
        ),
    ];
    for (pointer, replacement, expected) in cases {
        let mut edited = proof.clone();
        *edited.pointer_mut(&format!("/{pointer}")).unwrap() = replacement;
        let error = json::read_proof(&source(&edited)).unwrap_err().to_string();
        assert!(error.starts_with("t.json: ") && error.contains(expected), "{pointer}: {error}");
    }
    // EVM order of the coordinates of Fp2.
    let mut edited = proof.clone();
    for element in edited["pi_b"].as_array_mut().unwrap().iter_mut().take(2) {
        element.as_array_mut().unwrap().reverse();
    }
    assert!(json::read_proof(&source(&edited)).unwrap_err().to_string().contains("pi_b"));
    // On the curve, outside the subgroup: x = 4, y^2 = 4^3 + 4 = 68.
    let error = json::read_proof(&source(&{
        let mut edited = proof.clone();
        edited["pi_a"] = json!(["4", sqrt(68, &p).to_string(), "1"]);
        edited
    }));
    assert!(error.unwrap_err().to_string().contains("not in the subgroup"));
}

/// A square root modulo p, where p = 3 mod 4.
fn sqrt(n: u32, p: &num_bigint::BigUint) -> num_bigint::BigUint {
    let root = num_bigint::BigUint::from(n).modpow(&((p + 1u32) >> 2), p);
    assert_eq!(&root * &root % p, n.into());
    root
}

#[test]
fn refusals_of_public_values_and_keys() {
    let r = "52435875175126190479447740508185965837690552500527637822603658699938581184513";
    let public = |text: &str| json::read_public(&Source::from_bytes("public.json", text.as_bytes().to_vec()));
    let error = public(&format!("[\"1\",\"{r}\"]")).unwrap_err().to_string();
    assert!(
        error.contains(&format!("public value 1: expected a value below r = {r}, found \"{r}\"")),
        "{error}"
    );
    for text in ["", "{}", "[1,", "[[1]]", "[null]", "[\"\"]", "[-1]", "[1] x", "\"1\"", "7", "[1]\u{0}"] {
        assert!(public(text).is_err(), "{text:?}");
    }
    assert!(public(&"[".repeat(1_000_000)).is_err(), "deep nesting");
    assert!(public(&"[[".repeat(1000)).is_err());

    let vk = value("mul3/verification_key.json");
    let cases: Vec<(&str, Value, &str)> = vec![
        ("/nPublic", json!(2), "nPublic: expected 1, one less than IC has points, found 2"),
        ("/IC/1", json!(["0", "1", "0"]), "IC[1]: expected a point of G1, found the identity"),
        (
            "/vk_delta_2",
            json!([["0", "0"], ["1", "0"], ["0", "0"]]),
            "vk_delta_2: expected a point of G2, found the identity",
        ),
        ("/IC", json!([]), "IC: expected at least one point"),
        ("/curve", json!("bn128"), "curve: expected"),
    ];
    for (pointer, replacement, expected) in cases {
        let mut edited = vk.clone();
        *edited.pointer_mut(pointer).unwrap() = replacement;
        let error = json::read_vk(&source(&edited)).unwrap_err().to_string();
        assert!(error.contains(expected), "{pointer}: {error}");
    }
    let mut edited = vk.clone();
    edited.as_object_mut().unwrap().remove("vk_beta_2");
    assert!(json::read_vk(&source(&edited)).unwrap_err().to_string().contains("vk_beta_2"));
}

#[test]
fn refusals_of_bytes() {
    let proof = json::read_proof(&fixture("mul3/proof_1.json")).unwrap();
    let good = proof::to_bytes(&proof).unwrap();
    for len in [0, 191, 193, 243, 245, 384] {
        let error = proof::read_any(&Source::from_bytes("p", vec![0x80; len])).unwrap_err().to_string();
        assert!(error.contains(&format!("found {len} bytes")), "{error}");
    }
    let broken = |at: usize, value: u8| {
        let mut bytes = good;
        bytes[at] = value;
        proof::from_bytes(&bytes).unwrap_err().to_string()
    };
    assert!(
        broken(48, good[48] & 0x7f).contains("B at byte 48")
            && broken(0, good[0] & 0x7f).contains("not compressed")
    );
    assert!(broken(0, 0xff).contains("A at byte 0"));
    let mut long = gnark::to_bytes(&proof).unwrap();
    long[195] = 1;
    assert!(
        gnark::from_bytes(&long)
            .unwrap_err()
            .to_string()
            .contains("number of commitments at byte 192: expected 0, found 1")
    );
    long[195] = 0;
    long[200] = 1;
    assert!(gnark::from_bytes(&long).unwrap_err().to_string().contains("proof of knowledge at byte 196"));
}
