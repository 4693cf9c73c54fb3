//! [`Backend`] for CUDA: opening, and the way from the contract's operations to their modules.

use cuzk_core::backend::{
    Backend, Classes, Device, DeviceMatrix, Expand, Msm, Ntt, OpenOptions, Pending, PointEncoding,
    PointReport, Pointwise, Result,
};
use cuzk_core::curve::{Curve, Scalar};

use crate::device::CudaDevice;
use crate::driver::{Context, NAME};
use crate::kernels::{KernelCache, Kernels};
use crate::memory::{CudaBuffer, CudaStream};
use crate::tables::Tables;

/// The operations of a proof on one NVIDIA GPU.
pub struct CudaBackend {
    // In the order in which they must go.
    pub(crate) tables: Tables,
    /// Where streamed bases are copied.
    pub(crate) copies: CudaStream,
    pub(crate) kernels: Kernels,
    pub(crate) device: CudaDevice,
    options: OpenOptions,
    cache: KernelCache,
}

impl CudaBackend {
    /// Number of CUDA devices; an error says why there can be none.
    pub fn device_count() -> Result<usize> {
        Context::count()
    }

    /// Opens a device. Kernels that the cache lacks are compiled now, which takes seconds to a minute.
    pub fn open(options: &OpenOptions, cache: &KernelCache) -> Result<Self> {
        let device = CudaDevice::open(options)?;
        let kernels = Kernels::load(&device.context, cache)?;
        let copies = device.stream("copies")?;
        Ok(Self {
            tables: Tables::default(),
            copies,
            kernels,
            device,
            options: options.clone(),
            cache: cache.clone(),
        })
    }
}

impl Backend for CudaBackend {
    type Device = CudaDevice;

    fn name(&self) -> &str {
        NAME
    }
    fn device(&self) -> &CudaDevice {
        &self.device
    }
    fn reopen(&self) -> Result<Self> {
        if self.device.context.is_lost() {
            self.device.context.reset()?;
        }
        Self::open(&self.options, &self.cache)
    }

    fn ntt(&self, stream: &CudaStream, io: &mut CudaBuffer<Scalar>, op: &Ntt) -> Result<()> {
        self.run_ntt(stream, io, op)
    }
    fn pointwise(
        &self,
        stream: &CudaStream,
        io: &mut CudaBuffer<Scalar>,
        op: Pointwise<'_, CudaDevice>,
    ) -> Result<()> {
        self.run_pointwise(stream, io, op)
    }
    fn spmv(
        &self,
        stream: &CudaStream,
        matrix: &DeviceMatrix<CudaDevice>,
        z: &CudaBuffer<Scalar>,
        out: &mut CudaBuffer<Scalar>,
    ) -> Result<()> {
        self.run_spmv(stream, matrix, z, out)
    }
    fn classify(&self, stream: &CudaStream, z: &CudaBuffer<Scalar>) -> Result<Classes<CudaDevice>> {
        self.run_classify(stream, z)
    }
    fn expand(
        &self,
        stream: &CudaStream,
        packed: Expand<'_, CudaDevice>,
        z: &mut CudaBuffer<Scalar>,
    ) -> Result<()> {
        self.run_expand(stream, packed, z)
    }
    fn msm<C: Curve>(
        &self,
        stream: &CudaStream,
        op: Msm<'_, CudaDevice, C>,
    ) -> Result<Pending<C::Projective>> {
        self.run_msm(stream, op)
    }
    fn fixed_base<C: Curve>(
        &self,
        stream: &CudaStream,
        base: &C::Affine,
        scalars: &CudaBuffer<Scalar>,
        out: &mut CudaBuffer<C::Affine>,
    ) -> Result<()> {
        self.run_fixed_base::<C>(stream, base, scalars, out)
    }
    fn check_points<C: Curve>(
        &self,
        stream: &CudaStream,
        points: &CudaBuffer<C::Affine>,
    ) -> Result<Pending<PointReport>> {
        self.run_check::<C>(stream, points)
    }
    fn convert_points<C: Curve>(
        &self,
        stream: &CudaStream,
        bytes: &CudaBuffer<u8>,
        encoding: PointEncoding,
        out: &mut CudaBuffer<C::Affine>,
    ) -> Result<Pending<PointReport>> {
        self.run_convert::<C>(stream, bytes, encoding, out)
    }
}
