//! Host memory for fast copies. On the host every copy is as fast as any, so what the pool saves is the first touch of fresh pages.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, PoisonError};

use super::{Account, Charge, Kind};
use crate::backend::{PinnedBuffer, Result};
use crate::curve::Element;

/// Pinned buffers waiting for reuse, by element type.
#[derive(Debug, Default)]
pub(super) struct Pool(HashMap<TypeId, Vec<Box<dyn Any + Send>>>);

/// A host buffer from the pool; goes back on drop.
pub struct HostPinned<T: Element> {
    data: Vec<T>,
    label: String,
    charge: Charge,
}

/// Never the content, which may be a witness.
impl<T: Element> fmt::Debug for HostPinned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostPinned").field("label", &self.label).field("len", &self.data.len()).finish()
    }
}

/// Idle buffers kept per element type.
const POOLED: usize = 4;

impl<T: Element> HostPinned<T> {
    pub(super) fn new(account: &Arc<Account>, label: &str, len: usize) -> Result<Self> {
        let reserve = |elements: usize| {
            let bytes = (elements as u64).saturating_mul(size_of::<T>() as u64);
            account.reserve(Kind::Pinned, label, bytes, None)
        };
        // An idle buffer may be larger than asked for, and too large for what is left.
        let pooled =
            account.take_pooled::<T>(len).and_then(|data| Some((reserve(data.capacity()).ok()?, data)));
        let (charge, mut data) = match pooled {
            Some(pooled) => pooled,
            None => (reserve(len)?, account.zeros(label, len)?),
        };
        data.resize(len, T::zeroed());
        Ok(Self { data, label: label.into(), charge })
    }
}

impl Account {
    /// An idle buffer that holds `len` elements; while it is idle it does not count as pinned.
    fn take_pooled<T: Element>(&self, len: usize) -> Option<Vec<T>> {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = pool.0.get_mut(&TypeId::of::<T>())?;
        let fits = |b: &Box<dyn Any + Send>| b.downcast_ref::<Vec<T>>().is_some_and(|v| v.capacity() >= len);
        let at = idle.iter().position(fits)?;
        idle.swap_remove(at).downcast().ok().map(|b| *b)
    }
}

impl<T: Element> Drop for HostPinned<T> {
    fn drop(&mut self) {
        let data = std::mem::take(&mut self.data);
        let mut pool = self.charge.account.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = pool.0.entry(TypeId::of::<T>()).or_default();
        if idle.len() < POOLED {
            idle.push(Box::new(data));
        }
    }
}

impl<T: Element> Deref for HostPinned<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.data
    }
}
impl<T: Element> DerefMut for HostPinned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.data
    }
}
impl<T: Element> PinnedBuffer<T> for HostPinned<T> {}
