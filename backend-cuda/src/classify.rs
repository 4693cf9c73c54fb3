//! Classification of scalars, and packed witnesses written out.

use std::sync::Arc;

use cuzk_core::backend::{BackendError, Classes, Device, DeviceBuffer, Expand, PackedBits, Result};
use cuzk_core::curve::Scalar;

use crate::backend::CudaBackend;
use crate::device::CudaDevice;
use crate::driver::Args;
use crate::memory::{CudaBuffer, CudaStream};

impl CudaBackend {
    pub(crate) fn run_classify(
        &self,
        stream: &CudaStream,
        z: &CudaBuffer<Scalar>,
    ) -> Result<Classes<CudaDevice>> {
        let codes = self.device.alloc("class codes", z.len())?;
        let mut counts = self.device.alloc("class counts", 4)?;
        self.device.clear(stream, &mut counts, 0..4)?;
        let args =
            Args::new().arg(z.on(stream)).arg(z.len() as u64).arg(codes.on(stream)).arg(counts.on(stream));
        self.each(z.len() as u64).run(&stream.raw, self.kernels.get("classify")?, args)?;
        Ok(Classes { codes: Arc::new(codes), counts: Arc::new(counts) })
    }

    pub(crate) fn run_expand(
        &self,
        stream: &CudaStream,
        packed: Expand<'_, CudaDevice>,
        z: &mut CudaBuffer<Scalar>,
    ) -> Result<()> {
        BackendError::expect_len("expand", "words of the bitmap", z.len().div_ceil(64), packed.set.len())?;
        BackendError::expect_len("expand", "ranks", packed.set.len(), packed.ranks.len())?;
        // Lane 64 stands for bits that lie densely.
        let (words, lane) = match packed.bits {
            PackedBits::Dense(words) => (words, 64),
            PackedBits::Lanes { words, lane } if lane < 64 => (words, lane),
            PackedBits::Lanes { lane, .. } => {
                return Err(BackendError::Invalid {
                    op: "expand",
                    what: "the lane at most",
                    expected: 63,
                    found: lane.into(),
                });
            }
        };
        let n = z.len() as u64;
        let args = Args::new()
            .arg(packed.set.on(stream))
            .arg(packed.ranks.on(stream))
            .arg(words.on(stream))
            .arg(words.len() as u64)
            .arg(lane)
            .arg(packed.rest.on(stream))
            .arg(packed.rest.len() as u64)
            .arg(z.on(stream))
            .arg(n);
        self.each(n).run(&stream.raw, self.kernels.get("expand")?, args)
    }
}
