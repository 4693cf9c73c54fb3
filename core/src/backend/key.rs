//! A proving key and its circuit on a device.
//!
//! Buffers are shared: the same key serves many proofs at once, and a device made of two can hand each half its part.

use std::sync::Arc;

use super::device::Device;
use super::ops::{Bases, Quotient};
use crate::circuit::Shift;
use crate::curve::{Curve, G1, G2, Scalar};
use crate::key::EncodedPoints;

/// The bases of one query, where the memory plan put them.
pub enum KeyBases<D: Device, C: Curve> {
    /// On the device.
    Resident(Arc<D::Buffer<C::Affine>>),
    /// On the host, streamed at every proof.
    Streamed(EncodedPoints<C>),
}

impl<D: Device, C: Curve> KeyBases<D, C> {
    /// As an operation takes them.
    pub fn as_bases(&self) -> Bases<'_, D, C> {
        match self {
            KeyBases::Resident(buffer) => Bases::Resident(buffer.as_ref()),
            KeyBases::Streamed(points) => Bases::Streamed(points),
        }
    }
}

/// One query over the witness: the bases and the variable each belongs to.
pub struct DeviceQuery<D: Device, C: Curve> {
    /// The points.
    pub bases: KeyBases<D, C>,
    /// Index into z of each base, ascending.
    pub variables: Arc<D::Buffer<u32>>,
}

/// Codes of coefficients: u16 where the dictionary allows.
pub enum DeviceCodes<D: Device> {
    /// At most 65,536 distinct coefficients.
    Narrow(Arc<D::Buffer<u16>>),
    /// More.
    Wide(Arc<D::Buffer<u32>>),
}

/// One block of a matrix on the device: a CSR of `rows` rows that stands `repeat` times, shifted. See [`crate::circuit::Block`].
pub struct DeviceBlock<D: Device> {
    /// Rows of one copy.
    pub rows: usize,
    /// Number of copies, below each other.
    pub repeat: u32,
    /// Which columns move from copy to copy.
    pub shifts: Vec<Shift>,
    /// rows + 1 offsets into `cols` and `codes`.
    pub row_ptr: Arc<D::Buffer<u32>>,
    /// Column of each entry in copy 0.
    pub cols: Arc<D::Buffer<u32>>,
    /// Dictionary index of each entry.
    pub codes: DeviceCodes<D>,
}

/// A matrix on the device.
pub struct DeviceMatrix<D: Device> {
    /// Total rows.
    pub rows: usize,
    /// Columns: the length of z.
    pub cols: usize,
    /// Distinct coefficients, Montgomery form; shared by A and B.
    pub dictionary: Arc<D::Buffer<Scalar>>,
    /// The blocks, from the top.
    pub blocks: Vec<DeviceBlock<D>>,
}

/// Everything a proof needs on the device besides the witness.
pub struct DeviceKey<D: Device> {
    /// Domain, root and form.
    pub quotient: Quotient,
    /// m: length of z, the constant 1 and the public inputs included.
    pub variables: usize,
    /// Matrix A, input rows included.
    pub a_matrix: DeviceMatrix<D>,
    /// Matrix B.
    pub b_matrix: DeviceMatrix<D>,
    /// H query: one base per scalar of the quotient.
    pub h: KeyBases<D, G1>,
    /// L query.
    pub l: DeviceQuery<D, G1>,
    /// A query.
    pub a: DeviceQuery<D, G1>,
    /// B query in G1.
    pub b1: DeviceQuery<D, G1>,
    /// B query in G2.
    pub b2: DeviceQuery<D, G2>,
}
