//! Comparison of two backends' results. Only public results are shown: scalars, classes and sums come from witnesses.

use super::super::{
    Backend, BackendError, Device, DeviceBuffer, Pending, PendingResult, PointReport, Result, Stream,
};
use super::{DualBackend, DualBuffer};
use crate::curve::{Curve, Element, as_bytes};

/// Whose results of what are being compared.
pub(super) struct Pair<'a, X: Backend, Y: Backend> {
    pub(super) op: &'static str,
    pub(super) x: &'a X,
    pub(super) y: &'a Y,
}

/// What a mismatch says: the operation and the two names, for results that arrive later too.
#[derive(Clone)]
struct Origin {
    op: &'static str,
    left: String,
    right: String,
}

impl Origin {
    fn mismatch(&self, buffer: &'static str, index: usize, difference: String) -> BackendError {
        BackendError::Mismatch {
            op: self.op,
            left: self.left.clone(),
            right: self.right.clone(),
            buffer,
            index,
            difference,
        }
    }
}

impl<X: Backend, Y: Backend> Pair<'_, X, Y> {
    fn origin(&self) -> Origin {
        Origin { op: self.op, left: self.x.name().into(), right: self.y.name().into() }
    }

    /// Both outcomes, or the error of either. That one backend takes what the other refuses as invalid is a disagreement; that one
    /// runs out of memory or does not support something is not.
    pub(super) fn both<A, B>(&self, x: Result<A>, y: Result<B>) -> Result<(A, B)> {
        match (x, y) {
            (Ok(x), Ok(y)) => Ok((x, y)),
            (Err(e), Ok(_)) if e.is_invalid() => {
                Err(self.origin().mismatch("outcome", 0, format!("only the first refuses: {e}")))
            }
            (Ok(_), Err(e)) if e.is_invalid() => {
                Err(self.origin().mismatch("outcome", 0, format!("only the second refuses: {e}")))
            }
            (Err(e), _) | (_, Err(e)) => Err(e),
        }
    }

    /// Downloads a whole buffer from both and compares it byte for byte.
    pub(super) fn buffers<T: Element>(
        &self,
        stream: &Stream<DualBackend<X, Y>>,
        name: &'static str,
        buffer: &DualBuffer<X::Device, Y::Device, T>,
    ) -> Result<()> {
        if buffer.x.len() != buffer.y.len() {
            let difference = format!("{} elements against {}", buffer.x.len(), buffer.y.len());
            return Err(self.origin().mismatch(name, 0, difference));
        }
        let x = self.x.device().download_all(&stream.x, &buffer.x)?;
        let y = self.y.device().download_all(&stream.y, &buffer.y)?;
        self.slices(name, 0, &x, &y)
    }

    /// Compares host memory; `at` is the index of the first element within its buffer.
    pub(super) fn slices<T: Element>(&self, name: &'static str, at: usize, x: &[T], y: &[T]) -> Result<()> {
        // Bytes, not `==`: points of blst are equal before their coordinates are.
        let (x, y) = (as_bytes(x), as_bytes(y));
        let Some(byte) = x.iter().zip(y).position(|(x, y)| x != y) else { return Ok(()) };
        let place = format!("first difference at byte {} of {}", byte % size_of::<T>(), size_of::<T>());
        Err(self.origin().mismatch(name, at + byte / size_of::<T>(), place))
    }

    /// A sum that is compared when it arrives.
    pub(super) fn pending_point<C: Curve>(
        &self,
        name: &'static str,
        x: Pending<C::Projective>,
        y: Pending<C::Projective>,
    ) -> Pending<C::Projective> {
        let origin = self.origin();
        joined(
            x,
            y,
            move |x, y| {
                if x == y { Ok(x) } else { Err(origin.mismatch(name, 0, "different points".into())) }
            },
        )
    }

    /// A report that is compared when it arrives.
    pub(super) fn pending_report(
        &self,
        x: Pending<PointReport>,
        y: Pending<PointReport>,
    ) -> Pending<PointReport> {
        let origin = self.origin();
        joined(x, y, move |x, y| {
            if x == y { Ok(x) } else { Err(origin.mismatch("report", 0, format!("{x:?} against {y:?}"))) }
        })
    }
}

/// Waits for both and joins what they give.
pub(super) fn joined<A: 'static, B: 'static, T: 'static>(
    x: Pending<A>,
    y: Pending<B>,
    join: impl FnOnce(A, B) -> Result<T> + Send + 'static,
) -> Pending<T> {
    Box::new(Joined { x, y, join })
}

struct Joined<A, B, F> {
    x: Pending<A>,
    y: Pending<B>,
    join: F,
}

impl<A, B, T, F: FnOnce(A, B) -> Result<T> + Send> PendingResult<T> for Joined<A, B, F> {
    fn is_ready(&self) -> Result<bool> {
        Ok(self.x.is_ready()? && self.y.is_ready()?)
    }
    fn wait(self: Box<Self>) -> Result<T> {
        let (x, y) = (self.x.wait(), self.y.wait());
        (self.join)(x?, y?)
    }
}
