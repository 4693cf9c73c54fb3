//! The file formats against fixtures that other tools wrote, and against files made to break readers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod bellman;
mod checks;
mod circom;
mod circom_json;
mod hostile;
mod inspection;
mod malformed;

use std::path::PathBuf;

use cuzk_core::format::Source;

/// Names of the circuits under tests/fixtures/circom.
const CIRCUITS: [&str; 13] = [
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

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/circom").join(name)
}

fn fixture(name: &str) -> Source {
    Source::open(&path(name)).unwrap()
}

fn json(name: &str) -> serde_json::Value {
    serde_json::from_slice(fixture(name).bytes()).unwrap()
}

/// What a writer writes.
fn written(write: impl FnOnce(&mut Vec<u8>) -> cuzk_core::format::Result<()>) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    out
}

/// The most bytes that `work` held at once on this thread.
fn peak<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let mut out = None;
    let info = allocation_counter::measure(|| out = Some(work()));
    (out.unwrap(), info.bytes_max as usize)
}

#[test]
fn peak_counts() {
    let (_, bytes) = peak(|| drop(std::hint::black_box(vec![1u8; 5_000_000])));
    assert!((5_000_000..5_100_000).contains(&bytes), "{bytes}");
}
