//! Buffers, streams, events and transfers: the memory half of the contract.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;

use cuzk_core::backend::{
    BackendError, DeviceBuffer, Event, Pending, PendingResult, PinnedBuffer, RegisteredPages, Result,
};
use cuzk_core::curve::{Element, as_bytes, as_bytes_mut};

use crate::driver::{Allocation, HostBlock, HostPool, Pointer, RawEvent, RawStream, Registration};

/// An ordering domain: a CUDA stream.
pub struct CudaStream {
    pub(crate) raw: Arc<RawStream>,
    pub(crate) slot: usize,
}

/// A point in a stream.
pub struct CudaEvent(pub(crate) RawEvent);

impl Event for CudaEvent {
    fn is_complete(&self) -> Result<bool> {
        self.0.is_complete()
    }
    fn wait(&self) -> Result<()> {
        self.0.wait()
    }
}

/// Device memory.
pub struct CudaBuffer<T: Element> {
    allocation: Allocation,
    label: String,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Element> CudaBuffer<T> {
    pub(crate) fn new(allocation: Allocation, label: &str, len: usize) -> Self {
        Self { allocation, label: label.into(), len, element: PhantomData }
    }
    /// Address of its first element, for work on `stream`.
    pub(crate) fn on(&self, stream: &CudaStream) -> Pointer {
        self.allocation.used_by(stream.slot)
    }
    /// Address of element `range.start`, if the range lies inside.
    pub(crate) fn range(
        &self,
        op: &'static str,
        stream: &CudaStream,
        range: &Range<usize>,
    ) -> Result<Pointer> {
        if range.start > range.end || range.end > self.len {
            let (expected, found) = (self.len as u64, range.end.max(range.start) as u64);
            return Err(BackendError::Invalid { op, what: "the end of the range at most", expected, found });
        }
        Ok(self.on(stream) + (range.start * size_of::<T>()) as u64)
    }
}

impl<T: Element> DeviceBuffer<T> for CudaBuffer<T> {
    fn len(&self) -> usize {
        self.len
    }
    fn label(&self) -> &str {
        &self.label
    }
}

/// Page-locked host memory.
pub struct CudaPinned<T: Element> {
    block: HostBlock,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Element> CudaPinned<T> {
    pub(crate) fn new(pool: &Arc<HostPool>, label: &str, len: usize) -> Result<Self> {
        let bytes = len.saturating_mul(size_of::<T>());
        Ok(Self { block: pool.take(label, bytes)?, len, element: PhantomData })
    }
    fn byte_len(&self) -> usize {
        self.len * size_of::<T>()
    }
}

mod view {
    //! Pinned bytes as elements.
    #![expect(unsafe_code, reason = "views page-locked bytes as plain old data")]
    use super::CudaPinned;
    use cuzk_core::curve::Element;

    pub(super) fn elements<T: Element>(pinned: &CudaPinned<T>) -> &[T] {
        // SAFETY: the block holds at least `len` elements, is initialised, page-aligned, and any bytes form elements.
        unsafe { std::slice::from_raw_parts(pinned.block.as_ptr().cast(), pinned.len) }
    }
    pub(super) fn elements_mut<T: Element>(pinned: &mut CudaPinned<T>) -> &mut [T] {
        let len = pinned.len;
        // SAFETY: as above, and borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(pinned.block.as_mut_ptr().cast(), len) }
    }
    /// Queues a download into the block.
    pub(super) fn download<T: Element>(
        stream: &super::RawStream,
        from: super::Pointer,
        mut to: CudaPinned<T>,
    ) -> super::Result<super::InFlight<T>> {
        let bytes = to.byte_len();
        // SAFETY: `InFlight` keeps the block untouched until the event behind the copy; if recording fails, so did the copy's stream.
        unsafe { stream.download(from, to.block.as_mut_ptr(), bytes)? };
        super::InFlight::behind(stream, to)
    }
}

impl<T: Element> Deref for CudaPinned<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        view::elements(self)
    }
}
impl<T: Element> DerefMut for CudaPinned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        view::elements_mut(self)
    }
}
impl<T: Element> PinnedBuffer<T> for CudaPinned<T> {}

/// A pinned buffer that a queued copy still uses: it is not given back before the copy is done, whoever drops it.
pub(crate) struct InFlight<T: Element> {
    buffer: Option<CudaPinned<T>>,
    done: RawEvent,
}

impl<T: Element> InFlight<T> {
    fn behind(stream: &RawStream, buffer: CudaPinned<T>) -> Result<Self> {
        Ok(Self { buffer: Some(buffer), done: stream.record()? })
    }
    pub(crate) fn is_done(&self) -> Result<bool> {
        self.done.is_complete()
    }
    pub(crate) fn take(mut self) -> Result<CudaPinned<T>> {
        self.done.wait()?;
        let gone = || BackendError::Host { what: "pinned buffer".into(), reason: "taken twice".into() };
        self.buffer.take().ok_or_else(gone)
    }
}

impl<T: Element> Drop for InFlight<T> {
    fn drop(&mut self) {
        if self.buffer.is_some() {
            let _ = self.done.wait();
        }
    }
}

impl<T: Element> PendingResult<CudaPinned<T>> for InFlight<T> {
    fn is_ready(&self) -> Result<bool> {
        self.is_done()
    }
    fn wait(self: Box<Self>) -> Result<CudaPinned<T>> {
        self.take()
    }
}

/// Registered host pages.
pub struct CudaPages(pub(crate) Registration);

impl RegisteredPages for CudaPages {
    fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }
}

/// Queues a copy of a pinned buffer to the device.
pub(crate) fn upload_pinned<T: Element>(
    stream: &CudaStream,
    src: CudaPinned<T>,
    dst: &CudaBuffer<T>,
    at: usize,
) -> Result<Pending<CudaPinned<T>>> {
    let to = dst.range("upload", stream, &(at..at.saturating_add(src.len())))?;
    stream.raw.upload(as_bytes(&src), to)?;
    Ok(Box::new(InFlight::behind(&stream.raw, src)?))
}

/// Queues a copy from the device to a pinned buffer.
pub(crate) fn download_pinned<T: Element>(
    stream: &CudaStream,
    src: &CudaBuffer<T>,
    at: usize,
    dst: CudaPinned<T>,
) -> Result<InFlight<T>> {
    let from = src.range("download", stream, &(at..at.saturating_add(dst.len())))?;
    view::download(&stream.raw, from, dst)
}

/// Up to this size copies of pageable memory are left to the driver.
const DIRECT: usize = 256 << 10;
/// Bytes of a piece of a larger one.
const PIECE: usize = 8 << 20;

/// Pageable memory in pieces through two page-locked ones: the driver's own path is several times slower.
pub(crate) fn upload_staged(
    pool: &Arc<HostPool>,
    stream: &CudaStream,
    bytes: &[u8],
    to: Pointer,
) -> Result<()> {
    if bytes.len() <= DIRECT {
        return stream.raw.upload(bytes, to);
    }
    let mut waiting: [Option<InFlight<u8>>; 2] = [None, None];
    for (i, piece) in bytes.chunks(PIECE).enumerate() {
        let slot = &mut waiting[i % 2];
        let mut stage = match slot.take() {
            Some(previous) => previous.take()?,
            None => CudaPinned::new(pool, "upload", PIECE)?,
        };
        stage[..piece.len()].copy_from_slice(piece);
        stream.raw.upload(&stage[..piece.len()], to + (i * PIECE) as u64)?;
        *slot = Some(InFlight::behind(&stream.raw, stage)?);
    }
    Ok(())
}

/// The same the other way; waits.
pub(crate) fn download_staged<T: Element>(
    pool: &Arc<HostPool>,
    stream: &CudaStream,
    src: &CudaBuffer<T>,
    at: usize,
    dst: &mut [T],
) -> Result<()> {
    let from = src.range("download", stream, &(at..at.saturating_add(dst.len())))?;
    let bytes = as_bytes_mut(dst);
    if bytes.len() <= DIRECT {
        return stream.raw.download_now(from, bytes);
    }
    let mut waiting: Option<(InFlight<u8>, Range<usize>)> = None;
    for start in (0..bytes.len()).step_by(PIECE) {
        let range = start..(start + PIECE).min(bytes.len());
        let stage = CudaPinned::new(pool, "download", range.len())?;
        let next = view::download(&stream.raw, from + start as u64, stage)?;
        if let Some((previous, range)) = waiting.replace((next, range)) {
            bytes[range].copy_from_slice(&previous.take()?);
        }
    }
    if let Some((last, range)) = waiting {
        bytes[range].copy_from_slice(&last.take()?);
    }
    Ok(())
}
