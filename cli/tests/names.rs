//! File names are bytes: what is not UTF-8 is written, read and remembered like any other name.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod common;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use common::{Bench, fixture};

fn odd(extension: &str) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(&[b"odd-\xff.", extension.as_bytes()].concat()))
}

#[test]
fn names_that_are_not_utf8() {
    let bench = Bench::new();
    let word = PathBuf::from;
    std::fs::copy(fixture("mul3/circuit.zkey"), bench.dir.path().join(odd("zkey"))).unwrap();
    let (witness, r1cs) = (fixture("mul3/witness_1.wtns"), fixture("mul3/circuit.r1cs"));
    for json in ["--quiet", "--json"] {
        let prove =
            vec![word("prove"), word("circom"), odd("zkey"), witness.clone(), odd("json"), word(json)];
        let run = bench.run(prove).code(0);
        assert!(!run.stderr.contains("cannot remember"), "{}", run.stderr);
        assert!(bench.dir.path().join(odd("json")).exists(), "the proof must be where it was asked for");
        bench
            .run(vec![word("export"), word("vk"), odd("zkey"), word("--out"), odd("vk"), word(json)])
            .code(0);
        bench.run(vec![word("inspect"), odd("zkey"), word(json)]).code(0);
        let setup =
            [word("setup"), word("r1cs"), r1cs.clone(), word("--out"), odd("params"), word("--test-seed")];
        bench.run(setup.into_iter().chain([word(json)]).collect::<Vec<_>>()).code(0);
    }
}
