//! Host memory for fast copies. On the host every copy is as fast as any, so what the pool saves is the first touch of fresh pages.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use super::Account;
use crate::backend::{PinnedBuffer, Result};
use crate::curve::Element;

/// Pinned buffers waiting for reuse, by element type.
#[derive(Debug, Default)]
pub(super) struct Pool(HashMap<TypeId, Vec<Box<dyn Any + Send>>>);

/// A host buffer from the pool; goes back on drop.
#[derive(Debug)]
pub struct HostPinned<T: Element> {
    data: Vec<T>,
    account: Arc<Account>,
}

/// Idle buffers kept per element type.
const POOLED: usize = 4;

impl<T: Element> HostPinned<T> {
    pub(super) fn new(account: &Arc<Account>, label: &str, len: usize) -> Result<Self> {
        let mut data: Vec<T> = account.take_pooled(len).unwrap_or_default();
        let missing = len.saturating_sub(data.capacity()) as u64 * size_of::<T>() as u64;
        let available =
            account.memory(None).available().saturating_sub(account.pinned.load(Ordering::Relaxed));
        if missing > available {
            return Err(account.out_of_memory(label, missing, available));
        }
        if len > data.capacity() {
            data = account.zeros(label, len)?;
        }
        data.resize(len, T::zeroed());
        account.pinned.fetch_add(bytes_of(&data), Ordering::Relaxed);
        Ok(Self { data, account: account.clone() })
    }
}

fn bytes_of<T>(data: &Vec<T>) -> u64 {
    (data.capacity() * size_of::<T>()) as u64
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
        self.account.pinned.fetch_sub(bytes_of(&data), Ordering::Relaxed);
        let mut pool = self.account.pool.lock().unwrap_or_else(PoisonError::into_inner);
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
