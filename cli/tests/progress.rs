//! Progress bars: on a terminal, for what does not end at once, and nowhere else.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod common;

use std::process::Command;

use common::{Bench, finish, words};

/// Runs in a pseudo-terminal, whose whole output is stdout; `None` where there is no `script` to make one.
fn in_terminal(bench: &Bench, line: &str) -> Option<common::Run> {
    Command::new("script").arg("--version").output().ok()?;
    let words: Vec<String> = words(line).iter().map(|word| word.display().to_string()).collect();
    let mut command = Command::new("script");
    command.args(["-qec", &format!("{} {}", env!("CARGO_BIN_EXE_cuzk"), words.join(" ")), "/dev/null"]);
    command.current_dir(bench.dir.path()).env("CUZK_CACHE_DIR", bench.path("cache"));
    Some(finish(command))
}

#[test]
fn bars_appear_on_a_terminal_only() {
    let bench = Bench::new();
    // A key for 2^14 constraints: seconds on two cores.
    let long = "bench prove --log-n 14 --reps 1 --backend cpu";
    let Some(run) = in_terminal(&bench, long) else { return };
    let run = run.code(0);
    assert!(run.took.as_millis() < 120 || run.stdout.contains("making key"), "{}", run.stdout);
    let quiet = in_terminal(&bench, &format!("{long} --quiet")).unwrap().code(0);
    assert!(!quiet.stdout.contains("making key"), "{}", quiet.stdout);
    let piped = bench.line(long).code(0);
    assert!(!piped.stderr.contains("making key"), "{}", piped.stderr);
    let short = in_terminal(&bench, "inspect @mul3/circuit.zkey").unwrap().code(0);
    assert!(short.took.as_millis() > 90 || !short.stdout.contains("reading files"), "{}", short.stdout);
}

/// The README's first command: a bar for the points of a key seen for the first time, and the verdict.
#[test]
fn the_first_command_of_the_readme_shows_a_bar_and_its_verdict() {
    let bench = Bench::new();
    let line = "prove circom @mimc_chain4/circuit.zkey @mimc_chain4/witness_1.wtns --backend cpu";
    let Some(run) = in_terminal(&bench, line) else { return };
    let run = run.code(0);
    assert!(run.stdout.contains("verified"), "{}", run.stdout);
    assert!(run.took.as_millis() < 120 || run.stdout.contains("checking key"), "{}", run.stdout);
}
