//! Compiles the kernels into a cache: `kernels FOLDER ARCH...`, for example `kernels cache 75 90`. Needs NVRTC, no GPU.
#![expect(clippy::print_stdout, reason = "a program")]

use std::time::Instant;

use cuzk_backend_cuda::{KernelCache, build_kernels};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let cache = KernelCache::at(args.next().ok_or("a folder is needed")?);
    for arch in args {
        let start = Instant::now();
        let built = build_kernels(&cache, arch.parse()?)?;
        let bytes: usize = built.iter().map(|module| module.bytes).sum();
        let compiled = built.iter().filter(|module| module.compiled).count();
        println!(
            "sm_{arch}: {} modules, {compiled} compiled, {bytes} bytes, {:.1?}",
            built.len(),
            start.elapsed()
        );
    }
    Ok(())
}
