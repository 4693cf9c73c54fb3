//! Runs core's conformance suite on a CUDA device: `conformance FOLDER [LIMITS] [GROUP...]`, LIMITS default or large, all groups unless some are
//! named. Exit status 1 if a case failed, 3 if there is no usable device.
#![expect(clippy::print_stdout, reason = "a program")]

use std::process::ExitCode;
use std::time::Instant;

use cuzk_backend_cuda::{CudaBackend, KernelCache};
use cuzk_core::backend::OpenOptions;
use cuzk_core::conformance::{Limits, cases, examine};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let cache = KernelCache::at(args.next().unwrap_or_else(|| "kernel-cache".into()));
    let limits = if args.next().as_deref() == Some("large") { Limits::LARGE } else { Limits::default() };
    let groups: Vec<String> = args.collect();
    if let Err(error) = CudaBackend::open(&OpenOptions::default(), &cache) {
        println!("{error}");
        return ExitCode::from(3);
    }
    let (mut passed, mut failed) = (0, 0);
    for case in cases::<CudaBackend>() {
        if !groups.is_empty() && !groups.iter().any(|group| group == case.group) {
            continue;
        }
        let name = format!("{}::{}", case.group, case.name);
        let (start, cache) = (Instant::now(), cache.clone());
        match examine(&name, case.run, limits, move |options| CudaBackend::open(options, &cache)) {
            Ok(()) => {
                passed += 1;
                println!("ok {name} {:.0?}", start.elapsed());
            }
            Err(message) => {
                failed += 1;
                println!("FAILED {message}");
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
