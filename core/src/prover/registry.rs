//! The backends of a program, by name. Libraries above are handed a registry and never link a GPU crate.

use std::sync::Arc;

use super::{DeviceProver, Lane, ProveError};
use crate::backend::{Backend, BackendError, DeviceInfo, DeviceKind, OpenOptions};

type Open = Box<dyn Fn(&OpenOptions) -> Result<Arc<dyn DeviceProver>, ProveError> + Send + Sync>;
type List = Box<dyn Fn() -> Result<Vec<DeviceInfo>, BackendError> + Send + Sync>;

struct Entry {
    name: String,
    open: Open,
    list: List,
}

/// Which backend `auto` took, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The backend's name.
    pub backend: String,
    /// Index of the device.
    pub device: usize,
    /// Why this one.
    pub reason: String,
}

/// Backends by name, in the order in which they were registered.
#[derive(Default)]
pub struct Registry {
    entries: Vec<Entry>,
}

impl Registry {
    /// Domains below this gain nothing from a GPU: starting one takes longer than the proof.
    pub const SMALL_LOG_N: u32 = 12;

    /// Without any.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a backend, or puts it in place of the one of that name. `list` tells which devices it could open.
    pub fn register<B: Backend>(
        &mut self,
        name: &str,
        open: impl Fn(&OpenOptions) -> Result<B, BackendError> + Send + Sync + 'static,
        list: impl Fn() -> Result<Vec<DeviceInfo>, BackendError> + Send + Sync + 'static,
    ) {
        let open: Open = Box::new(move |options| Ok(Arc::new(Lane::new(open(options)?)?)));
        self.entries.retain(|e| e.name != name);
        self.entries.push(Entry { name: name.into(), open, list: Box::new(list) });
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|e| e.name.as_str())
    }

    /// Opens a device of the backend called `name`: that one or an error, never another.
    pub fn open(&self, name: &str, options: &OpenOptions) -> Result<Arc<dyn DeviceProver>, ProveError> {
        (self.entry(name)?.open)(options)
    }

    /// The devices of every backend, or why it has none.
    pub fn devices(&self) -> Vec<(&str, Result<Vec<DeviceInfo>, BackendError>)> {
        self.entries.iter().map(|e| (e.name.as_str(), (e.list)())).collect()
    }

    /// What `auto` takes: a GPU through CUDA, else a real GPU through wgpu, else the CPU; and the CPU where the domain is too small
    /// to gain from a GPU.
    pub fn choose(&self, log_n: Option<u32>) -> Result<Choice, BackendError> {
        let small = log_n.is_some_and(|log_n| log_n < Self::SMALL_LOG_N);
        if let (true, Ok(_)) = (small, self.entry("cpu")) {
            let reason = format!("a domain below 2^{} is too small to gain from a GPU", Self::SMALL_LOG_N);
            return Ok(Choice { backend: "cpu".into(), device: 0, reason });
        }
        let mut passed_over = Vec::new();
        for name in ["cuda", "wgpu"] {
            let Ok(entry) = self.entry(name) else {
                passed_over.push(format!("this build has no {name} backend"));
                continue;
            };
            match (entry.list)() {
                Err(e) => passed_over.push(format!("{name}: {e}")),
                Ok(devices) => match devices.iter().find(|d| is_real_gpu(d.kind)) {
                    Some(d) => {
                        let reason = format!("{} is the first GPU found", d.name);
                        return Ok(Choice { backend: name.into(), device: d.index, reason });
                    }
                    None => passed_over.push(format!("{name}: no GPU")),
                },
            }
        }
        self.entry("cpu")?;
        Ok(Choice {
            backend: "cpu".into(),
            device: 0,
            reason: format!("no GPU can be used ({})", passed_over.join("; ")),
        })
    }

    fn entry(&self, name: &str) -> Result<&Entry, BackendError> {
        self.entries.iter().find(|e| e.name == name).ok_or_else(|| BackendError::Unavailable {
            backend: name.into(),
            reason: format!(
                "not part of this build, which has {}",
                self.names().collect::<Vec<_>>().join(", ")
            ),
        })
    }
}

fn is_real_gpu(kind: DeviceKind) -> bool {
    matches!(kind, DeviceKind::DiscreteGpu | DeviceKind::IntegratedGpu)
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
