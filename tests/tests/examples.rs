//! The examples run, by the commands that the README gives.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::process::Command;

fn run(example: &str) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["run", "--release", "--quiet", "-p", "cuzk-core", "--example", example])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .expect("cargo");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{example}: {errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn own_circuit_and_library_calls() {
    assert!(run("own_circuit").contains("proved that some x has x^3 + x + 5 = 35"));
    let calls = run("library_calls");
    for line in ["msm:", "ntt:", "setup, prove, verify:"] {
        assert!(calls.contains(line), "{calls}");
    }
}
