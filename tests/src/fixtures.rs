//! The circom fixtures: circuits, keys, witnesses and proofs made by circom and snarkjs.

use std::path::{Path, PathBuf};

use cuzk_core::Proof;
use cuzk_core::curve::Scalar;
use cuzk_core::format::{Source, json, r1cs, wtns, zkey};
use cuzk_core::prover::Blinding;
use ff::PrimeField;

/// A folder of tests/fixtures/circom.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// Its name.
    pub name: String,
    dir: PathBuf,
}

/// tests/fixtures/circom.
pub fn circom_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/circom")
}

/// Every circuit of tests/fixtures/circom, by name.
pub fn all() -> Vec<Fixture> {
    let mut found: Vec<Fixture> = std::fs::read_dir(circom_dir())
        .expect("tests/fixtures/circom")
        .filter_map(|entry| {
            let dir = entry.expect("entry of tests/fixtures/circom").path();
            let name = dir.file_name()?.to_str()?.to_string();
            dir.join("circuit.zkey").exists().then_some(Fixture { name, dir })
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(found.len() >= 13, "only {} circom fixtures found", found.len());
    found
}

/// One of them.
pub fn named(name: &str) -> Fixture {
    let dir = circom_dir().join(name);
    assert!(dir.join("circuit.zkey").exists(), "no fixture {name}");
    Fixture { name: name.into(), dir }
}

impl Fixture {
    /// A file of the folder.
    pub fn path(&self, file: &str) -> PathBuf {
        self.dir.join(file)
    }
    /// Whether it is there.
    pub fn has(&self, file: &str) -> bool {
        self.path(file).exists()
    }
    fn source(&self, file: &str) -> Source {
        Source::open(&self.path(file)).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }
    /// Key and matrices A, B.
    pub fn zkey(&self) -> zkey::ZKey {
        zkey::read(&self.source("circuit.zkey")).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }
    /// The circuit.
    pub fn r1cs(&self) -> r1cs::R1cs {
        r1cs::read(&self.source("circuit.r1cs")).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }
    /// "1", "2" or "invalid".
    pub fn witness(&self, which: &str) -> Vec<Scalar> {
        let file = format!("witness_{which}.wtns");
        wtns::read(&self.source(&file)).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }
    /// Any of the JSON proofs.
    pub fn proof(&self, file: &str) -> Proof {
        json::read_proof(&self.source(file)).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }
    /// Public inputs of witness "1" or "2".
    pub fn public(&self, which: &str) -> Vec<Scalar> {
        let file = format!("public_{which}.json");
        json::read_public(&self.source(&file)).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }
    /// A field of any JSON file.
    pub fn json(&self, file: &str) -> serde_json::Value {
        let text = std::fs::read_to_string(self.path(file)).expect("JSON file");
        serde_json::from_str(&text).expect("JSON")
    }
    /// r and s of proof_1_fixed1.json.
    pub fn blinding(&self) -> Blinding {
        let proof = self.json("proof_1_fixed1.json");
        let [r, s] = ["r", "s"].map(|name| {
            let text = proof[name].as_str().expect("r and s");
            Scalar::from_str_vartime(text).expect("a decimal number")
        });
        Blinding::Fixed { r, s }
    }
    /// First violated constraint of witness_invalid, where there is one.
    pub fn invalid_constraint(&self) -> Option<usize> {
        self.json("info.json")["invalidConstraint"].as_u64().map(|i| i as usize)
    }
}
