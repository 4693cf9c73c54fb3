//! Flags, environment, JSON, completions, man page, reference, benches.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod common;

use clap::{Command, CommandFactory};
use common::{Bench, finish, fixture};
use cuzk::args::Cli;
use serde_json::Value;

fn for_each_command(command: &Command, visit: &mut dyn FnMut(&Command)) {
    visit(command);
    command.get_subcommands().for_each(|sub| for_each_command(sub, visit));
}

#[test]
fn every_flag_has_its_twin_in_the_environment_but_the_insecure_one() {
    let mut flags = 0;
    for_each_command(&Cli::command(), &mut |command| {
        for arg in command.get_arguments() {
            let Some(long) = arg.get_long().filter(|long| !["help", "version"].contains(long)) else {
                continue;
            };
            let twin = arg.get_env().map(|name| name.to_string_lossy().into_owned());
            let expected = format!("CUZK_{}", long.to_uppercase().replace('-', "_"));
            assert_eq!(
                twin,
                (long != "insecure-fixed-rs").then_some(expected),
                "{} --{long}",
                command.get_name()
            );
            flags += 1;
        }
    });
    assert!(flags > 30, "{flags}");
}

#[test]
fn the_environment_counts_and_the_flag_wins() {
    let bench = Bench::new();
    let prove =
        ["prove".into(), "circom".into(), fixture("mul3/circuit.zkey"), fixture("mul3/witness_1.wtns")];
    let mut command = bench.command(&prove);
    finish({
        command.env("CUZK_BACKEND", "wgpu");
        command
    })
    .code(3);
    let mut command = bench.command(&prove);
    command
        .env("CUZK_BACKEND", "wgpu")
        .env("CUZK_JSON", "1")
        .env("CUZK_THREADS", "1")
        .args(["--backend", "naive"]);
    let json = finish(command).code(0).json();
    assert_eq!((&json["backend"]["name"], &json["threads"]), (&"naive".into(), &1.into()));
    let mut command = bench.command(&prove);
    command.env("CUZK_INSECURE_FIXED_RS", "1 2");
    assert!(!finish(command).code(0).stderr.contains("insecure"));
}

/// The names of an object, nested ones with their path.
fn shape(value: &Value) -> Vec<String> {
    let Value::Object(map) = value else { return Vec::new() };
    map.keys().cloned().collect()
}

#[test]
fn json_objects_keep_their_shape() {
    let bench = Bench::new();
    let common = ["command", "exit_code", "ok", "schema_version", "warnings"];
    let pin = |line: &str, code: i32, own: &[&str]| {
        let run = bench.line(&format!("{line} --json")).code(code);
        assert_eq!(run.stdout.lines().count(), 1, "{line}: one line: {}", run.stdout);
        let json = run.json();
        let mut expected: Vec<&str> = common.iter().chain(own).copied().collect();
        expected.sort_unstable();
        assert_eq!(shape(&json), expected, "{line}");
        assert_eq!((&json["ok"], &json["exit_code"]), (&(code == 0).into(), &code.into()));
        json
    };
    let proof = [
        "backend",
        "constraints",
        "device",
        "files",
        "log_domain",
        "plan",
        "public_inputs",
        "seconds",
        "threads",
        "timings",
        "verified",
    ];
    let json = pin("prove circom @mul3/circuit.zkey @mul3/witness_1.wtns", 0, &proof);
    assert_eq!(json["public_inputs"], serde_json::json!(["210"]));
    assert_eq!(shape(&json["backend"]), ["name", "reason"]);
    let stages = [
        "upload",
        "spmv",
        "quotient",
        "witness_msms",
        "h_msm",
        "finish",
        "verify",
        "check_points",
        "load_key",
        "read",
    ];
    assert!(stages.iter().all(|stage| json["timings"][stage].is_number()), "{json}");
    pin(
        "verify circom @mul3/verification_key.json @mul3/public_1.json @mul3/proof_1.json",
        0,
        &["proof_format", "public_inputs", "valid"],
    );
    pin(
        "setup r1cs @mul3/circuit.r1cs --out k.params",
        0,
        &["aux", "constraints", "file", "form", "log_domain", "public_inputs", "root"],
    );
    pin(
        "check @mul3/circuit.r1cs @mul3/witness_1.wtns",
        0,
        &["constraints", "satisfied", "violated_constraint"],
    );
    pin("inspect @mul3/circuit.r1cs", 0, &["files", "fit"]);
    pin("export vk k.params --out k.vk", 0, &["file", "format", "public_inputs"]);
    pin("devices", 0, &["backends"]);
    pin("generate reference", 0, &["text"]);
    pin("prove circom none @mul3/witness_1.wtns", 2, &["error"]);
    pin("prove circom --frobnicate", 2, &["error"]);
    pin("prove circom @mul3/circuit.zkey @mul3/witness_1.wtns --backend wgpu", 3, &["error"]);
    let bench_fields = [
        "backend",
        "checked",
        "commit",
        "date",
        "device",
        "log_n",
        "parameters",
        "reps",
        "seconds",
        "threads",
        "throughput",
    ];
    pin("bench field --log-n 4", 0, &bench_fields);
}

#[test]
fn benches_on_every_backend() {
    let bench = Bench::new();
    for backend in ["naive", "cpu", "dual:cpu,naive"] {
        for line in [
            "field --log-n 0",
            "field --log-n 7",
            "ntt --log-n 0",
            "ntt --log-n 5",
            "ntt --log-n 5 --order nr --direction coset",
            "ntt --log-n 5 --order rn --direction inverse",
            "ntt --log-n 5 --direction coset-inverse",
            "msm --log-n 0",
            "msm --log-n 5 --scalars porep --bases streamed",
            "msm --log-n 4 --group g2 --scalars equal",
            "msm --log-n 4 --scalars zero",
            "msm --log-n 4 --group g2 --scalars one --bases streamed",
            "spmv --log-n 4 --nnz 100 --scalars porep",
            "spmv --log-n 0",
            "prove --log-n 3",
            "prove --log-n 4 --witness packed --scalars porep",
        ] {
            let json =
                bench.line(&format!("bench {line} --backend {backend} --reps 2 --json")).code(0).json();
            assert_eq!(
                (&json["backend"]["name"], &json["checked"]),
                (&backend.into(), &true.into()),
                "{line}"
            );
            let seconds = |name: &str| json["seconds"][name].as_f64().unwrap();
            assert!(seconds("min") <= seconds("median") && seconds("median") <= seconds("max"), "{json}");
        }
    }
    let text = bench.line("bench ntt --log-n 6").code(0).stdout;
    for part in ["median", "min", "max", "threads", "commit", "result checked"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    bench.line("bench spmv --log-n 2 --nnz 17").code(2).says(&["--nnz", "16"]);
}

#[test]
fn completions_and_man_pages() {
    let bench = Bench::new();
    for (shell, sign) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef cuzk"),
        ("fish", "complete -c cuzk"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let text = bench.line(&format!("generate completions {shell}")).code(0).stdout;
        assert!(text.contains(sign) && text.contains("insecure-fixed-rs"), "{shell}");
    }
    let page = bench.line("generate man").code(0).stdout;
    assert!(page.starts_with(".ie") && page.contains("Exit codes"), "{page}");
    bench.line("generate man --dir pages").code(0);
    for name in ["cuzk.1", "cuzk-prove.1", "cuzk-prove-circom.1", "cuzk-bench-msm.1"] {
        let text = std::fs::read_to_string(bench.path("pages").join(name)).unwrap();
        assert!(text.contains(".TH"), "{name}");
    }
}

#[test]
fn the_reference_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/cli.md");
    let made = Bench::new().line("generate reference").code(0).stdout;
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(made == kept, "docs/cli.md is out of date: run `cuzk generate reference > docs/cli.md`");
}

#[test]
fn inspect_names_every_format_and_says_what_fits() {
    let bench = Bench::new();
    bench.line("setup r1cs @mul3/circuit.r1cs --out k.params --test-seed").code(0);
    bench.line("export vk k.params --out k.vk").code(0);
    for format in ["raw", "snarkjs", "gnark"] {
        let prove = "prove r1cs k.params @mul3/circuit.r1cs @mul3/witness_1.wtns";
        bench.line(&format!("{prove} --out {format} --format {format}")).code(0);
    }
    let formats = [
        ("@mul3/circuit.r1cs", "r1cs"),
        ("@mul3/circuit.zkey", "zkey"),
        ("@mul3/witness_1.wtns", "wtns"),
        ("@mul3/verification_key.json", "verification-key-json"),
        ("@mul3/public_1.json", "public-json"),
        ("k.params", "params"),
        ("k.vk", "vk"),
        ("raw", "proof"),
        ("snarkjs", "proof"),
        ("gnark", "proof"),
    ];
    for (file, format) in formats {
        let json = bench.line(&format!("inspect {file} --json")).code(0).json();
        let found = &json["files"][0];
        assert_eq!((&found["format"], &found["curve"]), (&format.into(), &"bls12-381".into()), "{file}");
        assert_eq!(found["sha256"].as_str().unwrap().len(), 64);
    }
    let fits = [
        ("@mul3/circuit.zkey @mul3/witness_1.wtns", Some(true)),
        ("@mul3/witness_1.wtns @mul3/circuit.zkey", Some(true)),
        ("@mul3/circuit.zkey @sort16/witness_1.wtns", Some(false)),
        ("@mul3/circuit.zkey @mul3/circuit.r1cs", Some(true)),
        ("@mul3/circuit.zkey @bigcoef/circuit.r1cs", Some(false)),
        ("k.params @mul3/circuit.r1cs", Some(true)),
        ("k.params @pow2_exact/circuit.r1cs", Some(false)),
        ("@mul3/circuit.r1cs @mul3/witness_2.wtns", Some(true)),
        ("k.params k.vk", Some(true)),
        ("@mul3/circuit.zkey k.vk", Some(false)),
        ("@mul3/circuit.zkey @mul3/verification_key.json", Some(true)),
        ("@mul3/witness_1.wtns @mul3/public_1.json", Some(true)),
        ("@mul3/witness_2.wtns @mul3/public_1.json", Some(false)),
        ("k.vk @mul3/public_1.json", Some(true)),
        ("k.vk @sort16/public_1.json", Some(false)),
        ("raw k.vk", None),
    ];
    for (files, expected) in fits {
        let json = bench.line(&format!("inspect {files} --json")).code(0).json();
        assert_eq!(json["fit"]["fits"].as_bool(), expected, "{files}: {json}");
    }
    let text = bench.line("inspect @mul3/circuit.r1cs @mul3/witness_1.wtns").code(0).stdout;
    assert!(text.contains("the two fit each other") && text.contains("constraints"), "{text}");
    bench.line("inspect @malformed/z_lfs_pointer.zkey").code(2).says(&["z_lfs_pointer.zkey"]);
}

#[test]
fn devices_lists_every_backend_with_its_reason() {
    let json = Bench::new().line("devices --json").code(0).json();
    let list = json["backends"].as_array().unwrap();
    for name in ["naive", "cpu", "wgpu", "cuda"] {
        let entry = list.iter().find(|entry| entry["backend"] == name).unwrap();
        assert_eq!(entry["available"] == true, entry.get("device").is_some(), "{entry}");
        assert_eq!(entry["available"] == false, entry.get("reason").is_some(), "{entry}");
    }
}

/// Every command line of the README is one that the parser takes.
#[test]
fn the_readme_names_commands_that_exist() {
    use clap::Parser;
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).unwrap();
    // Every second piece between fences is code.
    let lines: Vec<String> = readme
        .split("```")
        .skip(1)
        .step_by(2)
        .flat_map(str::lines)
        .filter_map(|line| line.split_once("cuzk -- ").map(|(_, rest)| rest).or(line.strip_prefix("cuzk ")))
        .flat_map(variants)
        .collect();
    assert!(lines.len() >= 15, "{lines:?}");
    for line in lines {
        let parsed = Cli::try_parse_from(std::iter::once("cuzk").chain(line.split_whitespace()));
        assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
    }
}

/// A documented line as users would type it: brackets and comments gone, one line per alternative.
fn variants(line: &str) -> Vec<String> {
    let line = line.split('#').next().unwrap_or_default().replace(['[', ']'], " ").replace("...", "");
    let mut lines = vec![String::new()];
    for word in line.split_whitespace() {
        let choices: Vec<&str> = match word {
            // What follows needs an argument of its own.
            "completions|man" => vec!["completions bash", "man"],
            word => word.split('|').collect(),
        };
        lines = lines.iter().flat_map(|line| choices.iter().map(move |c| format!("{line} {c}"))).collect();
    }
    lines.into_iter().map(|line| line.replace("--log-n N", "--log-n 4")).collect()
}
