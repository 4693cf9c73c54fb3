//! The kernels: their sources, the cache of compiled ones, and the loaded modules of a device.
//!
//! Compiled modules lie in a folder as `{module}-{digest}-sm_{arch}-nvrtc{version}.cubin`, the digest taken over the module's source and the
//! headers it includes. A file begins with the digest of its content, so a truncated or damaged one is compiled again. A module compiled by another
//! version of NVRTC is used where this machine has none. A folder that cannot be written costs the next start a compilation, not this one.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cuzk_core::backend::{BackendError, Result};
use sha2::{Digest, Sha256};

use crate::compiler::Compiler;
use crate::driver::{Context, Function, Module, unavailable};

/// Where compiled kernels are kept.
#[derive(Clone, Debug, Default)]
pub struct KernelCache {
    folder: Option<PathBuf>,
}

impl KernelCache {
    /// In a folder, made when the first module is written.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()) }
    }
    /// Nowhere: every open compiles.
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether it has every module for an architecture; an error where it has not and they cannot be compiled here either.
    pub(crate) fn is_ready(&self, arch: u32) -> Result<bool> {
        let compiler = Compiler::find();
        let have = UNITS.iter().all(|unit| cached(self, unit, arch, compiler.as_ref().ok()).is_some());
        match compiler {
            Err(reason) if !have => Err(no_kernels(self, &reason)),
            _ => Ok(have),
        }
    }
}

/// A translation unit and the kernels in it, each with its largest dynamic shared memory.
struct Unit {
    name: &'static str,
    source: &'static str,
    kernels: &'static [(&'static str, u32)],
}

macro_rules! unit {
    ($name:literal, $($kernel:literal $(: $shared:expr)?),*) => {
        Unit {
            name: $name,
            source: include_str!(concat!("../../kernels/", $name, ".cu")),
            kernels: &[$(($kernel, 0 $(+ $shared)?)),*],
        }
    };
}

/// Shared memory of the last step of the MSM's sort.
pub(crate) const SCATTER_SHARED: u32 = 64 << 10;

// The units that take longest to compile come first.
const UNITS: [Unit; 11] = [
    unit!(
        "msm_g1",
        "msm_accumulate_g1",
        "msm_merge_serial_g1",
        "msm_merge_warp_g1",
        "msm_halve_g1",
        "msm_finish_g1"
    ),
    unit!("ntt_frequency", "ntt_frequency_forward", "ntt_frequency_inverse"),
    unit!("ntt_time", "ntt_time_forward", "ntt_time_inverse"),
    unit!("keys_g1", "check_g1", "convert_g1", "fixed_table_g1", "fixed_multiply_g1", "normalise_g1"),
    unit!("keys_g2", "check_g2", "convert_g2", "fixed_table_g2", "fixed_multiply_g2", "normalise_g2"),
    unit!(
        "msm_g2",
        "msm_accumulate_g2",
        "msm_merge_serial_g2",
        "msm_merge_warp_g2",
        "msm_halve_g2",
        "msm_finish_g2"
    ),
    unit!("ntt", "ntt_small", "ntt_reverse", "ntt_twiddles"),
    unit!(
        "pointwise",
        "powers",
        "pointwise_add",
        "pointwise_sub",
        "pointwise_mul",
        "pointwise_mul_sub",
        "pointwise_half_difference",
        "pointwise_factors",
        "pointwise_to_canonical",
        "pointwise_to_montgomery",
        "pointwise_inverse"
    ),
    unit!("spmv", "spmv_narrow", "spmv_wide"),
    unit!("classify", "classify", "expand"),
    unit!(
        "msm_sort",
        "msm_digits",
        "msm_scan_bins",
        "msm_partition",
        "msm_count",
        "msm_scan_buckets",
        "msm_scatter": SCATTER_SHARED
    ),
];

macro_rules! headers {
    ($($name:literal),*) => { [$(($name, include_str!(concat!("../../kernels/", $name)))),*] };
}
/// Name and text of every header.
pub(crate) const HEADERS: [(&str, &str); 10] = headers!(
    "prelude.cuh",
    "field.cuh",
    "fp2.cuh",
    "curve.cuh",
    "points.cuh",
    "io.cuh",
    "factors.cuh",
    "ntt.cuh",
    "msm.cuh",
    "keys.cuh"
);

const MAGIC: &[u8; 8] = b"CUZKCUB1";

/// Headers that a text includes, directly or not, in the order of [`HEADERS`].
fn included(source: &str) -> Vec<(&'static str, &'static str)> {
    let includes = |text: &str, name: &str| text.contains(&format!("#include \"{name}\""));
    let mut found = vec![false; HEADERS.len()];
    for _ in 0..HEADERS.len() {
        for (i, (name, _)) in HEADERS.iter().enumerate() {
            let mut known = HEADERS.iter().zip(&found).filter(|(_, found)| **found);
            let reached = includes(source, name) || known.any(|((_, text), _)| includes(text, name));
            if reached {
                found[i] = true;
            }
        }
    }
    HEADERS.iter().zip(found).filter(|(_, found)| *found).map(|(header, _)| *header).collect()
}

fn digest(unit: &Unit) -> String {
    let mut hash = Sha256::new();
    for (name, text) in included(unit.source).iter().chain([&(unit.name, unit.source)]) {
        for part in [name, text] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// What happened to a module when kernels were built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltModule {
    /// Name of the translation unit.
    pub name: &'static str,
    /// Whether it was compiled now; else it was found in the cache.
    pub compiled: bool,
    /// Bytes of machine code.
    pub bytes: usize,
}

/// Compiles what the cache lacks for an architecture (90 for sm_90), all modules at once. Needs NVRTC, but no GPU and no driver.
pub fn build_kernels(cache: &KernelCache, arch: u32) -> Result<Vec<BuiltModule>> {
    let images = images(cache, arch)?;
    let built = |(unit, (image, compiled)): (&Unit, &(Vec<u8>, bool))| BuiltModule {
        name: unit.name,
        compiled: *compiled,
        bytes: image.len(),
    };
    Ok(UNITS.iter().zip(&images).map(built).collect())
}

/// Machine code, and whether it was compiled now.
type Image = (Vec<u8>, bool);

/// Those of every unit.
fn images(cache: &KernelCache, arch: u32) -> Result<Vec<Image>> {
    let compiler = Compiler::find();
    let threads = std::thread::available_parallelism().map_or(2, usize::from).min(UNITS.len());
    let next = std::sync::atomic::AtomicUsize::new(0);
    let mut results: Vec<Option<Result<Image>>> = UNITS.iter().map(|_| None).collect();
    std::thread::scope(|scope| {
        let work = || {
            let mut mine = Vec::new();
            while let Some((i, unit)) = Some(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                .and_then(|i| UNITS.get(i).map(|unit| (i, unit)))
            {
                mine.push((i, image(cache, unit, arch, compiler.as_ref())));
            }
            mine
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        for (i, result) in workers.into_iter().filter_map(|worker| worker.join().ok()).flatten() {
            if let Some(slot) = results.get_mut(i) {
                *slot = Some(result);
            }
        }
    });
    let failed = || BackendError::Host { what: "building kernels".into(), reason: "a thread failed".into() };
    results.into_iter().map(|result| result.unwrap_or_else(|| Err(failed()))).collect()
}

fn image(
    cache: &KernelCache,
    unit: &Unit,
    arch: u32,
    compiler: std::result::Result<&Compiler, &String>,
) -> Result<Image> {
    if let Some(image) = cached(cache, unit, arch, compiler.ok()) {
        return Ok((image, false));
    }
    let compiler = compiler.map_err(|reason| no_kernels(cache, reason))?;
    let image = compiler.compile(unit.name, unit.source, arch)?;
    if let Some(folder) = &cache.folder {
        // A cache that cannot be written is not worth failing for.
        let _ = write(folder, &file_name(&prefix(unit, arch), compiler), &image);
    }
    Ok((image, true))
}

fn no_kernels(cache: &KernelCache, reason: &str) -> BackendError {
    let folder = cache.folder.as_deref().map_or("none given".into(), |folder| folder.display().to_string());
    unavailable(format!("its kernels are not in the cache ({folder}) and cannot be compiled: {reason}"))
}

fn prefix(unit: &Unit, arch: u32) -> String {
    format!("{}-{}-sm_{arch}-", unit.name, digest(unit))
}

fn file_name(prefix: &str, compiler: &Compiler) -> String {
    format!("{prefix}nvrtc{}.cubin", compiler.version())
}

/// The module as this machine's compiler made it, else as another's did.
fn cached(cache: &KernelCache, unit: &Unit, arch: u32, compiler: Option<&Compiler>) -> Option<Vec<u8>> {
    let (folder, prefix) = (cache.folder.as_ref()?, prefix(unit, arch));
    let own = compiler.and_then(|compiler| read(&folder.join(file_name(&prefix, compiler))));
    own.or_else(|| others(folder, &prefix).iter().find_map(|path| read(path)))
}

fn others(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with(prefix) && name.ends_with(".cubin")
        })
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

/// The machine code in a file of the cache; `None` if there is none or it is damaged.
fn read(path: &Path) -> Option<Vec<u8>> {
    let bytes = std::fs::read(path).ok()?;
    let (head, image) = bytes.split_at_checked(MAGIC.len() + 32)?;
    let (magic, sum) = head.split_at(MAGIC.len());
    (magic == MAGIC && sum == Sha256::digest(image).as_slice()).then(|| image.to_vec())
}

/// Written beside and renamed, so that a reader meets all of it or nothing.
fn write(folder: &Path, name: &str, image: &[u8]) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let part = folder.join(format!("{name}.{}.part", std::process::id()));
    let bytes = [MAGIC.as_slice(), Sha256::digest(image).as_slice(), image].concat();
    let written = std::fs::write(&part, bytes).and_then(|()| std::fs::rename(&part, folder.join(name)));
    if written.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    written
}

/// The kernels of one device.
pub(crate) struct Kernels {
    functions: HashMap<&'static str, Function>,
    _modules: Vec<Module>,
}

impl Kernels {
    /// Loads all modules, from the cache or compiled now.
    pub(crate) fn load(context: &Arc<Context>, cache: &KernelCache) -> Result<Self> {
        let images = images(cache, context.facts.arch())?;
        let (mut functions, mut modules) = (HashMap::new(), Vec::new());
        for (unit, (image, _)) in UNITS.iter().zip(&images) {
            let module = Module::load(context, unit.name, image)?;
            for (name, shared) in unit.kernels {
                functions.insert(*name, module.function(name, *shared)?);
            }
            modules.push(module);
        }
        Ok(Self { functions, _modules: modules })
    }

    /// A kernel by name.
    pub(crate) fn get(&self, name: &str) -> Result<Function> {
        let missing = || BackendError::Kernel { name: name.into(), log: "no such kernel".into() };
        self.functions.get(name).copied().ok_or_else(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_files_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "a.cubin", b"machine code").unwrap();
        let path = folder.path().join("a.cubin");
        assert_eq!(read(&path).unwrap(), b"machine code");
        let good = std::fs::read(&path).unwrap();
        for bad in [&good[..good.len() - 1], &good[..10], &[], &[good.as_slice(), b"x"].concat()] {
            std::fs::write(&path, bad).unwrap();
            assert!(read(&path).is_none());
        }
        let mut flipped = good;
        *flipped.last_mut().unwrap() ^= 1;
        std::fs::write(&path, flipped).unwrap();
        assert!(read(&path).is_none());
    }

    #[test]
    fn a_cache_is_used_without_a_compiler_and_missed_with_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let cache = KernelCache::at(folder.path());
        let none = "no compiler here".to_owned();
        let unit = &UNITS[0];
        let error = image(&cache, unit, 90, Err(&none)).unwrap_err().to_string();
        assert!(error.contains("no compiler here") && error.contains("cache"), "{error}");
        let name = format!("{}-{}-sm_90-nvrtc12.9.cubin", unit.name, digest(unit));
        write(folder.path(), &name, b"code").unwrap();
        assert_eq!(image(&cache, unit, 90, Err(&none)).unwrap(), (b"code".to_vec(), false));
        assert!(image(&cache, unit, 80, Err(&none)).is_err());
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error_of_writing_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, b"").unwrap();
        assert!(write(&file, "a.cubin", b"code").is_err());
        assert!(others(&file, "a").is_empty());
    }

    #[test]
    fn a_digest_covers_what_is_included_and_nothing_else() {
        let names = |source| included(source).iter().map(|(name, _)| *name).collect::<Vec<_>>();
        assert_eq!(names("#include \"curve.cuh\""), ["prelude.cuh", "field.cuh", "fp2.cuh", "curve.cuh"]);
        assert!(names("").is_empty());
    }

    #[test]
    fn every_header_that_is_included_is_listed() {
        for (name, text) in HEADERS.iter().copied().chain(UNITS.iter().map(|u| (u.name, u.source))) {
            for line in text.lines().filter_map(|line| line.strip_prefix("#include \"")) {
                let header = line.trim_end_matches('"');
                assert!(HEADERS.iter().any(|(listed, _)| *listed == header), "{name} includes {header}");
            }
        }
    }
}
