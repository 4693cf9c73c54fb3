//! What is said about files of every format.

use cuzk_core::format::sniff::{Kind, Warning, inspect};
use cuzk_core::format::{Source, gnark, json, params, proof, vk, zkey};
use cuzk_core::progress::Control;

use crate::{bellman, fixture, written};

fn content(source: &Source) -> (Kind, serde_json::Value, Vec<Warning>) {
    let i = inspect(source, &Control::default()).unwrap();
    assert_eq!(i.sha256.len(), 64);
    assert_eq!(i.bytes, source.bytes().len() as u64);
    (i.format, serde_json::to_value(i.content).unwrap(), i.warnings)
}

#[test]
fn circom_files() {
    let (kind, c, warnings) = content(&fixture("mul3/circuit.r1cs"));
    assert_eq!((kind, warnings), (Kind::R1cs, vec![]));
    assert_eq!(
        (&c["header"]["wires"], &c["matrices"]["nnz_a"], &c["matrices"]["nnz_c"]),
        (&8.into(), &3.into(), &3.into())
    );

    let (_, _, warnings) = content(&fixture("custom_gate/circuit.r1cs"));
    assert_eq!(warnings, [Warning::CustomGates { uses: 1 }]);

    let (kind, c, _) = content(&fixture("sparse/witness_1.wtns"));
    assert_eq!((kind, &c["values"], &c["bits"]), (Kind::Wtns, &1060.into(), &1057.into()));

    let (kind, c, warnings) = content(&fixture("mul3/circuit.zkey"));
    assert_eq!((kind, warnings), (Kind::Zkey, vec![]));
    assert_eq!(c["points"], serde_json::json!({"h": 8, "l": 6, "a": 8, "b1": 8, "b2": 8}));
    assert_eq!(c["quotient"], serde_json::json!({"log_n": 3, "root": "5", "form": "odd-coset"}));
    assert_eq!((&c["matrices"]["constraints"], &c["matrices"]["density_b"]), (&3.into(), &3.into()));

    let i = inspect(&fixture("mul3/circuit.zkey"), &Control::default()).unwrap();
    assert_eq!(i.sha256, "c7b4a6c86cadc024d88c81bd917f6455db0bf71652e26d6a7c5d3ab61a915fd9");
}

#[test]
fn other_files() {
    let (kind, c, _) = content(&fixture("mul3/verification_key.json"));
    assert_eq!((kind, &c["public"]), (Kind::VerificationKeyJson, &1.into()));
    let (kind, c, _) = content(&fixture("no_public/public_1.json"));
    assert_eq!((kind, &c["values"]), (Kind::PublicJson, &0.into()));

    let file = fixture("mul3/proof_1.json");
    let p = json::read_proof(&file).unwrap();
    let raw = Source::from_bytes("p", proof::to_bytes(&p).unwrap().to_vec());
    let long = Source::from_bytes("p", gnark::to_bytes(&p).unwrap().to_vec());
    for (source, form) in [(file, "snarkjs"), (raw, "raw"), (long, "gnark")] {
        let (kind, c, _) = content(&source);
        assert_eq!((kind, &c["form"]), (Kind::Proof, &form.into()));
    }

    let key = bellman::small_key();
    let file = Source::from_bytes("k.params", written(|out| params::write(out, &key)));
    let (kind, c, _) = content(&file);
    assert_eq!(
        (kind, &c["quotient"]["root"], &c["quotient"]["form"]),
        (Kind::Params, &"7".into(), &"monomial".into())
    );
    let (kind, _, _) = content(&Source::from_bytes("k.vk", written(|out| vk::write(out, &key.vk))));
    assert_eq!(kind, Kind::Vk);
}

#[test]
fn a_key_without_contribution_is_forgeable() {
    use group::prime::PrimeCurveAffine;
    let zkey::ZKey { mut key, matrices } = zkey::read(&fixture("mul3/circuit.zkey")).unwrap();
    key.vk.delta_g1 = PrimeCurveAffine::generator();
    key.vk.delta_g2 = PrimeCurveAffine::generator();
    let file = Source::from_bytes("k.zkey", written(|out| zkey::write(out, &key, &matrices)));
    assert_eq!(content(&file).2, [Warning::Forgeable]);
}

#[test]
fn nothing_that_is_read_here() {
    for (bytes, expected) in [
        (&b""[..], "an empty file"),
        (b"ptau\x01\0\0\0", "powers of tau"),
        (b"{\"a\": 1}", "neither pi_a nor vk_alpha_1"),
        (b"version https://git-lfs.github.com/spec/v1\n", "alpha in G1"),
    ] {
        let error =
            inspect(&Source::from_bytes("f", bytes.to_vec()), &Control::default()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let error = vk::read_any(&fixture("mul3/witness_1.wtns")).unwrap_err().to_string();
    assert!(error.contains("expected a verifying key, or a key that has one, found wtns"), "{error}");
}
