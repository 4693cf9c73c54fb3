//! The CPU backend: host memory, rayon and blst's field arithmetic. Meant for use, and the reference that GPUs are compared with where
//! `naive` would take too long.
//!
//! | operation | module |
//! |---|---|
//! | multi-scalar multiplication | [`msm`](mod@msm), on `segments` and `affine` |
//! | transforms | [`ntt`](mod@ntt) |
//! | matrix times vector | `spmv` |
//! | elementwise, classes, packed witness | `pointwise`, `classify`, `expand` |
//! | multiples of one base, point checks and decoding | `fixed_base`, `points` |
//!
//! Work runs in the rayon pool of the caller (`ThreadPool::install`) or the global one, and is done when a call returns.

mod affine;
mod classify;
mod expand;
mod fixed_base;
mod kernel;
pub mod msm;
pub mod ntt;
mod points;
mod pointwise;
mod segments;
mod spmv;
pub(crate) mod subgroup;
#[cfg(test)]
mod tests;

pub use msm::msm;
pub use ntt::ntt;

use std::sync::Arc;

use super::host::{HostBuffer, HostDevice, HostStream};
use super::{
    Backend, BackendError, Classes, Device, DeviceMatrix, Expand, Msm, Ntt, OpenOptions, Pending,
    PointEncoding, PointReport, Pointwise, Result, ready,
};
use crate::curve::{Curve, Scalar};

/// Backend "cpu".
#[derive(Debug)]
pub struct CpuBackend {
    device: HostDevice,
    options: OpenOptions,
}

impl CpuBackend {
    /// Opens device 0, the host.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] for another index.
    pub fn open(options: &OpenOptions) -> Result<Self> {
        Ok(Self { device: HostDevice::new("cpu", options)?, options: options.clone() })
    }
}

/// `Ok` if the lengths agree.
fn invalid_len(op: &'static str, what: &'static str, expected: usize, found: usize) -> Result<()> {
    BackendError::expect_len(op, what, expected, found)
}

impl Backend for CpuBackend {
    type Device = HostDevice;

    fn name(&self) -> &str {
        "cpu"
    }
    fn device(&self) -> &HostDevice {
        &self.device
    }
    fn reopen(&self) -> Result<Self> {
        Self::open(&self.options)
    }

    fn ntt(&self, _: &HostStream, io: &mut HostBuffer<Scalar>, op: &Ntt) -> Result<()> {
        ntt(io.as_mut_slice(), op)
    }

    fn pointwise(
        &self,
        _: &HostStream,
        io: &mut HostBuffer<Scalar>,
        op: Pointwise<'_, HostDevice>,
    ) -> Result<()> {
        pointwise::apply(io.as_mut_slice(), op)
    }

    fn spmv(
        &self,
        _: &HostStream,
        matrix: &DeviceMatrix<HostDevice>,
        z: &HostBuffer<Scalar>,
        out: &mut HostBuffer<Scalar>,
    ) -> Result<()> {
        spmv::multiply(matrix, z.as_slice(), out.as_mut_slice())
    }

    fn classify(&self, stream: &HostStream, z: &HostBuffer<Scalar>) -> Result<Classes<HostDevice>> {
        let mut codes = self.device.alloc("classes", z.as_slice().len())?;
        let counts = classify::classify(z.as_slice(), codes.as_mut_slice());
        let counts = self.device.upload_new(stream, "class counts", &counts)?;
        Ok(Classes { codes: Arc::new(codes), counts: Arc::new(counts) })
    }

    fn expand(
        &self,
        _: &HostStream,
        packed: Expand<'_, HostDevice>,
        z: &mut HostBuffer<Scalar>,
    ) -> Result<()> {
        expand::expand(&packed, z.as_mut_slice())
    }

    fn msm_memory<C: Curve>(&self, bases: usize, streamed: bool) -> u64 {
        msm::memory::<C>(bases, streamed)
    }

    fn msm<C: Curve>(&self, _: &HostStream, op: Msm<'_, HostDevice, C>) -> Result<Pending<C::Projective>> {
        Ok(ready(msm::run(&self.device, &op)?))
    }

    fn fixed_base<C: Curve>(
        &self,
        _: &HostStream,
        base: &C::Affine,
        scalars: &HostBuffer<Scalar>,
        out: &mut HostBuffer<C::Affine>,
    ) -> Result<()> {
        let (scalars, out) = (scalars.as_slice(), out.as_mut_slice());
        invalid_len("fixed_base", "length of the result", scalars.len(), out.len())?;
        fixed_base::multiples::<C>(base, scalars, out);
        Ok(())
    }

    fn check_points<C: Curve>(
        &self,
        _: &HostStream,
        points: &HostBuffer<C::Affine>,
    ) -> Result<Pending<PointReport>> {
        Ok(ready(points::check::<C>(points.as_slice())))
    }

    fn convert_points<C: Curve>(
        &self,
        _: &HostStream,
        bytes: &HostBuffer<u8>,
        encoding: PointEncoding,
        out: &mut HostBuffer<C::Affine>,
    ) -> Result<Pending<PointReport>> {
        let (bytes, out) = (bytes.as_slice(), out.as_mut_slice());
        invalid_len("convert_points", "number of bytes", out.len().saturating_mul(C::BYTES), bytes.len())?;
        Ok(ready(points::decode::<C>(bytes, encoding, out)))
    }
}
