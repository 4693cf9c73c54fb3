//! Every file of malformed/ gives what its index says: the exit code, within a second, without a crash and without memory beyond
//! ten times the file and 64 MB, and writes a proof only where it is accepted.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod common;

use std::time::Duration;

use common::{Bench, fixture, read_json};

#[test]
fn every_file_of_the_index() {
    let baseline = Bench::new().run(["--version"]).code(0).peak;
    let index = read_json(fixture("malformed/index.json"));
    let cases = index.as_array().unwrap();
    assert_eq!(
        cases.len(),
        std::fs::read_dir(fixture("malformed")).unwrap().count() - 1,
        "the index lists every file"
    );
    for case in cases {
        let bench = Bench::new();
        let file = case["file"].as_str().unwrap();
        let path = fixture("malformed").join(file);
        let arguments = case["cmd"].as_str().unwrap().split(' ').map(|word| match word {
            "FILE" => path.clone(),
            "PROOF" => bench.path("proof.json"),
            "PUBLIC" => bench.path("public.json"),
            word if word.contains('/') => fixture(word),
            word => word.into(),
        });
        let run = bench.run(arguments);
        let codes: Vec<i64> = case["exit"].as_array().unwrap().iter().map(|c| c.as_i64().unwrap()).collect();
        let code = run.code.map(i64::from);
        assert!(
            code.is_some_and(|code| codes.contains(&code)),
            "{file}: {code:?}, expected {codes:?}: {}",
            run.stderr
        );
        assert!(run.took < Duration::from_secs(1), "{file}: took {:?}", run.took);
        let limit = baseline + 10 * std::fs::metadata(&path).unwrap().len() + (64 << 20);
        assert!(run.peak <= limit, "{file}: {} bytes of memory, {limit} allowed", run.peak);
        let proves = case["cmd"].as_str().unwrap().starts_with("prove");
        assert_eq!(bench.path("proof.json").exists(), proves && code == Some(0), "{file}");
        if code == Some(0) && proves {
            bench.line("verify circom @mul3/verification_key.json public.json proof.json").code(0);
        }
        if code == Some(2) {
            run.says(&[file]);
        }
    }
}
