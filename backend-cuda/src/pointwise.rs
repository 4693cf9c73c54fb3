//! Elementwise operations.

use cuzk_core::backend::{BackendError, DeviceBuffer, Pointwise, Result};
use cuzk_core::curve::Scalar;

use crate::backend::CudaBackend;
use crate::device::CudaDevice;
use crate::driver::{Args, Launch};
use crate::memory::{CudaBuffer, CudaStream};
use crate::params::Factors;

/// Elements that share an inversion.
const INVERSE_BATCH: u64 = 32;

impl CudaBackend {
    pub(crate) fn run_pointwise(
        &self,
        stream: &CudaStream,
        io: &mut CudaBuffer<Scalar>,
        op: Pointwise<'_, CudaDevice>,
    ) -> Result<()> {
        let n = io.len() as u64;
        let data = io.on(stream);
        let operand = |rhs: &CudaBuffer<Scalar>| {
            BackendError::expect_len("pointwise", "length of an operand", io.len(), rhs.len())?;
            Ok(rhs.on(stream))
        };
        let unary = |name: &str| (self.kernels.get(name), Args::new().arg(data).arg(n));
        let binary = |name: &str, rhs: &CudaBuffer<Scalar>| {
            Ok::<_, BackendError>((self.kernels.get(name), Args::new().arg(data).arg(operand(rhs)?).arg(n)))
        };
        let factors =
            |f: Factors| (self.kernels.get("pointwise_factors"), Args::new().arg(data).arg(f).arg(n));
        let (kernel, args) = match op {
            Pointwise::Add(y) => binary("pointwise_add", y)?,
            Pointwise::Sub(y) => binary("pointwise_sub", y)?,
            Pointwise::Mul(y) => binary("pointwise_mul", y)?,
            Pointwise::HalfDifference(y) => binary("pointwise_half_difference", y)?,
            Pointwise::MulSub(x, y) => {
                let args = Args::new().arg(data).arg(operand(x)?).arg(operand(y)?).arg(n);
                (self.kernels.get("pointwise_mul_sub"), args)
            }
            Pointwise::Scale(by) => factors(Factors::constant(by)),
            Pointwise::Powers { first, ratio } => {
                let log_len = n.max(2).next_power_of_two().trailing_zeros();
                factors(self.powers(stream, first, ratio, log_len)?)
            }
            Pointwise::Inverse => return self.invert(stream, data, n),
            Pointwise::ToCanonical => unary("pointwise_to_canonical"),
            Pointwise::ToMontgomery => unary("pointwise_to_montgomery"),
        };
        self.each(n).run(&stream.raw, kernel?, args)
    }

    fn invert(&self, stream: &CudaStream, data: u64, n: u64) -> Result<()> {
        let prefix = self.device.scratch("inversion", n * 32, stream)?;
        let threads = n.div_ceil(INVERSE_BATCH);
        let args = Args::new().arg(data).arg(prefix.used_by(stream.slot)).arg(n).arg(threads);
        Launch::cover(threads, 128).run(&stream.raw, self.kernels.get("pointwise_inverse")?, args)
    }
}
