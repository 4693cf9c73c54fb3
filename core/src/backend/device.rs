//! The memory half of the contract: buffers, transfers, streams and events. See the prose in [`super`].

use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;
use std::time::Duration;

use super::error::Result;
use crate::curve::Element;

/// What a device is; fixed for as long as it is open.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct DeviceInfo {
    /// Backend name: "cpu", "wgpu", "cuda", "dual:cuda,cpu".
    pub backend: String,
    /// Name of the device, as its driver gives it.
    pub name: String,
    /// Kind of device.
    pub kind: DeviceKind,
    /// Index for `--device`.
    pub index: usize,
    /// Parallel units: cores, multiprocessors or compute units; 0 where unknown.
    pub units: u32,
    /// Free-form facts for `cuzk devices`: driver, architecture, bus, limits.
    pub facts: Vec<(String, String)>,
}

/// Kind of device; `auto` prefers real GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceKind {
    /// The host's processor.
    Cpu,
    /// A GPU with its own memory.
    DiscreteGpu,
    /// A GPU that shares the host's memory.
    IntegratedGpu,
    /// A GPU interface run by the processor (lavapipe, SwiftShader).
    SoftwareGpu,
}

/// Memory of a device, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct MemoryUse {
    /// What the device has, or the budget where it cannot tell.
    pub total: u64,
    /// What is free, where the device can tell.
    pub free: Option<u64>,
    /// What this process has allocated through this backend now.
    pub ours: u64,
    /// The most it ever had.
    pub peak: u64,
    /// Page-locked host memory of this backend.
    pub pinned: u64,
    /// What allocations leave untouched.
    pub margin: u64,
}

impl MemoryUse {
    /// What an allocation may take: the tighter of the budget and the driver's word, less the margin.
    pub fn available(&self) -> u64 {
        let budget = self.total.saturating_sub(self.ours);
        self.free.map_or(budget, |free| free.min(budget)).saturating_sub(self.margin)
    }
}

/// How a device is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenOptions {
    /// Index of the device within its backend.
    pub device: usize,
    /// Make the device plan as if it had this much memory; bytes.
    pub memory_limit: Option<u64>,
    /// Bytes that allocations leave untouched; at most an eighth of the device's memory, so that small devices stay usable.
    pub margin: u64,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self { device: 0, memory_limit: None, margin: Self::DEFAULT_MARGIN }
    }
}

impl OpenOptions {
    /// 512 MiB.
    pub const DEFAULT_MARGIN: u64 = 512 << 20;
}

/// Memory of a device, owned, named and counted; freed on drop once the work queued on it is done.
pub trait DeviceBuffer<T: Element>: Send + Sync {
    /// Number of elements.
    fn len(&self) -> usize;
    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The name it was allocated under.
    fn label(&self) -> &str;
}

/// Host memory that a device reads and writes at full speed: page-locked on CUDA, staging on wgpu. Returned to its pool on drop.
pub trait PinnedBuffer<T: Element>: Deref<Target = [T]> + DerefMut + Send + Sync + 'static {}

/// Existing host pages made known to the device, for example a mapped key; unregistered on drop.
pub trait RegisteredPages: Send + Sync {
    /// The registered bytes.
    fn bytes(&self) -> &[u8];
}

/// Bytes owned by somebody else and shared: a mapped file or a vector.
pub type SharedBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// A point in a stream.
pub trait Event: Send + Sync {
    /// Whether the work before it is done. Never blocks.
    fn is_complete(&self) -> Result<bool>;
    /// Blocks until the work before it is done; reports what went wrong in it.
    fn wait(&self) -> Result<()>;
}

/// A result that is on its way.
pub trait PendingResult<T>: Send {
    /// Whether `wait` would return at once.
    fn is_ready(&self) -> Result<bool>;
    /// Blocks until the result is there.
    fn wait(self: Box<Self>) -> Result<T>;
}

/// A boxed [`PendingResult`].
pub type Pending<T> = Box<dyn PendingResult<T>>;

struct Ready<T>(T);

impl<T: Send> PendingResult<T> for Ready<T> {
    fn is_ready(&self) -> Result<bool> {
        Ok(true)
    }
    fn wait(self: Box<Self>) -> Result<T> {
        Ok(self.0)
    }
}

/// A result that is already there: what backends that compute in place return.
pub fn ready<T: Send + 'static>(value: T) -> Pending<T> {
    Box::new(Ready(value))
}

/// One open device: its memory and its order of execution.
pub trait Device: Send + Sync + 'static {
    /// Device memory.
    type Buffer<T: Element>: DeviceBuffer<T>;
    /// Host memory for fast copies.
    type Pinned<T: Element>: PinnedBuffer<T>;
    /// Registered host pages.
    type Pages: RegisteredPages;
    /// An ordering domain.
    type Stream: Send + Sync + 'static;
    /// A point in a stream.
    type Event: Event;

    /// What the device is.
    fn info(&self) -> &DeviceInfo;
    /// Memory now.
    fn memory(&self) -> MemoryUse;

    /// A new stream.
    fn stream(&self, label: &str) -> Result<Self::Stream>;
    /// Marks the end of what is queued on `stream`.
    fn record(&self, stream: &Self::Stream) -> Result<Self::Event>;
    /// Makes later work on `stream` wait for `event`; the host does not wait.
    fn wait_event(&self, stream: &Self::Stream, event: &Self::Event) -> Result<()>;
    /// Device time between two completed events, where the device has a clock.
    fn elapsed(&self, from: &Self::Event, to: &Self::Event) -> Result<Option<Duration>>;

    /// `len` elements of undefined content, usable on any stream.
    fn alloc<T: Element>(&self, label: &str, len: usize) -> Result<Self::Buffer<T>>;
    /// Sets `range` of `buffer` to zero bytes.
    fn clear<T: Element>(
        &self,
        stream: &Self::Stream,
        buffer: &mut Self::Buffer<T>,
        range: Range<usize>,
    ) -> Result<()>;
    /// Host memory from the pool; content undefined but initialised.
    fn pinned<T: Element>(&self, label: &str, len: usize) -> Result<Self::Pinned<T>>;
    /// Makes existing pages readable at full speed; `Unsupported` is an answer.
    fn register(&self, pages: SharedBytes) -> Result<Self::Pages>;

    /// Copies `src` to `dst[at..]`. On return `src` may be reused; the copy is ordered on `stream`.
    fn upload<T: Element>(
        &self,
        stream: &Self::Stream,
        src: &[T],
        dst: &mut Self::Buffer<T>,
        at: usize,
    ) -> Result<()>;
    /// Copies `src` to `dst[at..]` without waiting; `src` comes back when it may be reused.
    fn upload_pinned<T: Element>(
        &self,
        stream: &Self::Stream,
        src: Self::Pinned<T>,
        dst: &mut Self::Buffer<T>,
        at: usize,
    ) -> Result<Pending<Self::Pinned<T>>>;
    /// Copies bytes of registered pages to `dst[at..]` without waiting. The pages stay registered until the copy is done.
    fn upload_pages(
        &self,
        stream: &Self::Stream,
        src: &Arc<Self::Pages>,
        range: Range<usize>,
        dst: &mut Self::Buffer<u8>,
        at: usize,
    ) -> Result<()>;
    /// Copies `src[at..at + dst.len()]` to the host after the work queued on `stream`; waits for it.
    fn download<T: Element>(
        &self,
        stream: &Self::Stream,
        src: &Self::Buffer<T>,
        at: usize,
        dst: &mut [T],
    ) -> Result<()>;
    /// The same without waiting.
    fn download_pinned<T: Element>(
        &self,
        stream: &Self::Stream,
        src: &Self::Buffer<T>,
        at: usize,
        dst: Self::Pinned<T>,
    ) -> Result<Pending<Self::Pinned<T>>>;
    /// Copies on the device.
    fn copy<T: Element>(
        &self,
        stream: &Self::Stream,
        src: &Self::Buffer<T>,
        from: Range<usize>,
        dst: &mut Self::Buffer<T>,
        at: usize,
    ) -> Result<()>;

    /// A buffer with the content of `src`.
    fn upload_new<T: Element>(
        &self,
        stream: &Self::Stream,
        label: &str,
        src: &[T],
    ) -> Result<Self::Buffer<T>> {
        let mut buffer = self.alloc(label, src.len())?;
        self.upload(stream, src, &mut buffer, 0)?;
        Ok(buffer)
    }
    /// The whole content of a buffer.
    fn download_all<T: Element>(&self, stream: &Self::Stream, src: &Self::Buffer<T>) -> Result<Vec<T>> {
        let mut out = vec![T::zeroed(); src.len()];
        self.download(stream, src, 0, &mut out)?;
        Ok(out)
    }
    /// Waits for everything queued on one stream.
    fn finish(&self, stream: &Self::Stream) -> Result<()> {
        self.record(stream)?.wait()
    }
}
