//! Proofs of every circom fixture through the binary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod common;

use common::{Bench, CIRCUITS, fixture, points, read_json};

#[test]
fn both_witnesses_of_every_circuit() {
    let bench = Bench::new();
    for name in CIRCUITS {
        for witness in [1, 2] {
            let base = format!(
                "prove circom @{name}/circuit.zkey @{name}/witness_{witness}.wtns proof.json public.json"
            );
            bench.line(&base).code(0);
            let public = read_json(bench.path("public.json"));
            assert_eq!(
                public,
                read_json(fixture(&format!("{name}/public_{witness}.json"))),
                "{name} {witness}"
            );
            bench
                .line(&format!("verify circom @{name}/verification_key.json public.json proof.json"))
                .code(0);
            bench.line(&format!("{base} --r1cs @{name}/circuit.r1cs")).code(0);
            bench.line(&format!("check @{name}/circuit.r1cs @{name}/witness_{witness}.wtns")).code(0);
        }
    }
}

#[test]
fn fixed_blinding_gives_the_fixtures_points() {
    let bench = Bench::new();
    for name in CIRCUITS {
        for fixed in ["fixed0", "fixed1"] {
            let expected = read_json(fixture(&format!("{name}/proof_1_{fixed}.json")));
            let factor = |key: &str| expected[key].as_str().unwrap_or("0").to_owned();
            let line = format!(
                "prove circom @{name}/circuit.zkey @{name}/witness_1.wtns --insecure-fixed-rs {} {}",
                factor("r"),
                factor("s")
            );
            for backend in ["auto", "naive", "dual:cpu,naive"] {
                if backend != "auto"
                    && std::fs::metadata(fixture(&format!("{name}/circuit.zkey"))).unwrap().len() > 20_000
                {
                    continue;
                }
                let run = bench.line(&format!("{line} --backend {backend}")).code(0);
                assert!(run.stderr.contains("warning: --insecure-fixed-rs"), "{}", run.stderr);
                let proof = read_json(bench.path("proof.json"));
                assert_eq!(points(&proof), points(&expected), "{name} {fixed} {backend}");
            }
        }
    }
}

#[test]
fn random_proofs_differ() {
    let bench = Bench::new();
    bench.line("prove circom @mul3/circuit.zkey @mul3/witness_1.wtns a.json public.json").code(0);
    bench.line("prove circom @mul3/circuit.zkey @mul3/witness_1.wtns b.json public.json").code(0);
    assert_ne!(read_json(bench.path("a.json")), read_json(bench.path("b.json")));
}

#[test]
fn an_invalid_witness_ends_in_1_and_writes_nothing() {
    let bench = Bench::new();
    for name in CIRCUITS.into_iter().filter(|name| *name != "no_constraints") {
        let constraint = read_json(fixture(&format!("{name}/info.json")))["invalidConstraint"].to_string();
        let prove = format!("prove circom @{name}/circuit.zkey @{name}/witness_invalid.wtns");
        bench.line(&prove).code(1).says(&["does not verify"]);
        let named = format!("constraint {constraint} ");
        bench
            .line(&format!("{prove} --r1cs @{name}/circuit.r1cs"))
            .code(1)
            .says(&["witness_invalid.wtns", &named]);
        let check = bench.line(&format!("check @{name}/circuit.r1cs @{name}/witness_invalid.wtns")).code(1);
        assert!(check.stdout.contains(&named), "{name}: {}", check.stdout);
        let json = bench
            .line(&format!("check --json @{name}/circuit.r1cs @{name}/witness_invalid.wtns"))
            .code(1)
            .json();
        assert_eq!(json["violated_constraint"].to_string(), constraint);
    }
    assert!(!bench.path("proof.json").exists() && !bench.path("public.json").exists());
}

#[test]
fn bellman_keys_and_every_proof_format() {
    let bench = Bench::new();
    let mut params = 0;
    for name in CIRCUITS {
        let setup = bench.line(&format!("setup r1cs @{name}/circuit.r1cs --out key.params"));
        if setup.code == Some(2) {
            setup.says(&["circuit.r1cs", "wire", "occurs in no constraint", ".zkey"]);
            assert!(["custom_gate", "unused_inputs"].contains(&name), "{name} has no wire out of use");
            continue;
        }
        params += 1;
        assert!(setup.code(0).stderr.contains("toxic waste"));
        bench.line("export vk key.params --out key.vk").code(0);
        bench.line("export vk key.params --out vk.json").code(0);
        for (format, bytes) in [("raw", Some(192)), ("snarkjs", None), ("gnark", Some(244))] {
            let prove = format!(
                "prove r1cs key.params @{name}/circuit.r1cs @{name}/witness_1.wtns --out proof --public public.json --format {format}"
            );
            bench.line(&prove).code(0);
            let length = std::fs::metadata(bench.path("proof")).unwrap().len();
            assert!(bytes.is_none_or(|bytes| bytes == length), "{name} {format}: {length} bytes");
            for key in ["key.vk", "key.params", "vk.json"] {
                let json = bench.line(&format!("verify r1cs {key} public.json proof --json")).code(0).json();
                assert_eq!((&json["valid"], &json["proof_format"]), (&true.into(), &format.into()));
            }
            if name == "no_constraints" {
                continue;
            }
            let invalid = format!("@{name}/witness_invalid.wtns --out none --format {format}");
            bench.line(&format!("prove r1cs key.params @{name}/circuit.r1cs {invalid}")).code(1);
            assert!(!bench.path("none").exists());
        }
    }
    assert_eq!(params, CIRCUITS.len() - 2);
}

#[test]
fn our_zkeys_hold_every_circuit() {
    let bench = Bench::new();
    for name in CIRCUITS {
        bench.line(&format!("setup r1cs @{name}/circuit.r1cs --out key.zkey")).code(0);
        bench.line("export vk key.zkey --out vk.json").code(0);
        bench.line(&format!("prove circom key.zkey @{name}/witness_2.wtns")).code(0);
        bench.line("verify circom vk.json public.json proof.json").code(0);
        bench.line(&format!("verify circom @{name}/verification_key.json public.json proof.json")).code(1);
    }
}

#[test]
fn a_test_seed_gives_the_same_key_again() {
    let bench = Bench::new();
    let setup = |seed: &str, out: &str| {
        let run = bench.line(&format!("setup r1cs @mul3/circuit.r1cs --out {out} {seed}")).code(0);
        assert!(run.stderr.contains("--test-seed"), "{}", run.stderr);
        std::fs::read(bench.path(out)).unwrap()
    };
    for ending in ["params", "zkey"] {
        let default = setup("--test-seed", &format!("a.{ending}"));
        assert_eq!(default, setup("--test-seed", &format!("b.{ending}")));
        assert_ne!(default, setup("--test-seed other", &format!("c.{ending}")));
    }
    let random = |out: &str| {
        bench.line(&format!("setup r1cs @mul3/circuit.r1cs --out {out}")).code(0);
        std::fs::read(bench.path(out)).unwrap()
    };
    assert_ne!(random("d.params"), random("e.params"));
}

#[test]
fn a_changed_input_or_proof_is_not_valid() {
    let bench = Bench::new();
    std::fs::write(bench.path("other.json"), r#"["211"]"#).unwrap();
    let run = bench.line("verify circom @mul3/verification_key.json other.json @mul3/proof_1.json").code(1);
    assert!(run.stdout.starts_with("INVALID"), "{}", run.stdout);
    let json = bench
        .line("verify circom @mul3/verification_key.json other.json @mul3/proof_1.json --json")
        .code(1)
        .json();
    assert_eq!((&json["valid"], &json["ok"], &json["exit_code"]), (&false.into(), &false.into(), &1.into()));
    std::fs::write(bench.path("two.json"), r#"["210", "1"]"#).unwrap();
    bench
        .line("verify circom @mul3/verification_key.json two.json @mul3/proof_1.json")
        .code(2)
        .says(&["two.json", "1", "2"]);
}

#[test]
fn the_wrong_root_is_named() {
    let bench = Bench::new();
    let prove = "prove circom @mul3/circuit.zkey @mul3/witness_1.wtns --root";
    bench.line(&format!("{prove} 5")).code(0);
    bench.line(&format!("{prove} 7")).code(1).says(&["--root 5"]);
}

#[test]
fn the_identity_has_a_json_form_only() {
    let bench = Bench::new();
    let fixed = "--insecure-fixed-rs 0 0";
    bench
        .line(&format!("prove circom @no_constraints/circuit.zkey @no_constraints/witness_1.wtns {fixed}"))
        .code(0);
    bench.line("verify circom @no_constraints/verification_key.json public.json proof.json").code(0);
    bench.line("setup r1cs @no_constraints/circuit.r1cs --out k.params").code(0);
    let raw = "prove r1cs k.params @no_constraints/circuit.r1cs @no_constraints/witness_1.wtns --out p";
    for format in ["raw", "gnark"] {
        bench.line(&format!("{raw} {fixed} --format {format}")).code(2).says(&["identity"]);
        assert!(!bench.path("p").exists());
    }
    bench.line(&format!("{raw} {fixed} --format snarkjs")).code(0);
    bench.line("verify r1cs k.params public.json p").code(0);
}

#[test]
fn warnings_not_refusals() {
    let bench = Bench::new();
    let gate = "prove circom @custom_gate/circuit.zkey @custom_gate/witness_1.wtns --r1cs @custom_gate/circuit.r1cs --json";
    let json = bench.line(gate).code(0).json();
    assert!(json["warnings"][0].as_str().unwrap().contains("custom gates"), "{json}");
}

#[test]
fn files_that_do_not_fit_each_other() {
    let bench = Bench::new();
    let fits = |line: &str, parts: &[&str]| {
        bench.line(line).code(2).says(parts);
    };
    fits("prove circom @mul3/circuit.zkey @sort16/witness_1.wtns", &["witness_1.wtns", "832", "8"]);
    fits("prove circom @mul3/circuit.zkey @mul3/witness_1.wtns --r1cs @bigcoef/circuit.r1cs", &["bigcoef"]);
    fits("check @mul3/circuit.r1cs @sort16/witness_1.wtns", &["witness_1.wtns", "832", "8"]);
    bench.line("setup r1cs @mul3/circuit.r1cs --out mul3.params").code(0);
    fits(
        "prove r1cs mul3.params @sort16/circuit.r1cs @sort16/witness_1.wtns --out p",
        &["mul3.params", "sort16"],
    );
    fits("prove circom mul3.params @mul3/witness_1.wtns", &["mul3.params"]);
    assert!(!bench.path("proof.json").exists() && !bench.path("p").exists());
}
