//! [`Backend`] for CUDA: opening, and the way from the contract's operations to their modules.

use cuzk_core::backend::{
    Backend, Classes, Device, DeviceInfo, DeviceMatrix, Expand, Msm, Ntt, OpenOptions, Pending,
    PointEncoding, PointReport, Pointwise, Result,
};
use cuzk_core::curve::{Curve, Scalar};

use crate::device::{CudaDevice, device_info};
use crate::driver::{Context, NAME, unavailable};
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

    /// The devices that could be opened, with what `facts` tell: architecture, driver, bus, memory, and whether the cache has their
    /// kernels. An error says why none can, and what to do about it. Makes no context and compiles nothing.
    pub fn devices(cache: &KernelCache) -> Result<Vec<DeviceInfo>> {
        let found = (0..Context::count()?).map(|index| {
            let facts = Context::facts_of(index)?;
            let ready = cache.is_ready(facts.arch())?;
            let mut info = device_info(index, &facts);
            let state = if ready { "ready" } else { Self::NOT_COMPILED };
            info.facts.push(("kernels".into(), state.into()));
            Ok(info)
        });
        let (good, bad): (Vec<_>, Vec<_>) = found.partition(Result::is_ok);
        match (good.is_empty(), bad.into_iter().next()) {
            (true, Some(Err(reason))) => Err(reason),
            (true, _) => {
                Err(unavailable("the driver sees no CUDA device: check nvidia-smi and CUDA_VISIBLE_DEVICES"))
            }
            _ => good.into_iter().collect(),
        }
    }

    /// What the fact "kernels" says where opening the device will compile them.
    pub const NOT_COMPILED: &'static str = "not compiled yet";

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
    fn msm_memory<C: Curve>(&self, bases: usize, streamed: bool) -> u64 {
        self.msm_bytes::<C>(bases, streamed)
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
