//! From raw arguments to what the commands work with.

use std::path::{Path, PathBuf};

use cuzk_core::backend::OpenOptions;

use crate::args::{BackendArgs, BackendName, CacheArgs, ComputeArgs, FieldElement};
use crate::exit::{Exit, Failure, Result};
use cuzk_core::prover::{Blinding, Choice};

/// Where the heavy work runs and with how much memory, as far as it is known before a backend is chosen.
#[derive(Debug, Clone)]
pub struct BackendSettings {
    /// Asked for.
    pub name: BackendName,
    /// More devices were named than one proof uses.
    pub several: bool,
    device: usize,
    device_limit: Option<u64>,
    host_limit: Option<u64>,
}

impl BackendSettings {
    /// Of the shared flags.
    pub fn new(backend: &BackendArgs, compute: &ComputeArgs) -> Self {
        let (device, several) = backend.device.first();
        Self {
            name: backend.backend.clone(),
            several,
            device,
            device_limit: backend.device_memory_limit.map(|size| size.0),
            host_limit: compute.host_memory_limit.map(|size| size.0),
        }
    }

    /// How to open what was chosen, beside `held` bytes of files in host memory.
    ///
    /// Host backends live in host memory, so the tighter of the two limits binds them: what the files leave of the host's limit, in
    /// equal shares where both of a pair are of the host.
    pub fn open(&self, choice: &Choice, held: u64) -> OpenOptions {
        let sides = choice.backend.trim_start_matches("dual:").split(',');
        let on_host = sides.filter(|name| !matches!(*name, "cuda" | "wgpu")).count() as u64;
        let share = self.host_limit.and_then(|limit| limit.saturating_sub(held).checked_div(on_host));
        let memory_limit = self.device_limit.into_iter().chain(share).min();
        // A small device keeps a smaller margin: an eighth.
        let margin = memory_limit
            .map_or(OpenOptions::DEFAULT_MARGIN, |limit| OpenOptions::DEFAULT_MARGIN.min(limit / 8));
        // 0 is what --device is if it is not given; the first GPU may be another one.
        let device = match (&self.name, self.device) {
            (BackendName::Auto, 0) => choice.device,
            (_, device) => device,
        };
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

/// [`within_host_limit`] for files that are held decoded, about as large as they are; their bytes.
pub fn files_within_host_limit(compute: &ComputeArgs, files: &[&Path]) -> Result<u64> {
    let sizes: Vec<(String, u64)> = files
        .iter()
        .map(|path| (path.display().to_string(), std::fs::metadata(path).map_or(0, |meta| meta.len())))
        .collect();
    let items: Vec<(&str, u64)> = sizes.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
    within_host_limit(compute, &items)?;
    Ok(sizes.iter().fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{DevicesArg, Size};

    fn settings(
        name: &str,
        device: usize,
        device_limit: Option<u64>,
        host_limit: Option<u64>,
    ) -> BackendSettings {
        let backend = BackendArgs {
            backend: name.parse().unwrap(),
            device: DevicesArg::These(vec![device]),
            device_memory_limit: device_limit.map(Size),
        };
        BackendSettings::new(
            &backend,
            &ComputeArgs { threads: None, host_memory_limit: host_limit.map(Size) },
        )
    }

    fn choice(backend: &str, device: usize) -> Choice {
        Choice { backend: backend.to_owned(), device, reason: String::new() }
    }

    #[test]
    fn the_chosen_device_is_opened() {
        let device =
            |name, given, chosen| settings(name, given, None, None).open(&choice("wgpu", chosen), 0).device;
        assert_eq!(device("auto", 0, 1), 1);
        assert_eq!(device("auto", 2, 1), 2);
        assert_eq!(device("wgpu", 0, 0), 0);
        assert_eq!(device("wgpu", 3, 0), 3);
    }

    #[test]
    fn limits_bound_the_sum() {
        let limit = |chosen, device, host| {
            settings("auto", 0, device, host).open(&choice(chosen, 0), 200).memory_limit
        };
        assert_eq!(limit("cpu", None, None), None);
        assert_eq!(limit("cpu", None, Some(1000)), Some(800), "what the files leave");
        assert_eq!(limit("cpu", Some(300), Some(1000)), Some(300));
        assert_eq!(limit("cpu", None, Some(100)), Some(0));
        assert_eq!(limit("dual:cpu,naive", None, Some(1000)), Some(400), "half each");
        assert_eq!(limit("dual:cpu,naive", Some(500), Some(1000)), Some(400));
        assert_eq!(limit("dual:cuda,cpu", None, Some(1000)), Some(800), "one of them on the host");
        assert_eq!(limit("cuda", None, Some(1000)), None, "the host's limit is not the device's");
        assert_eq!(limit("wgpu", Some(300), Some(100)), Some(300));
        let margin = settings("cpu", 0, Some(800), None).open(&choice("cpu", 0), 0).margin;
        assert_eq!(margin, 100);
    }
}
