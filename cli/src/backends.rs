//! The backends of this build, by name: opened as a type for `bench`, erased for `prove`.

use std::path::{Path, PathBuf};

#[cfg(feature = "cuda")]
use cuzk_backend_cuda::{CudaBackend, KernelCache};
use cuzk_core::backend::cpu::CpuBackend;
use cuzk_core::backend::dual::DualBackend;
use cuzk_core::backend::naive::NaiveBackend;
use cuzk_core::backend::{Backend, BackendError, Device, DeviceInfo, OpenOptions};
use cuzk_core::prover::{Choice, Registry};

use crate::Context;
use crate::args::{BackendName, SINGLE_BACKENDS};
use crate::exit::Result;

/// What a backend is opened with.
pub struct Opening<'a> {
    /// Device and memory.
    pub options: &'a OpenOptions,
    /// Folder of compiled kernels, if there is one.
    pub kernels: Option<&'a Path>,
}

/// A backend of this build.
trait Known: Backend {
    const NAME: &'static str;
    fn open(opening: &Opening<'_>) -> Result<Self, BackendError>;
    /// Its devices: the host's backends have one.
    fn devices(kernels: Option<&Path>) -> Result<Vec<DeviceInfo>, BackendError> {
        let options = &OpenOptions::default();
        Ok(vec![Self::open(&Opening { options, kernels })?.device().info().clone()])
    }
}

impl Known for NaiveBackend {
    const NAME: &'static str = "naive";
    fn open(opening: &Opening<'_>) -> Result<Self, BackendError> {
        NaiveBackend::open(opening.options)
    }
}

impl Known for CpuBackend {
    const NAME: &'static str = "cpu";
    fn open(opening: &Opening<'_>) -> Result<Self, BackendError> {
        CpuBackend::open(opening.options)
    }
}

#[cfg(feature = "cuda")]
fn cache(kernels: Option<&Path>) -> KernelCache {
    kernels.map_or_else(KernelCache::none, KernelCache::at)
}

#[cfg(feature = "cuda")]
impl Known for CudaBackend {
    const NAME: &'static str = "cuda";
    fn open(opening: &Opening<'_>) -> Result<Self, BackendError> {
        CudaBackend::open(opening.options, &cache(opening.kernels))
    }
    fn devices(kernels: Option<&Path>) -> Result<Vec<DeviceInfo>, BackendError> {
        CudaBackend::devices(&cache(kernels))
    }
}

/// All of them as provers, and the pairs that are of use: a GPU's operations are compared with the CPU's, the naive ones would take
/// too long. `kernels` is the folder where compiled kernels are kept.
pub fn registry(kernels: Option<PathBuf>) -> Registry {
    let mut registry = Registry::new();
    let kernels = kernels.as_deref();
    register::<NaiveBackend>(&mut registry, kernels);
    register::<CpuBackend>(&mut registry, kernels);
    register_pair::<NaiveBackend, NaiveBackend>(&mut registry, kernels);
    register_pair::<NaiveBackend, CpuBackend>(&mut registry, kernels);
    register_pair::<CpuBackend, NaiveBackend>(&mut registry, kernels);
    register_pair::<CpuBackend, CpuBackend>(&mut registry, kernels);
    #[cfg(feature = "cuda")]
    {
        register::<CudaBackend>(&mut registry, kernels);
        register_pair::<CudaBackend, CpuBackend>(&mut registry, kernels);
        register_pair::<CpuBackend, CudaBackend>(&mut registry, kernels);
    }
    registry
}

fn register<X: Known>(registry: &mut Registry, kernels: Option<&Path>) {
    let [to_open, to_list] = [(); 2].map(|()| kernels.map(Path::to_owned));
    let open = move |options: &OpenOptions| X::open(&Opening { options, kernels: to_open.as_deref() });
    registry.register(X::NAME, open, move || X::devices(to_list.as_deref()));
}

fn register_pair<X: Known, Y: Known>(registry: &mut Registry, kernels: Option<&Path>) {
    let kernels = kernels.map(Path::to_owned);
    let open = move |options: &OpenOptions| {
        let opening = Opening { options, kernels: kernels.as_deref() };
        Ok(DualBackend::new(X::open(&opening)?, Y::open(&opening)?))
    };
    // Nobody lists pairs: their devices are those of their halves.
    registry.register(&format!("dual:{},{}", X::NAME, Y::NAME), open, || Ok(Vec::new()));
}

/// Work that is generic over the backend.
pub trait Visitor {
    /// What it gives.
    type Output;
    /// Does it.
    fn visit<B: Backend>(self, backend: B) -> Self::Output;
}

/// Opens the backend called `name` and hands it over as its own type. Of pairs only the host's: whoever measures a GPU measures it
/// alone, and every pair is compiled once more for every visitor.
pub fn with_backend<V: Visitor>(
    name: &str,
    opening: &Opening<'_>,
    visitor: V,
) -> Result<V::Output, BackendError> {
    match name.strip_prefix("dual:").and_then(|pair| pair.split_once(',')) {
        #[cfg(feature = "cuda")]
        Some(pair) if [pair.0, pair.1].contains(&CudaBackend::NAME) => Err(BackendError::Unavailable {
            backend: name.to_owned(),
            reason: "a GPU is measured alone, take --backend cuda; `prove` takes pairs".to_owned(),
        }),
        Some((first, second)) => with_host(first, opening, First { second, opening, visitor })?,
        #[cfg(feature = "cuda")]
        None if name == CudaBackend::NAME => Ok(visitor.visit(<CudaBackend as Known>::open(opening)?)),
        None => with_host(name, opening, visitor),
    }
}

fn with_host<V: Visitor>(name: &str, opening: &Opening<'_>, visitor: V) -> Result<V::Output, BackendError> {
    match name {
        NaiveBackend::NAME => Ok(visitor.visit(<NaiveBackend as Known>::open(opening)?)),
        CpuBackend::NAME => Ok(visitor.visit(<CpuBackend as Known>::open(opening)?)),
        _ => Err(not_in_this_build(name)),
    }
}

fn not_in_this_build(name: &str) -> BackendError {
    let reason = format!("this build has no {name} backend: take --backend cpu");
    BackendError::Unavailable { backend: name.to_owned(), reason }
}

/// Opens the second of a pair once the first is there.
struct First<'a, V> {
    second: &'a str,
    opening: &'a Opening<'a>,
    visitor: V,
}

impl<V: Visitor> Visitor for First<'_, V> {
    type Output = Result<V::Output, BackendError>;
    fn visit<X: Backend>(self, first: X) -> Self::Output {
        with_host(self.second, self.opening, Second { first, visitor: self.visitor })
    }
}

struct Second<X, V> {
    first: X,
    visitor: V,
}

impl<X: Backend, V: Visitor> Visitor for Second<X, V> {
    type Output = V::Output;
    fn visit<Y: Backend>(self, second: Y) -> Self::Output {
        self.visitor.visit(DualBackend::new(self.first, second))
    }
}

/// Says so where opening the backend called `name` is going to compile kernels, because that takes a while.
#[cfg(feature = "cuda")]
pub fn announce(context: &Context, name: &str, options: &OpenOptions) {
    let kernels = context.kernels.as_deref();
    if !name.contains(CudaBackend::NAME) {
        return;
    }
    // What is wrong with a device is said when it is opened.
    let devices = <CudaBackend as Known>::devices(kernels).unwrap_or_default();
    let missing = |d: &&DeviceInfo| d.facts.iter().any(|(_, value)| value == CudaBackend::NOT_COMPILED);
    if let Some(device) = devices.iter().filter(|d| d.index == options.device).find(missing) {
        let kept = match kernels {
            Some(folder) => format!("once: they are kept in {}", folder.display()),
            None => "every time: there is no folder to keep them in, see --cache-dir".to_owned(),
        };
        context.output.note(format!("compiling kernels for {}, {kept}", device.name));
    }
}

/// This build compiles no kernels.
#[cfg(not(feature = "cuda"))]
pub fn announce(_: &Context, _: &str, _: &OpenOptions) {}

/// Takes the backend that was named, or lets the registry choose for a domain of 2^`log_domain`.
pub fn choose(registry: &Registry, request: &BackendName, log_domain: u32) -> Result<Choice, BackendError> {
    match request {
        BackendName::Named(name) => {
            Ok(Choice { backend: name.clone(), device: 0, reason: "named".to_owned() })
        }
        BackendName::Auto => registry.choose(Some(log_domain)),
    }
}

/// The devices of every single backend there could be, or why there are none. Pairs add nothing to it.
pub fn devices(registry: &Registry) -> Vec<(&'static str, Result<Vec<DeviceInfo>, BackendError>)> {
    let mut found: Vec<_> = registry.devices();
    let mut take = |name| {
        let index = found.iter().position(|(known, _)| *known == name)?;
        Some(found.swap_remove(index).1)
    };
    SINGLE_BACKENDS.map(|name| (name, take(name).unwrap_or_else(|| Err(not_in_this_build(name))))).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Describe;
    impl Visitor for Describe {
        type Output = String;
        fn visit<B: Backend>(self, backend: B) -> String {
            backend.name().to_owned()
        }
    }

    /// A GPU's backend opens or says why not, as the machine has it; the host's always open.
    #[test]
    fn every_name_opens_or_says_why() {
        let registry = registry(None);
        let pairs = SINGLE_BACKENDS.iter().flat_map(|a| SINGLE_BACKENDS.map(|b| format!("dual:{a},{b}")));
        let options = &OpenOptions::default();
        for name in SINGLE_BACKENDS.map(str::to_owned).into_iter().chain(pairs) {
            let gpu = name.contains("cuda") || name.contains("wgpu");
            match with_backend(&name, &Opening { options, kernels: None }, Describe) {
                Ok(opened) => assert!(opened == name, "{name} opened {opened}"),
                Err(BackendError::Unavailable { .. }) => assert!(gpu, "{name}"),
                Err(other) => panic!("{name}: {other}"),
            }
            let opened = registry.open(&name, options);
            assert!(gpu || opened.is_ok(), "{name}");
            assert!(!name.contains("wgpu") || opened.is_err(), "{name}");
        }
    }

    #[test]
    fn pairs_of_this_build() {
        let registry = registry(None);
        let names: Vec<_> = registry.names().collect();
        for name in ["naive", "cpu", "dual:cpu,naive", "dual:cpu,cpu"] {
            assert!(names.contains(&name), "{name}");
        }
        for name in ["cuda", "dual:cuda,cpu", "dual:cpu,cuda"] {
            assert_eq!(names.contains(&name), cfg!(feature = "cuda"), "{name}");
        }
    }

    #[test]
    fn devices_of_every_backend() {
        let list = devices(&registry(None));
        assert_eq!(list.iter().map(|(name, _)| *name).collect::<Vec<_>>(), SINGLE_BACKENDS);
        for (name, found) in list {
            match found {
                Ok(devices) => assert!(!devices.is_empty() && name != "wgpu", "{name}"),
                Err(BackendError::Unavailable { .. }) => assert!(["wgpu", "cuda"].contains(&name), "{name}"),
                Err(other) => panic!("{name}: {other}"),
            }
        }
    }
}
