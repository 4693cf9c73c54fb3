//! The backends of this build, by name: opened as a type for `bench`, erased for `prove`.

use cuzk_core::backend::cpu::CpuBackend;
use cuzk_core::backend::dual::DualBackend;
use cuzk_core::backend::naive::NaiveBackend;
use cuzk_core::backend::{Backend, BackendError, Device, DeviceInfo, OpenOptions};
use cuzk_core::prover::{Choice, Registry};

use crate::args::{BackendName, SINGLE_BACKENDS};
use crate::exit::Result;

/// A backend of this build.
trait Known: Backend {
    const NAME: &'static str;
    fn open(options: &OpenOptions) -> Result<Self, BackendError>;
    /// Its devices: the host's backends have one.
    fn devices() -> Result<Vec<DeviceInfo>, BackendError> {
        Ok(vec![Self::open(&OpenOptions::default())?.device().info().clone()])
    }
}

impl Known for NaiveBackend {
    const NAME: &'static str = "naive";
    fn open(options: &OpenOptions) -> Result<Self, BackendError> {
        NaiveBackend::open(options)
    }
}

impl Known for CpuBackend {
    const NAME: &'static str = "cpu";
    fn open(options: &OpenOptions) -> Result<Self, BackendError> {
        CpuBackend::open(options)
    }
}

/// All of them and their pairs, as provers.
pub fn registry() -> Registry {
    let mut registry = Registry::new();
    register_with_pairs::<NaiveBackend>(&mut registry);
    register_with_pairs::<CpuBackend>(&mut registry);
    registry
}

fn register_with_pairs<X: Known>(registry: &mut Registry) {
    registry.register(X::NAME, X::open, X::devices);
    register_pair::<X, NaiveBackend>(registry);
    register_pair::<X, CpuBackend>(registry);
}

fn register_pair<X: Known, Y: Known>(registry: &mut Registry) {
    let open = |options: &OpenOptions| Ok(DualBackend::new(X::open(options)?, Y::open(options)?));
    let list = move || Ok(vec![open(&OpenOptions::default())?.device().info().clone()]);
    registry.register(&format!("dual:{},{}", X::NAME, Y::NAME), open, list);
}

/// Work that is generic over the backend.
pub trait Visitor {
    /// What it gives.
    type Output;
    /// Does it.
    fn visit<B: Backend>(self, backend: B) -> Self::Output;
}

/// Opens the backend called `name` and hands it over as its own type.
pub fn with_backend<V: Visitor>(
    name: &str,
    options: &OpenOptions,
    visitor: V,
) -> Result<V::Output, BackendError> {
    match name.strip_prefix("dual:").and_then(|pair| pair.split_once(',')) {
        Some((first, second)) => with_single(first, options, First { second, options, visitor })?,
        None => with_single(name, options, visitor),
    }
}

fn with_single<V: Visitor>(name: &str, options: &OpenOptions, visitor: V) -> Result<V::Output, BackendError> {
    match name {
        NaiveBackend::NAME => Ok(visitor.visit(NaiveBackend::open(options)?)),
        CpuBackend::NAME => Ok(visitor.visit(CpuBackend::open(options)?)),
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
    options: &'a OpenOptions,
    visitor: V,
}

impl<V: Visitor> Visitor for First<'_, V> {
    type Output = Result<V::Output, BackendError>;
    fn visit<X: Backend>(self, first: X) -> Self::Output {
        with_single(self.second, self.options, Second { first, visitor: self.visitor })
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

    #[test]
    fn every_name_opens_or_says_why() {
        let registry = registry();
        let pairs = SINGLE_BACKENDS.iter().flat_map(|a| SINGLE_BACKENDS.map(|b| format!("dual:{a},{b}")));
        for name in SINGLE_BACKENDS.map(str::to_owned).into_iter().chain(pairs) {
            let gpu = name.contains("cuda") || name.contains("wgpu");
            let typed = with_backend(&name, &OpenOptions::default(), Describe);
            assert_eq!(registry.open(&name, &OpenOptions::default()).is_err(), gpu, "{name}");
            match typed {
                Ok(opened) => assert!(!gpu && opened == name, "{name} opened {opened}"),
                Err(BackendError::Unavailable { .. }) => assert!(gpu, "{name}"),
                Err(other) => panic!("{name}: {other}"),
            }
        }
    }

    #[test]
    fn devices_of_every_backend() {
        let list = devices(&registry());
        assert_eq!(list.iter().map(|(name, _)| *name).collect::<Vec<_>>(), SINGLE_BACKENDS);
        assert!(list.iter().all(|(name, found)| found.is_ok() == ["naive", "cpu"].contains(name)));
    }
}
