//! Pairs of everything a device has.

use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;
use std::time::Duration;

use super::super::{
    Backend, BackendError, Device, DeviceBuffer, DeviceInfo, Event, MemoryUse, Pending, PinnedBuffer,
    RegisteredPages, Result, SharedBytes,
};
use super::compare::{Pair, joined};
use crate::curve::Element;

/// The devices of two backends.
pub struct DualDevice<X: Backend, Y: Backend> {
    pub(super) x: X,
    pub(super) y: Y,
    info: DeviceInfo,
}

/// A buffer on each device. The halves are shared with the halves of keys and matrices while an operation runs.
pub struct DualBuffer<A: Device, B: Device, T: Element> {
    pub(super) x: Arc<A::Buffer<T>>,
    pub(super) y: Arc<B::Buffer<T>>,
}

type HalvesMut<'a, A, B, T> = (&'a mut <A as Device>::Buffer<T>, &'a mut <B as Device>::Buffer<T>);

/// Host memory known to each device; what is written goes to the first and follows to the second when it is used.
pub struct DualPinned<P, Q> {
    x: P,
    y: Q,
}

/// Pages registered with both.
pub struct DualPages<P, Q> {
    x: Arc<P>,
    y: Arc<Q>,
}

/// A stream on each.
pub struct DualStream<S, T> {
    pub(super) x: S,
    pub(super) y: T,
}

/// An event on each.
pub struct DualEvent<E, F> {
    x: E,
    y: F,
}

impl<X: Backend, Y: Backend> DualDevice<X, Y> {
    pub(super) fn new(x: X, y: Y) -> Self {
        let mut info = x.device().info().clone();
        let other = y.device().info();
        info.backend = format!("dual:{},{}", x.name(), y.name());
        info.name = format!("{} beside {}", info.name, other.name);
        Self { x, y, info }
    }

    pub(super) fn pair(&self, op: &'static str) -> Pair<'_, X, Y> {
        Pair { op, x: &self.x, y: &self.y }
    }
}

impl<A: Device, B: Device, T: Element> DualBuffer<A, B, T> {
    pub(super) fn new(x: A::Buffer<T>, y: B::Buffer<T>) -> Self {
        Self { x: Arc::new(x), y: Arc::new(y) }
    }

    pub(super) fn x(&self) -> &A::Buffer<T> {
        &self.x
    }
    pub(super) fn y(&self) -> &B::Buffer<T> {
        &self.y
    }

    /// Both halves for writing. They are exclusive unless a backend kept a share of a key's buffer that is now being written, which the
    /// contract leaves to the caller to avoid.
    pub(super) fn halves_mut(&mut self) -> Result<HalvesMut<'_, A, B, T>> {
        match (Arc::get_mut(&mut self.x), Arc::get_mut(&mut self.y)) {
            (Some(x), Some(y)) => Ok((x, y)),
            _ => Err(in_use()),
        }
    }

    pub(super) fn into_halves(self) -> Result<(A::Buffer<T>, B::Buffer<T>)> {
        match (Arc::into_inner(self.x), Arc::into_inner(self.y)) {
            (Some(x), Some(y)) => Ok((x, y)),
            _ => Err(in_use()),
        }
    }
}

fn in_use() -> BackendError {
    BackendError::Host {
        what: "writing half of a dual buffer".into(),
        reason: "it is still part of a key".into(),
    }
}

impl<A: Device, B: Device, T: Element> DeviceBuffer<T> for DualBuffer<A, B, T> {
    fn len(&self) -> usize {
        self.x.len()
    }
    fn label(&self) -> &str {
        self.x.label()
    }
}

impl<T, P: Deref<Target = [T]>, Q> Deref for DualPinned<P, Q> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.x
    }
}
impl<T, P: DerefMut<Target = [T]>, Q> DerefMut for DualPinned<P, Q> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.x
    }
}
impl<T: Element, P: PinnedBuffer<T>, Q: PinnedBuffer<T>> PinnedBuffer<T> for DualPinned<P, Q> {}

impl<P: RegisteredPages, Q: RegisteredPages> RegisteredPages for DualPages<P, Q> {
    fn bytes(&self) -> &[u8] {
        self.x.bytes()
    }
}

impl<E: Event, F: Event> Event for DualEvent<E, F> {
    fn is_complete(&self) -> Result<bool> {
        Ok(self.x.is_complete()? && self.y.is_complete()?)
    }
    fn wait(&self) -> Result<()> {
        self.x.wait().and(self.y.wait())
    }
}

impl<X: Backend, Y: Backend> Device for DualDevice<X, Y> {
    type Buffer<T: Element> = DualBuffer<X::Device, Y::Device, T>;
    type Pinned<T: Element> = DualPinned<<X::Device as Device>::Pinned<T>, <Y::Device as Device>::Pinned<T>>;
    type Pages = DualPages<<X::Device as Device>::Pages, <Y::Device as Device>::Pages>;
    type Stream = DualStream<<X::Device as Device>::Stream, <Y::Device as Device>::Stream>;
    type Event = DualEvent<<X::Device as Device>::Event, <Y::Device as Device>::Event>;

    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Field by field what is safe for both to plan with.
    fn memory(&self) -> MemoryUse {
        let (x, y) = (self.x.device().memory(), self.y.device().memory());
        MemoryUse {
            total: x.total.min(y.total),
            free: [x.free, y.free].into_iter().flatten().min(),
            ours: x.ours.max(y.ours),
            peak: x.peak.max(y.peak),
            pinned: x.pinned.max(y.pinned),
            margin: x.margin.max(y.margin),
        }
    }

    fn stream(&self, label: &str) -> Result<Self::Stream> {
        Ok(DualStream { x: self.x.device().stream(label)?, y: self.y.device().stream(label)? })
    }
    fn record(&self, stream: &Self::Stream) -> Result<Self::Event> {
        Ok(DualEvent { x: self.x.device().record(&stream.x)?, y: self.y.device().record(&stream.y)? })
    }
    fn wait_event(&self, stream: &Self::Stream, event: &Self::Event) -> Result<()> {
        self.x.device().wait_event(&stream.x, &event.x)?;
        self.y.device().wait_event(&stream.y, &event.y)
    }
    fn elapsed(&self, from: &Self::Event, to: &Self::Event) -> Result<Option<Duration>> {
        self.x.device().elapsed(&from.x, &to.x)
    }

    fn alloc<T: Element>(&self, label: &str, len: usize) -> Result<Self::Buffer<T>> {
        Ok(DualBuffer::new(self.x.device().alloc(label, len)?, self.y.device().alloc(label, len)?))
    }
    fn clear<T: Element>(
        &self,
        stream: &Self::Stream,
        buffer: &mut Self::Buffer<T>,
        range: Range<usize>,
    ) -> Result<()> {
        let (x, y) = buffer.halves_mut()?;
        let done =
            (self.x.device().clear(&stream.x, x, range.clone()), self.y.device().clear(&stream.y, y, range));
        self.pair("clear").both(done.0, done.1).map(drop)
    }
    fn pinned<T: Element>(&self, label: &str, len: usize) -> Result<Self::Pinned<T>> {
        Ok(DualPinned { x: self.x.device().pinned(label, len)?, y: self.y.device().pinned(label, len)? })
    }
    fn register(&self, pages: SharedBytes) -> Result<Self::Pages> {
        let x = self.x.device().register(pages.clone())?;
        Ok(DualPages { x: Arc::new(x), y: Arc::new(self.y.device().register(pages)?) })
    }

    fn upload<T: Element>(
        &self,
        stream: &Self::Stream,
        src: &[T],
        dst: &mut Self::Buffer<T>,
        at: usize,
    ) -> Result<()> {
        let (x, y) = dst.halves_mut()?;
        let done =
            (self.x.device().upload(&stream.x, src, x, at), self.y.device().upload(&stream.y, src, y, at));
        self.pair("upload").both(done.0, done.1).map(drop)
    }
    fn upload_pinned<T: Element>(
        &self,
        stream: &Self::Stream,
        mut src: Self::Pinned<T>,
        dst: &mut Self::Buffer<T>,
        at: usize,
    ) -> Result<Pending<Self::Pinned<T>>> {
        src.y.copy_from_slice(&src.x);
        let (x, y) = dst.halves_mut()?;
        let x = self.x.device().upload_pinned(&stream.x, src.x, x, at);
        let y = self.y.device().upload_pinned(&stream.y, src.y, y, at);
        let (x, y) = self.pair("upload_pinned").both(x, y)?;
        Ok(joined(x, y, |x, y| Ok(DualPinned { x, y })))
    }
    fn upload_pages(
        &self,
        stream: &Self::Stream,
        src: &Arc<Self::Pages>,
        range: Range<usize>,
        dst: &mut Self::Buffer<u8>,
        at: usize,
    ) -> Result<()> {
        let (x, y) = dst.halves_mut()?;
        let x = self.x.device().upload_pages(&stream.x, &src.x, range.clone(), x, at);
        let y = self.y.device().upload_pages(&stream.y, &src.y, range, y, at);
        self.pair("upload_pages").both(x, y).map(drop)
    }
    fn download<T: Element>(
        &self,
        stream: &Self::Stream,
        src: &Self::Buffer<T>,
        at: usize,
        dst: &mut [T],
    ) -> Result<()> {
        let pair = self.pair("download");
        let mut other = dst.to_vec();
        let x = self.x.device().download(&stream.x, &src.x, at, dst);
        let y = self.y.device().download(&stream.y, &src.y, at, &mut other);
        pair.both(x, y)?;
        pair.slices("dst", at, dst, &other)
    }
    /// Waits, as it compares.
    fn download_pinned<T: Element>(
        &self,
        stream: &Self::Stream,
        src: &Self::Buffer<T>,
        at: usize,
        dst: Self::Pinned<T>,
    ) -> Result<Pending<Self::Pinned<T>>> {
        let pair = self.pair("download_pinned");
        let x = self.x.device().download_pinned(&stream.x, &src.x, at, dst.x);
        let y = self.y.device().download_pinned(&stream.y, &src.y, at, dst.y);
        let (x, y) = pair.both(x, y)?;
        let (x, y) = pair.both(x.wait(), y.wait())?;
        pair.slices("dst", at, &x, &y)?;
        Ok(super::super::ready(DualPinned { x, y }))
    }
    fn copy<T: Element>(
        &self,
        stream: &Self::Stream,
        src: &Self::Buffer<T>,
        from: Range<usize>,
        dst: &mut Self::Buffer<T>,
        at: usize,
    ) -> Result<()> {
        let (x, y) = dst.halves_mut()?;
        let x = self.x.device().copy(&stream.x, &src.x, from.clone(), x, at);
        let y = self.y.device().copy(&stream.y, &src.y, from, y, at);
        self.pair("copy").both(x, y).map(drop)
    }
}
