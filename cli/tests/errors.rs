//! Exit codes and messages for what users get wrong and what the system refuses.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod common;

use std::path::Path;
use std::process::Command;

use common::{Bench, finish, fixture, words};

const PROVE: &str = "prove circom @mul3/circuit.zkey @mul3/witness_1.wtns";

#[test]
fn usage() {
    let bench = Bench::new();
    for line in [
        "",
        "prove",
        "prove circom",
        "prove circom a b c d e",
        "frobnicate",
        "prove circom @mul3/circuit.zkey @mul3/witness_1.wtns --frobnicate",
        "prove circom @mul3/circuit.zkey @mul3/witness_1.wtns --backend opencl",
        "prove circom @mul3/circuit.zkey @mul3/witness_1.wtns --threads 0",
        "prove circom @mul3/circuit.zkey @mul3/witness_1.wtns --device one",
        "prove circom @mul3/circuit.zkey @mul3/witness_1.wtns --device-memory-limit 8Gib/s",
        "prove circom @mul3/circuit.zkey @mul3/witness_1.wtns --root 6",
        "prove circom @mul3/circuit.zkey @mul3/witness_1.wtns --insecure-fixed-rs 1",
        "prove circom @mul3/circuit.zkey @mul3/witness_1.wtns --insecure-fixed-rs 1 x",
        "setup r1cs @mul3/circuit.r1cs",
        "setup r1cs @mul3/circuit.r1cs --out key.pk",
        "export vk @mul3/circuit.zkey --out key.txt",
        "bench msm",
        "bench msm --log-n 40",
        "bench prove --log-n 1",
        "inspect",
    ] {
        let run = bench.line(line).code(2);
        assert!(run.stdout.is_empty() && !run.stderr.is_empty(), "{line}: {run:?}");
    }
    bench.line("--help").code(0);
    bench.line("--version").code(0);
    bench.line("help prove circom").code(0);
}

#[test]
fn r_is_refused_as_a_blinding_factor() {
    let r = "52435875175126190479447740508185965837690552500527637822603658699938581184513";
    Bench::new().line(&format!("{PROVE} --insecure-fixed-rs 1 {r}")).code(2);
}

/// Blinding factors are secrets: an error about one tells nothing of it.
#[test]
fn blinding_factors_are_not_quoted() {
    let bench = Bench::new();
    for secret in [
        "918273645x",
        "-918273645",
        "0x918273645g",
        "-x918273645",
        "9182736450000000000000000000000000000000000000000000000000000000000000000000000000",
    ] {
        for pair in [format!("{secret} 1"), format!("1 {secret}")] {
            for json in ["", "--json"] {
                let run = bench.line(&format!("{PROVE} --insecure-fixed-rs {pair} {json}")).code(2);
                assert!(run.stderr.contains("--insecure-fixed-rs"), "{run:?}");
                assert!(!run.stdout.contains("918273") && !run.stderr.contains("918273"), "{run:?}");
                assert_eq!(run.stdout.is_empty(), json.is_empty(), "{run:?}");
            }
        }
    }
}

/// `CUZK_JSON` asks for the object as `--json` does, also where the command line cannot be parsed; a file called --json does not.
#[test]
fn usage_errors_as_json() {
    let bench = Bench::new();
    let run = |line: &str, variable: Option<&str>| {
        let mut command = bench.command(words(line));
        if let Some(value) = variable {
            command.env("CUZK_JSON", value);
        }
        finish(command).code(2)
    };
    for (line, variable) in [("prove --json", None), ("prove", Some("1")), ("frobnicate", Some("TRUE"))] {
        let json = run(line, variable).json();
        assert_eq!((&json["exit_code"], &json["ok"]), (&2.into(), &false.into()), "{line}");
    }
    for (line, variable) in [("prove", Some("0")), ("prove", Some("maybe")), ("inspect -- a --json", None)] {
        assert_eq!(run(line, variable).stdout, "", "{line}");
    }
}

#[test]
fn missing_files_and_folders_in_their_place() {
    let bench = Bench::new();
    bench.line("prove circom none.zkey @mul3/witness_1.wtns").code(2).says(&["none.zkey", "no such file"]);
    bench.line("prove circom @mul3/circuit.zkey none.wtns").code(2).says(&["none.wtns", "no such file"]);
    bench.line(&format!("{PROVE} --r1cs none.r1cs")).code(2).says(&["none.r1cs"]);
    bench.line("prove circom @mul3 @mul3/witness_1.wtns").code(2).says(&["mul3", "is a directory"]);
    bench.line("prove circom @mul3/circuit.zkey/x @mul3/witness_1.wtns").code(2).says(&["circuit.zkey/x"]);
    bench
        .line("verify circom @mul3/verification_key.json none.json @mul3/proof_1.json")
        .code(2)
        .says(&["none.json"]);
    bench.line("check none.r1cs @mul3/witness_1.wtns").code(2).says(&["none.r1cs"]);
    bench.line("setup r1cs none.r1cs --out k.zkey").code(2).says(&["none.r1cs"]);
    bench.line("inspect none").code(2).says(&["none"]);
    bench.line("export vk none --out vk.json").code(2).says(&["none"]);
}

#[test]
fn outputs_that_cannot_be() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("folder")).unwrap();
    bench.line(&format!("{PROVE} folder")).code(2).says(&["folder", "is a folder"]);
    bench
        .line(&format!("{PROVE} none/proof.json"))
        .code(2)
        .says(&["none/proof.json", "no such file or directory"]);
    bench.line(&format!("{PROVE} same.json same.json")).code(2).says(&["same.json", "two outputs"]);
    bench.line(&format!("{PROVE} same.json ./same.json")).code(2);
    std::fs::copy(fixture("mul3/circuit.zkey"), bench.path("in.zkey")).unwrap();
    std::fs::copy(fixture("mul3/witness_1.wtns"), bench.path("in.wtns")).unwrap();
    bench.line("prove circom in.zkey in.wtns in.wtns").code(2).says(&["in.wtns", "is the input"]);
    bench.line("export vk in.zkey --out folder/../in.zkey").code(2);
    assert_eq!(
        std::fs::read(bench.path("in.zkey")).unwrap(),
        std::fs::read(fixture("mul3/circuit.zkey")).unwrap()
    );
    assert_eq!(
        std::fs::read(bench.path("in.wtns")).unwrap(),
        std::fs::read(fixture("mul3/witness_1.wtns")).unwrap()
    );
    let left: Vec<_> = std::fs::read_dir(bench.dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "nothing else was written: {left:?}");
}

#[test]
fn backends_and_devices_that_are_not_there() {
    let bench = Bench::new();
    for name in ["wgpu", "dual:cpu,wgpu"] {
        bench.line(&format!("{PROVE} --backend {name}")).code(3).says(&[name, "not available"]);
        bench.line(&format!("bench field --log-n 2 --backend {name}")).code(3);
    }
    for name in ["cuda", "dual:cuda,cpu", "dual:cpu,cuda"] {
        // Where there is a card, its driver hides it.
        let run = |line: String| {
            let mut command = bench.command(words(&line));
            command.env("CUDA_VISIBLE_DEVICES", "");
            finish(command).code(3).says(&["cuda", "not available"])
        };
        let error = run(format!("{PROVE} --backend {name}")).stderr;
        if cfg!(feature = "cuda") {
            assert!(error.contains("driver"), "{error}");
        } else {
            assert!(error.contains("not part of this build"), "{error}");
        }
        run(format!("bench field --log-n 2 --backend {name}"));
    }
    bench.line(&format!("{PROVE} --backend cpu --device 7")).code(3).says(&["cpu", "7"]);
    assert!(!bench.path("proof.json").exists());
}

#[test]
fn memory_limits() {
    let bench = Bench::new();
    bench
        .line("prove circom @sort16/circuit.zkey @sort16/witness_1.wtns --device-memory-limit 64KiB")
        .code(4);
    bench
        .line("prove circom @sort16/circuit.zkey @sort16/witness_1.wtns --host-memory-limit 64KiB")
        .code(4)
        .says(&["--host-memory-limit"]);
    for bench_of in ["field", "ntt", "msm", "spmv", "prove"] {
        bench
            .line(&format!("bench {bench_of} --log-n 24 --device-memory-limit 1GiB"))
            .code(4)
            .says(&["out of memory", "bytes"]);
        let limited = format!("bench {bench_of} --log-n 12 --host-memory-limit 64KiB");
        bench.line(&limited).code(4).says(&["--host-memory-limit is 65536"]);
    }
    bench.line("check @sort16/circuit.r1cs @sort16/witness_1.wtns --host-memory-limit 64KiB").code(4);
    bench
        .line("setup r1cs @sort16/circuit.r1cs --out k.zkey --host-memory-limit 500KB")
        .code(4)
        .says(&["points of the key"]);
    assert!(!bench.path("k.zkey").exists());
    bench.line("bench msm --log-n 12 --device-memory-limit 64KiB").code(4).says(&["out of memory", "bytes"]);
    bench.line("prove circom @sort16/circuit.zkey @sort16/witness_1.wtns --device-memory-limit 1GiB --host-memory-limit 2GB").code(0);
}

/// Runs through a shell that limits the process first.
#[cfg(unix)]
fn limited(bench: &Bench, limit: &str, line: &str) -> Command {
    let inner = bench.command(words(line));
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("{limit}; exec \"$0\" \"$@\""))
        .arg(inner.get_program())
        .args(inner.get_args());
    command.current_dir(bench.dir.path()).env("CUZK_CACHE_DIR", bench.path("cache"));
    command
}

#[cfg(unix)]
#[test]
fn a_full_disk() {
    let bench = Bench::new();
    let prove = "prove circom @sort16/circuit.zkey @sort16/witness_1.wtns";
    // No file may grow: the system answers "file too large" where it would otherwise kill the process.
    finish(limited(&bench, "trap '' XFSZ; ulimit -f 0", prove)).code(74).says(&["proof.json"]);
    assert!(!bench.path("proof.json").exists() && !bench.path("public.json").exists());
    if Path::new("/dev/full").exists() {
        bench.line(&format!("{prove} /dev/full")).code(74).says(&["/dev/full", "no space"]);
        assert!(!bench.path("public.json").exists());
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = bench.command(["devices"]);
        assert_eq!(command.stdout(full).status().unwrap().code(), Some(74));
    }
}

/// As somebody who may not: the superuser gives up the right first.
#[cfg(unix)]
#[test]
fn what_the_system_forbids() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;

    let bench = Bench::new();
    let allow = |name: &str, mode| {
        std::fs::set_permissions(bench.path(name), std::fs::Permissions::from_mode(mode)).unwrap()
    };
    allow("", 0o755);
    for (name, mode) in [("closed", 0o555), ("open", 0o777), ("cache", 0o777)] {
        std::fs::create_dir(bench.path(name)).unwrap();
        allow(name, mode);
    }
    for (from, to, mode) in [
        ("circuit.zkey", "key.zkey", 0o644),
        ("circuit.zkey", "secret.zkey", 0o000),
        ("witness_1.wtns", "w.wtns", 0o644),
    ] {
        std::fs::copy(fixture("mul3").join(from), bench.path(to)).unwrap();
        allow(to, mode);
    }
    // The build folder may be out of another user's reach.
    std::fs::copy(env!("CARGO_BIN_EXE_cuzk"), bench.path("cuzk")).unwrap();
    allow("cuzk", 0o755);
    let superuser = std::fs::read(bench.path("secret.zkey")).is_ok();
    let run = |line: &str| {
        let mut command = Command::new(bench.path("cuzk"));
        command.args(words(line)).current_dir(bench.dir.path()).env("CUZK_CACHE_DIR", bench.path("cache"));
        if superuser {
            command.uid(65534).gid(65534);
        }
        finish(command)
    };
    run("prove circom secret.zkey w.wtns open/p.json open/q.json")
        .code(74)
        .says(&["secret.zkey", "permission denied"]);
    run("prove circom key.zkey w.wtns closed/p.json closed/q.json")
        .code(74)
        .says(&["closed/p.json", "permission denied"]);
    run("prove circom key.zkey w.wtns open/p.json open/q.json").code(0);
    // A cache that cannot be written costs a remark, not the proof.
    std::fs::remove_dir_all(bench.path("cache")).unwrap();
    std::fs::write(bench.path("cache"), "not a folder").unwrap();
    let remark = run("prove circom key.zkey w.wtns open/p.json open/q.json").code(0);
    assert!(remark.stderr.contains("cannot remember"), "{}", remark.stderr);
}

/// A reader that went away is not an error.
#[cfg(unix)]
#[test]
fn a_broken_pipe() {
    let bench = Bench::new();
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg("(\"$0\" generate reference; echo $? > code) | true")
        .arg(env!("CARGO_BIN_EXE_cuzk"));
    assert!(command.current_dir(bench.dir.path()).status().unwrap().success());
    assert_eq!(std::fs::read_to_string(bench.path("code")).unwrap().trim(), "0");
}

/// Ctrl-C: 130, nothing written.
#[cfg(unix)]
#[test]
fn an_interrupt() {
    let bench = Bench::new();
    for signal in ["INT", "TERM"] {
        let mut child = bench
            .command(["bench", "msm", "--log-n", "14", "--reps", "10000", "--quiet"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(500));
        assert!(child.try_wait().unwrap().is_none(), "still running");
        let kill = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(130), &b""[..]), "{signal}");
    }
}

#[test]
fn point_checks_are_remembered_and_made_again_for_a_changed_file() {
    let bench = Bench::new();
    std::fs::copy(fixture("mul3/circuit.zkey"), bench.path("key.zkey")).unwrap();
    let prove = || bench.line("prove circom key.zkey @mul3/witness_1.wtns --json");
    let checked = |run: common::Run| run.json()["timings"].get("check_points").is_some();
    assert!(checked(prove().code(0)), "first sight");
    assert!(!checked(prove().code(0)), "remembered");
    let good = std::fs::read(bench.path("key.zkey")).unwrap();
    let bad = std::fs::read(fixture("malformed/z_a_wrong_subgroup.zkey")).unwrap();
    assert_eq!(good.len(), bad.len());
    std::fs::write(bench.path("key.zkey"), bad).unwrap();
    prove().code(2);
}

#[test]
fn special_files() {
    let bench = Bench::new();
    if cfg!(unix) {
        bench.line(&format!("{PROVE} /dev/stdout public.json --quiet")).code(0);
        bench.line(&format!("{PROVE} /dev/null /dev/null")).code(0);
        assert!(Path::new("/dev/null").exists());
    }
}
