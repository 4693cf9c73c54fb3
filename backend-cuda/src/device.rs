//! The CUDA device: [`Device`] over the driver wrappers.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use cuzk_core::backend::{
    BackendError, Device, DeviceInfo, DeviceKind, MemoryUse, OpenOptions, Pending, Result, SharedBytes,
};
use cuzk_core::curve::{Element, as_bytes};

use crate::driver::{Allocation, Context, Facts, HostPool, NAME, Pointer, Pool, Registration};
use crate::memory::{
    CudaBuffer, CudaEvent, CudaPages, CudaPinned, CudaStream, download_pinned, download_staged,
    upload_pinned, upload_staged,
};

/// One NVIDIA GPU.
pub struct CudaDevice {
    pub(crate) context: Arc<Context>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) host: Arc<HostPool>,
    info: DeviceInfo,
}

/// A device as `cuzk devices` shows it.
pub(crate) fn device_info(index: usize, facts: &Facts) -> DeviceInfo {
    DeviceInfo {
        backend: NAME.into(),
        name: facts.name.clone(),
        kind: if facts.integrated { DeviceKind::IntegratedGpu } else { DeviceKind::DiscreteGpu },
        index,
        units: facts.multiprocessors,
        facts: vec![
            ("architecture".into(), format!("sm_{}", facts.arch())),
            ("driver".into(), format!("CUDA {}.{}", facts.driver.0, facts.driver.1)),
            ("bus".into(), facts.bus.clone()),
            ("memory".into(), format!("{:.1} GiB", facts.total_memory as f64 / (1u64 << 30) as f64)),
        ],
    }
}

impl CudaDevice {
    pub(crate) fn open(options: &OpenOptions) -> Result<Self> {
        let context = Context::open(options.device)?;
        let info = device_info(options.device, &context.facts);
        let pool = Pool::new(&context, options.device, options.memory_limit, options.margin)?;
        let host = HostPool::new(&context);
        Ok(Self { context, pool, host, info })
    }

    /// Copies bytes to an address inside a live allocation.
    pub(crate) fn upload_raw(&self, stream: &CudaStream, src: &[u8], to: Pointer) -> Result<()> {
        upload_staged(&self.host, stream, src, to)
    }

    /// Memory for work on one stream alone.
    pub(crate) fn scratch(&self, label: &str, bytes: u64, stream: &CudaStream) -> Result<Allocation> {
        self.pool.scratch(label, bytes, &stream.raw)
    }
}

impl Device for CudaDevice {
    type Buffer<T: Element> = CudaBuffer<T>;
    type Pinned<T: Element> = CudaPinned<T>;
    type Pages = CudaPages;
    type Stream = CudaStream;
    type Event = CudaEvent;

    fn info(&self) -> &DeviceInfo {
        &self.info
    }
    fn memory(&self) -> MemoryUse {
        self.pool.memory(self.host.bytes())
    }

    fn stream(&self, _label: &str) -> Result<CudaStream> {
        let (raw, slot) = self.pool.stream()?;
        Ok(CudaStream { raw, slot })
    }
    fn record(&self, stream: &CudaStream) -> Result<CudaEvent> {
        Ok(CudaEvent(stream.raw.record()?))
    }
    fn wait_event(&self, stream: &CudaStream, event: &CudaEvent) -> Result<()> {
        stream.raw.wait_for(&event.0)
    }
    fn finish(&self, stream: &CudaStream) -> Result<()> {
        stream.raw.finish()
    }
    fn elapsed(&self, from: &CudaEvent, to: &CudaEvent) -> Result<Option<Duration>> {
        Ok(Some(from.0.until(&to.0)?))
    }

    fn alloc<T: Element>(&self, label: &str, len: usize) -> Result<CudaBuffer<T>> {
        let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
        Ok(CudaBuffer::new(self.pool.alloc(label, bytes)?, label, len))
    }
    fn clear<T: Element>(
        &self,
        stream: &CudaStream,
        buffer: &mut CudaBuffer<T>,
        range: Range<usize>,
    ) -> Result<()> {
        let at = buffer.range("clear", stream, &range)?;
        stream.raw.clear(at, range.len() * size_of::<T>())
    }
    fn pinned<T: Element>(&self, label: &str, len: usize) -> Result<CudaPinned<T>> {
        CudaPinned::new(&self.host, label, len)
    }
    fn register(&self, pages: SharedBytes) -> Result<CudaPages> {
        Ok(CudaPages(Registration::new(&self.context, pages)?))
    }

    fn upload<T: Element>(
        &self,
        stream: &CudaStream,
        src: &[T],
        dst: &mut CudaBuffer<T>,
        at: usize,
    ) -> Result<()> {
        let to = dst.range("upload", stream, &(at..at.saturating_add(src.len())))?;
        upload_staged(&self.host, stream, as_bytes(src), to)
    }
    fn upload_pinned<T: Element>(
        &self,
        stream: &CudaStream,
        src: CudaPinned<T>,
        dst: &mut CudaBuffer<T>,
        at: usize,
    ) -> Result<Pending<CudaPinned<T>>> {
        upload_pinned(stream, src, dst, at)
    }
    fn upload_pages(
        &self,
        stream: &CudaStream,
        src: &Arc<CudaPages>,
        range: Range<usize>,
        dst: &mut CudaBuffer<u8>,
        at: usize,
    ) -> Result<()> {
        let (len, end) = (src.0.bytes().len() as u64, range.end as u64);
        let outside = || BackendError::Invalid {
            op: "upload",
            what: "the end of the pages at most",
            expected: len,
            found: end,
        };
        let bytes = src.0.bytes().get(range).ok_or_else(outside)?;
        let to = dst.range("upload", stream, &(at..at.saturating_add(bytes.len())))?;
        stream.raw.upload(bytes, to)
    }
    fn download<T: Element>(
        &self,
        stream: &CudaStream,
        src: &CudaBuffer<T>,
        at: usize,
        dst: &mut [T],
    ) -> Result<()> {
        download_staged(&self.host, stream, src, at, dst)
    }
    fn download_pinned<T: Element>(
        &self,
        stream: &CudaStream,
        src: &CudaBuffer<T>,
        at: usize,
        dst: CudaPinned<T>,
    ) -> Result<Pending<CudaPinned<T>>> {
        Ok(Box::new(download_pinned(stream, src, at, dst)?))
    }
    fn copy<T: Element>(
        &self,
        stream: &CudaStream,
        src: &CudaBuffer<T>,
        from: Range<usize>,
        dst: &mut CudaBuffer<T>,
        at: usize,
    ) -> Result<()> {
        let source = src.range("copy", stream, &from)?;
        let target = dst.range("copy", stream, &(at..at.saturating_add(from.len())))?;
        stream.raw.copy(source, target, from.len() * size_of::<T>())
    }
}
