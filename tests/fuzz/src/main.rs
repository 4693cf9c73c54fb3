//! libFuzzer's entry: `CUZK_FUZZ_TARGET` names the target, everything else is libFuzzer's command line.
#![no_main]
#![allow(clippy::panic, reason = "a wrong target's name ends the program")]

use std::sync::LazyLock;

use cuzk_fuzz::{TARGETS, Target, run};

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("CUZK_FUZZ_TARGET").unwrap_or_default();
    match TARGETS.iter().find(|t| t.0 == name) {
        Some(target) => target.1,
        None => panic!("CUZK_FUZZ_TARGET is {name:?}, none of {:?}", TARGETS.map(|t| t.0)),
    }
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| run(*TARGET, data));
