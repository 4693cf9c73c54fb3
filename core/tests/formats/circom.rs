//! `.r1cs`, `.wtns` and `.zkey` fixtures: counts, values, agreement between files, and writing back.

use std::collections::BTreeMap;

use cuzk_core::circuit::{Matrices, Matrix};
use cuzk_core::curve::Scalar;
use cuzk_core::format::{r1cs, wtns, zkey};
use ff::{Field, PrimeField};

use crate::{CIRCUITS, fixture, json, written};

/// The rows of a matrix with their coefficients, whatever the dictionary's order.
fn rows(matrices: &Matrices, matrix: &Matrix) -> Vec<BTreeMap<u32, [u8; 32]>> {
    let mut out = Vec::new();
    matrix.for_each_row(|_, entries| {
        out.push(entries.map(|e| (e.col, matrices.dictionary[e.code as usize].to_repr())).collect());
    });
    out
}

/// M z, by hand.
fn product(matrices: &Matrices, matrix: &Matrix, z: &[Scalar]) -> Vec<Scalar> {
    let mut out = Vec::new();
    matrix.for_each_row(|_, entries| {
        out.push(entries.map(|e| matrices.dictionary[e.code as usize] * z[e.col as usize]).sum());
    });
    out
}

#[test]
fn counts_are_those_of_info_json() {
    for name in CIRCUITS {
        let info = json(&format!("{name}/info.json"));
        let count = |key: &str| info[key].as_u64().unwrap() as usize;
        let circuit = r1cs::read(&fixture(&format!("{name}/circuit.r1cs"))).unwrap();
        let h = circuit.header;
        assert_eq!(h.constraints as usize, count("constraints"), "{name}");
        assert_eq!(h.wires as usize, count("wires"), "{name}");
        assert_eq!(
            [h.pub_out, h.pub_in, h.prv_in].map(|n| n as usize),
            [count("nPubOut"), count("nPubIn"), count("nPrvIn")],
            "{name}"
        );
        assert_eq!(h.labels as usize, count("nLabels"), "{name}");
        let m = &circuit.matrices;
        let nnz = m.a.nnz() + m.b.nnz() + m.c.as_ref().unwrap().nnz();
        assert_eq!(nnz as usize - m.inputs, count("nnz"), "{name}");
        assert_eq!(circuit.custom_gates > 0, name == "custom_gate", "{name}");

        let key = zkey::read(&fixture(&format!("{name}/circuit.zkey"))).unwrap();
        assert_eq!(1usize << key.key.quotient.log_n, count("domain"), "{name}");
        assert_eq!(key.matrices.constraints, count("constraints"), "{name}");
        assert_eq!(key.key.variables(), count("wires"), "{name}");
        assert!(!key.key.is_forgeable(), "{name} had a phase 2 contribution");

        let z = wtns::read(&fixture(&format!("{name}/witness_1.wtns"))).unwrap();
        assert_eq!(z.len(), count("wires"), "{name}");
        let bits = z.iter().filter(|v| **v == Scalar::ZERO || **v == Scalar::ONE).count();
        assert_eq!(bits, count("zeroOne"), "{name}");
    }
}

#[test]
fn matrices_of_r1cs_and_zkey_agree() {
    for name in CIRCUITS {
        let circuit = r1cs::read(&fixture(&format!("{name}/circuit.r1cs"))).unwrap().matrices;
        let key = zkey::read(&fixture(&format!("{name}/circuit.zkey"))).unwrap().matrices;
        assert_eq!(
            (circuit.constraints, circuit.inputs, circuit.aux),
            (key.constraints, key.inputs, key.aux),
            "{name}"
        );
        assert!(rows(&circuit, &circuit.a) == rows(&key, &key.a), "{name}: A");
        assert!(rows(&circuit, &circuit.b) == rows(&key, &key.b), "{name}: B");
        assert_eq!(key.c, None, "{name}");
    }
}

#[test]
fn products_are_those_of_debug_json() {
    let mut seen = 0;
    for name in CIRCUITS.iter().filter(|name| crate::path(name).join("debug.json").exists()) {
        let debug = json(&format!("{name}/debug.json"));
        let expected = |key: &str| -> Vec<Scalar> {
            let values = debug[key].as_array().unwrap();
            values.iter().map(|v| Scalar::from_str_vartime(v.as_str().unwrap()).unwrap()).collect()
        };
        let z = wtns::read(&fixture(&format!("{name}/witness_1.wtns"))).unwrap();
        assert_eq!(z, expected("witness"), "{name}");
        let circuit = r1cs::read(&fixture(&format!("{name}/circuit.r1cs"))).unwrap().matrices;
        let key = zkey::read(&fixture(&format!("{name}/circuit.zkey"))).unwrap().matrices;
        for (from, m) in [("r1cs", &circuit), ("zkey", &key)] {
            for (which, matrix, values) in
                [("A", &m.a, expected("A_rows")), ("B", &m.b, expected("B_rows"))].into_iter()
            {
                let mut found = product(m, matrix, &z);
                found.resize(values.len(), Scalar::ZERO);
                assert_eq!(found, values, "{name}: {which} of the {from}");
            }
        }
        let mut c = product(&circuit, circuit.c.as_ref().unwrap(), &z);
        let values = expected("C_rows");
        c.resize(values.len(), Scalar::ZERO);
        assert_eq!(c, values, "{name}: C");
        seen += 1;
    }
    assert_eq!(seen, 7, "fixtures with debug.json");
}

#[test]
fn first_violated_constraint_is_that_of_info_json() {
    for name in CIRCUITS.iter().filter(|name| crate::path(name).join("witness_invalid.wtns").exists()) {
        let m = r1cs::read(&fixture(&format!("{name}/circuit.r1cs"))).unwrap().matrices;
        let z = wtns::read(&fixture(&format!("{name}/witness_invalid.wtns"))).unwrap();
        let (a, b) = (product(&m, &m.a, &z), product(&m, &m.b, &z));
        let c = product(&m, m.c.as_ref().unwrap(), &z);
        let first = (0..m.constraints).find(|&i| a[i] * b[i] != c[i]);
        let expected = json(&format!("{name}/info.json"))["invalidConstraint"].as_u64().unwrap();
        assert_eq!(first, Some(expected as usize), "{name}");
    }
}

/// Section 4 of a file in snarkjs's order of sections, and the range of its entries.
fn entries(bytes: &[u8]) -> (std::ops::Range<usize>, Vec<&[u8]>) {
    let mut at = 12;
    loop {
        let size = u64::from_le_bytes(bytes[at + 4..at + 12].try_into().unwrap()) as usize;
        if bytes[at] == 4 {
            let range = at + 16..at + 12 + size;
            let mut entries: Vec<&[u8]> = bytes[range.clone()].chunks(44).collect();
            entries.sort();
            return (range, entries);
        }
        at += 12 + size;
    }
}

/// snarkjs's own file comes out again byte for byte, up to the order of a row's terms and the record of its ceremony.
#[test]
fn zkey_is_written_as_snarkjs_writes_it() {
    for name in CIRCUITS {
        let source = fixture(&format!("{name}/circuit.zkey"));
        let key = zkey::read(&source).unwrap();
        let out = written(|out| zkey::write(out, &key.key, &key.matrices));
        let (range, coefficients) = entries(source.bytes());
        assert!(entries(&out) == (range.clone(), coefficients), "{name}: section 4");
        let common = out.len() - 80;
        assert!(out[..range.start] == source.bytes()[..range.start], "{name}: sections 1 to 3");
        assert!(out[range.end..common] == source.bytes()[range.end..common], "{name}: sections 5 to 9");
        // Section 10: type, size 68, hash, no contributions.
        assert_eq!(out[common..common + 12], [10, 0, 0, 0, 68, 0, 0, 0, 0, 0, 0, 0], "{name}");
        assert!(out[common + 12..].iter().all(|b| *b == 0), "{name}");

        let again = zkey::read(&cuzk_core::format::Source::from_bytes("again", out)).unwrap();
        assert!(rows(&again.matrices, &again.matrices.a) == rows(&key.matrices, &key.matrices.a), "{name}");
        assert!(rows(&again.matrices, &again.matrices.b) == rows(&key.matrices, &key.matrices.b), "{name}");
        assert_eq!(again.key.vk, key.key.vk, "{name}");
        assert_eq!(again.key.quotient, key.key.quotient, "{name}");
    }
}

#[test]
fn wtns_is_written_as_circom_writes_it() {
    for name in CIRCUITS {
        for file in ["witness_1.wtns", "witness_2.wtns"] {
            let source = fixture(&format!("{name}/{file}"));
            let z = wtns::read(&source).unwrap();
            assert!(written(|out| wtns::write(out, &z)) == source.bytes(), "{name}/{file}");
            assert_eq!(wtns::read_header(&source).unwrap().values as usize, z.len());
        }
    }
}
