//! Runs the binary as a user would: own cache folder, no settings from the environment.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of several test programs, each of which uses some"
)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use wait4::Wait4;

/// Every circom fixture.
pub const CIRCUITS: [&str; 13] = [
    "bigcoef",
    "custom_gate",
    "linear_only",
    "mimc_chain4",
    "mul3",
    "no_constraints",
    "no_private_inputs",
    "no_public",
    "one_constraint",
    "pow2_exact",
    "sort16",
    "sparse",
    "unused_inputs",
];

/// What a run ended in.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub took: Duration,
    /// Peak resident memory in bytes.
    pub peak: u64,
    shown: String,
}

impl Run {
    /// Fails with everything that was printed unless the code is the expected one.
    #[track_caller]
    pub fn code(self, expected: i32) -> Self {
        assert_eq!(
            self.code,
            Some(expected),
            "{}\nstdout: {}\nstderr: {}",
            self.shown,
            self.stdout,
            self.stderr
        );
        self
    }

    /// The one JSON object on stdout.
    #[track_caller]
    pub fn json(&self) -> Value {
        let object: Value = serde_json::from_str(&self.stdout).unwrap_or_else(|e| {
            panic!("{}: {e}: stdout {:?} stderr {:?}", self.shown, self.stdout, self.stderr)
        });
        assert!(object.is_object() && object["schema_version"] == 1, "{object}");
        object
    }

    /// The one error line names all of these.
    #[track_caller]
    pub fn says(self, parts: &[&str]) -> Self {
        let errors: Vec<&str> = self.stderr.lines().filter(|line| line.contains("error: ")).collect();
        assert_eq!(errors.len(), 1, "{}: one error line expected: {}", self.shown, self.stderr);
        for part in parts {
            assert!(errors[0].contains(part), "{}: `{part}` is not in: {}", self.shown, errors[0]);
        }
        self
    }
}

/// A folder to work in, with a cache of its own.
pub struct Bench {
    pub dir: TempDir,
}

impl Bench {
    pub fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The binary with a clean environment, in the folder.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cuzk"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("CUZK_") {
                command.env_remove(name);
            }
        }
        command.args(arguments).current_dir(self.dir.path()).env("CUZK_CACHE_DIR", self.path("cache"));
        command.stdin(Stdio::null());
        command
    }

    pub fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        finish(self.command(arguments))
    }

    /// Words separated by blanks; `{name}` stands for a file of the fixture folder.
    pub fn line(&self, line: &str) -> Run {
        self.run(words(line))
    }
}

/// Splits a command line; words that begin with @ are files of the fixture folder.
pub fn words(line: &str) -> Vec<PathBuf> {
    line.split_whitespace()
        .map(|word| word.strip_prefix('@').map_or_else(|| PathBuf::from(word), fixture))
        .collect()
}

/// Runs to the end.
pub fn finish(mut command: Command) -> Run {
    let shown = format!("{command:?}");
    let start = Instant::now();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let read = |stream: Option<Box<dyn std::io::Read + Send>>| {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            stream.unwrap().read_to_end(&mut text).unwrap();
            String::from_utf8_lossy(&text).into_owned()
        })
    };
    let out = read(child.stdout.take().map(|s| Box::new(s) as _));
    let err = read(child.stderr.take().map(|s| Box::new(s) as _));
    let ended = child.wait4().unwrap();
    Run {
        code: ended.status.code(),
        took: start.elapsed(),
        peak: ended.rusage.maxrss,
        stdout: out.join().unwrap(),
        stderr: err.join().unwrap(),
        shown,
    }
}

/// A file of the fixture folder.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/circom").join(name)
}

/// A JSON file.
pub fn read_json(path: impl AsRef<Path>) -> Value {
    serde_json::from_slice(&std::fs::read(path.as_ref()).unwrap()).unwrap()
}

/// The three points of a proof.json.
pub fn points(proof: &Value) -> [&Value; 3] {
    ["pi_a", "pi_b", "pi_c"].map(|name| &proof[name])
}
