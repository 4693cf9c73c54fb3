//! From raw arguments to what the commands work with.

use std::path::{Path, PathBuf};

use cuzk_core::backend::OpenOptions;

use crate::args::{BackendArgs, BackendName, CacheArgs, ComputeArgs, FieldElement};
use crate::exit::{Exit, Failure, Result};
use cuzk_core::prover::{Blinding, Choice};

/// Where the heavy work runs and with how much memory.
#[derive(Debug, Clone)]
pub struct BackendSettings {
    /// Asked for.
    pub name: BackendName,
    /// Index that was asked for.
    device: usize,
    /// Limits of the device's and of the host's memory.
    limits: [Option<u64>; 2],
    /// More devices were named than one proof uses.
    pub several: bool,
}

impl BackendSettings {
    /// Of the shared flags.
    pub fn resolve(backend: &BackendArgs, compute: &ComputeArgs) -> Self {
        let (device, several) = backend.device.first();
        let limits =
            [backend.device_memory_limit, compute.host_memory_limit].map(|size| size.map(|size| size.0));
        Self { name: backend.backend.clone(), device, limits, several }
    }

    /// How to open what was chosen. Host backends live in host memory, so the tighter of the two limits binds them.
    pub fn open(&self, choice: &Choice) -> OpenOptions {
        let on_host = !choice.backend.contains("cuda") && !choice.backend.contains("wgpu");
        let count = if on_host { 2 } else { 1 };
        let memory_limit = self.limits.iter().take(count).flatten().copied().min();
        // The first card may be one that cannot be used.
        let device =
            if self.name == BackendName::Auto { self.device.max(choice.device) } else { self.device };
        // A small device keeps a smaller margin: an eighth.
        let margin = memory_limit
            .map_or(OpenOptions::DEFAULT_MARGIN, |limit| OpenOptions::DEFAULT_MARGIN.min(limit / 8));
        OpenOptions { device, memory_limit, margin }
    }
}

/// Sets the number of CPU threads for the process. Without the flag rayon takes RAYON_NUM_THREADS or all cores.
pub fn set_threads(compute: &ComputeArgs) -> Result<()> {
    let Some(threads) = compute.threads else { return Ok(()) };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.into())
        .build_global()
        .map_err(|e| Failure::new(Exit::Io, format!("--threads {threads}: {e}")))
}

/// [`within_host_limit`] for files that are held decoded, about as large as they are.
pub fn files_within_host_limit(compute: &ComputeArgs, files: &[&Path]) -> Result<()> {
    let sizes: Vec<(String, u64)> = files
        .iter()
        .map(|path| (path.display().to_string(), std::fs::metadata(path).map_or(0, |meta| meta.len())))
        .collect();
    let items: Vec<(&str, u64)> = sizes.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
    within_host_limit(compute, &items)
}

/// Fails where what a command is about to hold in host memory is more than the limit; `items` are named byte counts.
pub fn within_host_limit(compute: &ComputeArgs, items: &[(&str, u64)]) -> Result<()> {
    let Some(limit) = compute.host_memory_limit else { return Ok(()) };
    let sum = items.iter().fold(0u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
    if sum <= limit.0 {
        return Ok(());
    }
    let list = items.iter().map(|(name, bytes)| format!("{name} {bytes}")).collect::<Vec<_>>().join(" + ");
    let message = format!("out of host memory: {list} = {sum} bytes, --host-memory-limit is {}", limit.0);
    Err(Failure::new(Exit::OutOfMemory, message))
}

/// Random, or what `--insecure-fixed-rs` says.
pub fn blinding(fixed: Option<&[FieldElement]>) -> Blinding {
    match fixed {
        Some([r, s]) => Blinding::Fixed { r: r.0, s: s.0 },
        _ => Blinding::Random,
    }
}

/// Where checks of keys are remembered and compiled kernels kept: the flag, or the user's cache folder; `None` where there is no such folder.
pub fn cache_dir(args: &CacheArgs) -> Option<PathBuf> {
    let given = args.cache_dir.clone().filter(|dir| !dir.as_os_str().is_empty());
    given.or_else(|| user_cache().map(|dir| dir.join("cuzk")))
}

#[cfg(target_os = "macos")]
fn user_cache() -> Option<PathBuf> {
    std::env::home_dir().map(|home| home.join("Library").join("Caches"))
}

#[cfg(windows)]
fn user_cache() -> Option<PathBuf> {
    std::env::var_os("LOCALAPPDATA").map(PathBuf::from)
}

/// XDG base directories: relative values are ignored, as the specification asks.
#[cfg(not(any(target_os = "macos", windows)))]
fn user_cache() -> Option<PathBuf> {
    let xdg = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
    xdg.or_else(|| std::env::home_dir().filter(|home| home.is_absolute()).map(|home| home.join(".cache")))
}
