//! # The contract of a backend
//!
//! A backend makes the heavy operations of a Groth16 proof run on one kind of device. It is two traits: [`Device`] (memory,
//! transfers, order) and [`Backend`] (operations). Whoever implements them gets the prover, the command line, the engine and the
//! conformance suite without writing more.
//!
//! **Order.** Calls enqueue on a stream and return; a stream is an ordering domain. Work on one stream happens in the order
//! of the calls, work on two streams may overlap and may not: a backend with one queue maps all streams to it, and the CPU
//! computes before it returns. An [`Event`] marks a point of a stream; another stream or the host can wait for it. Nothing
//! synchronises a whole device. What reaches the host (downloads, pending results) is complete when the call that waits for it
//! returns, and an error that happened in queued work is reported by the first call that waits for that work.
//!
//! **Values.** Field elements are in Montgomery form, fully reduced, little-endian limbs; the scalars of an MSM are canonical
//! or Montgomery, as the operation says. Points are affine in Montgomery form and the identity is all zero. Lazy ranges never cross
//! an operation, so two backends' buffers can be compared byte for byte. MSM results are projective and compared as points.
//!
//! **Memory.** Every buffer has a name and is counted. Contents are undefined after `alloc`. A buffer may be dropped while work
//! on it is queued: the memory stays until that work is done. An allocation that would leave less than the safety margin fails
//! with [`BackendError::OutOfMemory`] before the driver is asked, and what the driver refuses becomes the same error; after it
//! the backend is as usable as before. Host slices handed to `upload` may be reused on return; the pinned and registered
//! variants do not wait.
//!
//! **Lengths.** Any n from 0. Bases may contain the identity, repeats, and P beside -P; scalars any distribution: nothing is
//! O(largest bucket) in one thread. Transforms to 2^32 points, proving domains to 2^31 (the coset needs a 2n-th root).
//! The caller passes buffers of the lengths that the operation states; a backend answers [`BackendError::Invalid`] where they
//! are not, and never reads or writes outside them.
//!
//! **Errors.** Every call returns `Result`; nothing panics and nothing falls back silently. [`BackendError::DeviceLost`]
//! poisons that device only: every later call on it fails at once with the same error until it is reopened.
//! `Unsupported` is an answer.
//!
//! **Threads.** A device may be used from several threads at once; calls that touch the same buffer are the caller's to order.
//!
//! **Secrets.** Witness values and blinding factors never reach an error, a log or a file.

pub mod composite;
pub mod cpu;
pub mod dual;
pub mod host;
pub mod naive;

mod device;
mod error;
mod key;
mod ops;

pub use device::{
    Device, DeviceBuffer, DeviceInfo, DeviceKind, Event, MemoryUse, OpenOptions, Pending, PendingResult,
    PinnedBuffer, RegisteredPages, SharedBytes, ready,
};
pub use error::{BackendError, Result};
pub use key::{DeviceBlock, DeviceCodes, DeviceKey, DeviceMatrix, DeviceQuery, KeyBases};
pub use ops::{
    Bases, Classes, Direction, Expand, Msm, Ntt, Order, PackedBits, PointEncoding, PointReport, Pointwise,
    Quotient, QuotientForm, ScalarForm, class,
};

use crate::curve::{Curve, G1Projective, G2Projective, Scalar};

/// Shorthands for a backend's associated types.
pub type Buffer<B, T> = <<B as Backend>::Device as Device>::Buffer<T>;
/// The stream type of a backend.
pub type Stream<B> = <<B as Backend>::Device as Device>::Stream;

/// The sums over the witness, on their way: l over the auxiliary variables, a, b1 and b2 over all.
pub struct WitnessMsms {
    /// sum of z_i L_i
    pub l: Pending<G1Projective>,
    /// sum of z_i A_i
    pub a: Pending<G1Projective>,
    /// sum of z_i B_i in G1
    pub b1: Pending<G1Projective>,
    /// sum of z_i B_i in G2
    pub b2: Pending<G2Projective>,
}

/// The operations of a proof on one open device. Lengths and forms are those of the op structs.
pub trait Backend: Send + Sync + Sized + 'static {
    /// The device it works on.
    type Device: Device;

    /// "cpu", "wgpu", "cuda", "naive", "dual:cuda,cpu".
    fn name(&self) -> &str;
    /// The device.
    fn device(&self) -> &Self::Device;
    /// A fresh device in place of a lost one. Buffers of the old one stay invalid.
    fn reopen(&self) -> Result<Self>;

    /// Transforms `io`, of exactly 2^log_n elements.
    fn ntt(&self, stream: &Stream<Self>, io: &mut Buffer<Self, Scalar>, op: &Ntt) -> Result<()>;

    /// Applies an elementwise operation to all of `io`.
    fn pointwise(
        &self,
        stream: &Stream<Self>,
        io: &mut Buffer<Self, Scalar>,
        op: Pointwise<'_, Self::Device>,
    ) -> Result<()>;

    /// out\[..rows\] = matrix * z, out\[rows..\] = 0; `z` has `matrix.cols` elements and `out` at least `matrix.rows`.
    fn spmv(
        &self,
        stream: &Stream<Self>,
        matrix: &DeviceMatrix<Self::Device>,
        z: &Buffer<Self, Scalar>,
        out: &mut Buffer<Self, Scalar>,
    ) -> Result<()>;

    /// The class of every scalar (Montgomery form).
    fn classify(&self, stream: &Stream<Self>, z: &Buffer<Self, Scalar>) -> Result<Classes<Self::Device>>;

    /// Writes the dense form of a packed witness to all of `z`.
    fn expand(
        &self,
        stream: &Stream<Self>,
        packed: Expand<'_, Self::Device>,
        z: &mut Buffer<Self, Scalar>,
    ) -> Result<()>;

    /// Queues a multi-scalar multiplication; the buffers may be reused once later work on `stream` reaches them.
    fn msm<C: Curve>(
        &self,
        stream: &Stream<Self>,
        op: Msm<'_, Self::Device, C>,
    ) -> Result<Pending<C::Projective>>;

    /// Device memory that an `msm` over so many bases takes beside its operands, at most, in bytes: what a memory plan reserves.
    fn msm_memory<C: Curve>(&self, _bases: usize, _streamed: bool) -> u64 {
        0
    }

    /// out_i = scalars_i * base, affine; scalars in Montgomery form, `out` of the same length.
    fn fixed_base<C: Curve>(
        &self,
        stream: &Stream<Self>,
        base: &C::Affine,
        scalars: &Buffer<Self, Scalar>,
        out: &mut Buffer<Self, C::Affine>,
    ) -> Result<()>;

    /// Whether every point is on the curve and in the subgroup; the identity is.
    fn check_points<C: Curve>(
        &self,
        stream: &Stream<Self>,
        points: &Buffer<Self, C::Affine>,
    ) -> Result<Pending<PointReport>>;

    /// Decodes points; `bytes` holds exactly `out.len()` of them. Malformed ones become the identity and are reported.
    fn convert_points<C: Curve>(
        &self,
        stream: &Stream<Self>,
        bytes: &Buffer<Self, u8>,
        encoding: PointEncoding,
        out: &mut Buffer<Self, C::Affine>,
    ) -> Result<Pending<PointReport>>;

    /// From a = A z and b = B z on the domain (2^log_n elements each, consumed) to the scalars of H, Montgomery form. As z satisfies
    /// the circuit, c = a∘b. Derived from `ntt` and `pointwise`; a device may fuse it.
    fn quotient(
        &self,
        stream: &Stream<Self>,
        a: Buffer<Self, Scalar>,
        b: Buffer<Self, Scalar>,
        op: &Quotient,
    ) -> Result<Buffer<Self, Scalar>> {
        composite::quotient(self, stream, a, b, op)
    }

    /// The four sums over the witness, with one classification of z. Derived from `classify` and `msm`; a device may fuse it.
    fn witness_msms(
        &self,
        stream: &Stream<Self>,
        z: &Buffer<Self, Scalar>,
        key: &DeviceKey<Self::Device>,
    ) -> Result<WitnessMsms> {
        composite::witness_msms(self, stream, z, key)
    }
}
