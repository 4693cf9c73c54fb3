//! The reference: every operation straight from its definition, on one thread, on host memory.
//!
//! Nothing here is fast and nothing is clever: quadratic transforms, double-and-add, one row after the other. Buffers are read and
//! written through the contract's own transfers, so that only the arithmetic is left to trust.

use std::sync::Arc;

use ff::{Field, PrimeField};
use group::Group;

use super::host::HostDevice;
use super::{
    Backend, BackendError, Bases, Buffer, Classes, Device, DeviceBuffer, DeviceCodes, DeviceMatrix,
    Direction, Expand, Msm, Ntt, OpenOptions, Order, PackedBits, Pending, PointEncoding, PointReport,
    Pointwise, Result, ScalarForm, Stream, class, ready,
};
use crate::circuit::Shift;
use crate::curve::{BaseField, Curve, Element, Fp, Scalar, as_bytes, as_bytes_mut};

type Elements<T> = Buffer<NaiveBackend, T>;
type Queue = Stream<NaiveBackend>;

/// The reference backend. Meant for tests: a transform of n points costs n^2.
pub struct NaiveBackend {
    device: HostDevice,
    options: OpenOptions,
}

impl NaiveBackend {
    /// Opens the host; fails for any device but 0.
    pub fn open(options: &OpenOptions) -> Result<Self> {
        Ok(Self { device: HostDevice::new("naive", options)?, options: options.clone() })
    }

    fn read<T: Element>(&self, stream: &Queue, buffer: &Elements<T>) -> Result<Vec<T>> {
        self.device.download_all(stream, buffer)
    }

    fn write<T: Element>(&self, stream: &Queue, values: &[T], buffer: &mut Elements<T>) -> Result<()> {
        self.device.upload(stream, values, buffer, 0)
    }
}

impl Backend for NaiveBackend {
    type Device = HostDevice;

    fn name(&self) -> &str {
        "naive"
    }
    fn device(&self) -> &HostDevice {
        &self.device
    }
    fn reopen(&self) -> Result<Self> {
        Self::open(&self.options)
    }

    fn ntt(&self, stream: &Queue, io: &mut Elements<Scalar>, op: &Ntt) -> Result<()> {
        let root = op
            .root
            .of_unity(op.log_n)
            .ok_or_else(|| invalid("ntt", "log2 of the length at most", 32u32, op.log_n))?;
        let x = self.read(stream, io)?;
        if x.len() as u64 != 1 << op.log_n {
            return Err(invalid("ntt", "length", 1u64 << op.log_n, x.len() as u64));
        }
        self.write(stream, &transform(&x, op, root), io)
    }

    fn pointwise(
        &self,
        stream: &Queue,
        io: &mut Elements<Scalar>,
        op: Pointwise<'_, HostDevice>,
    ) -> Result<()> {
        let x = self.read(stream, io)?;
        let other = |rhs: &Elements<Scalar>| {
            BackendError::expect_len("pointwise", "length of an operand", x.len(), rhs.len())?;
            self.read(stream, rhs)
        };
        let zip = |y: Vec<Scalar>, f: fn(Scalar, Scalar) -> Scalar| {
            x.iter().zip(y).map(|(x, y)| f(*x, y)).collect()
        };
        let out: Vec<Scalar> = match op {
            Pointwise::Add(y) => zip(other(y)?, |x, y| x + y),
            Pointwise::Sub(y) => zip(other(y)?, |x, y| x - y),
            Pointwise::Mul(y) => zip(other(y)?, |x, y| x * y),
            Pointwise::MulSub(y, z) => {
                let (y, z) = (other(y)?, other(z)?);
                (0..x.len()).map(|i| y[i] * z[i] - x[i]).collect()
            }
            Pointwise::HalfDifference(y) => zip(other(y)?, |x, y| (y - x) * Scalar::TWO_INV),
            Pointwise::Scale(by) => x.iter().map(|x| x * by).collect(),
            Pointwise::Powers { first, ratio } => {
                x.iter().zip(powers(first, ratio)).map(|(x, p)| x * p).collect()
            }
            Pointwise::Inverse => x.iter().map(|x| x.invert().unwrap_or(Scalar::ZERO)).collect(),
            Pointwise::ToCanonical => x.iter().map(|x| from_raw(x.to_repr())).collect(),
            Pointwise::ToMontgomery => x.iter().map(to_montgomery).collect::<Result<_>>()?,
        };
        self.write(stream, &out, io)
    }

    fn spmv(
        &self,
        stream: &Queue,
        matrix: &DeviceMatrix<HostDevice>,
        z: &Elements<Scalar>,
        out: &mut Elements<Scalar>,
    ) -> Result<()> {
        BackendError::expect_len("spmv", "length of z", matrix.cols, z.len())?;
        let (z, dictionary) = (self.read(stream, z)?, self.read(stream, &matrix.dictionary)?);
        let mut rows = Vec::new();
        for block in &matrix.blocks {
            let (row_ptr, cols) = (self.read(stream, &block.row_ptr)?, self.read(stream, &block.cols)?);
            let codes: Vec<u32> = match &block.codes {
                DeviceCodes::Narrow(codes) => self.read(stream, codes)?.into_iter().map(u32::from).collect(),
                DeviceCodes::Wide(codes) => self.read(stream, codes)?,
            };
            BackendError::expect_len("spmv", "row pointers of a block", block.rows + 1, row_ptr.len())?;
            BackendError::expect_len("spmv", "codes of a block", cols.len(), codes.len())?;
            for copy in 0..block.repeat {
                for row in row_ptr.windows(2) {
                    let mut sum = Scalar::ZERO;
                    for i in row[0]..row[1] {
                        let col = shifted(pick("spmv", &cols, i)?, &block.shifts, copy);
                        let code = pick("spmv", &codes, i)?;
                        sum += pick("spmv", &dictionary, code)? * pick("spmv", &z, col)?;
                    }
                    rows.push(sum);
                }
            }
        }
        BackendError::expect_len("spmv", "rows of the blocks", matrix.rows, rows.len())?;
        if out.len() < rows.len() {
            return Err(invalid("spmv", "length of out at least", rows.len() as u64, out.len() as u64));
        }
        rows.resize(out.len(), Scalar::ZERO);
        self.write(stream, &rows, out)
    }

    fn classify(&self, stream: &Queue, z: &Elements<Scalar>) -> Result<Classes<HostDevice>> {
        let codes: Vec<u8> = self.read(stream, z)?.iter().map(class_of).collect();
        let counts = [0, 1, 2, 3].map(|class| codes.iter().filter(|code| **code == class).count() as u32);
        Ok(Classes {
            codes: Arc::new(self.device.upload_new(stream, "class codes", &codes)?),
            counts: Arc::new(self.device.upload_new(stream, "class counts", &counts)?),
        })
    }

    fn expand(&self, stream: &Queue, packed: Expand<'_, HostDevice>, z: &mut Elements<Scalar>) -> Result<()> {
        let set = self.read(stream, packed.set)?;
        BackendError::expect_len("expand", "words of the bitmap", z.len().div_ceil(64), set.len())?;
        BackendError::expect_len("expand", "ranks", set.len(), packed.ranks.len())?;
        let rest = self.read(stream, packed.rest)?;
        let (words, lane) = match packed.bits {
            PackedBits::Dense(words) => (self.read(stream, words)?, None),
            PackedBits::Lanes { words, lane } => (self.read(stream, words)?, Some(lane)),
        };
        let (mut member, mut other) = (0u32, 0u32);
        let mut out = Vec::new();
        for v in 0..z.len() {
            if set[v / 64] >> (v % 64) & 1 == 1 {
                let bit = match lane {
                    None => pick("expand", &words, member / 64)? >> (member % 64) & 1,
                    Some(lane) => pick("expand", &words, member)? >> (lane % 64) & 1,
                };
                out.push(Scalar::from(bit));
                member += 1;
            } else {
                out.push(pick("expand", &rest, other)?);
                other += 1;
            }
        }
        BackendError::expect_len("expand", "length of the rest", other as usize, rest.len())?;
        self.write(stream, &out, z)
    }

    fn msm<C: Curve>(&self, stream: &Queue, op: Msm<'_, HostDevice, C>) -> Result<Pending<C::Projective>> {
        let bases = match op.bases {
            Bases::Resident(buffer) => self.read(stream, buffer)?,
            Bases::Streamed(points) => points
                .bytes()
                .chunks(C::BYTES)
                .map(|bytes| Ok(decode::<C>(bytes, points.encoding()).unwrap_or(C::Affine::zeroed())))
                .collect::<Result<_>>()?,
        };
        let scalars = self.read(stream, op.scalars)?;
        let select = op.select.map(|select| self.read(stream, select)).transpose()?;
        if let Some(select) = &select {
            BackendError::expect_len("msm", "length of select", bases.len(), select.len())?;
        } else if scalars.len() < bases.len() {
            return Err(invalid(
                "msm",
                "number of scalars at least",
                bases.len() as u64,
                scalars.len() as u64,
            ));
        }
        let mut sum = C::Projective::identity();
        for (j, base) in bases.iter().enumerate() {
            let index = select.as_ref().map_or(j as u32, |select| select[j]);
            let scalar = pick("msm", &scalars, index)?;
            sum += multiply::<C>(
                base,
                &match op.form {
                    ScalarForm::Canonical => raw(&scalar),
                    ScalarForm::Montgomery => scalar.to_repr(),
                },
            );
        }
        Ok(ready(sum))
    }

    fn fixed_base<C: Curve>(
        &self,
        stream: &Queue,
        base: &C::Affine,
        scalars: &Elements<Scalar>,
        out: &mut Elements<C::Affine>,
    ) -> Result<()> {
        BackendError::expect_len("fixed_base", "length of out", scalars.len(), out.len())?;
        let scalars = self.read(stream, scalars)?;
        let points: Vec<_> =
            scalars.iter().map(|s| C::Affine::from(multiply::<C>(base, &s.to_repr()))).collect();
        self.write(stream, &points, out)
    }

    fn check_points<C: Curve>(
        &self,
        stream: &Queue,
        points: &Elements<C::Affine>,
    ) -> Result<Pending<PointReport>> {
        let points = self.read(stream, points)?;
        Ok(ready(PointReport {
            malformed: None,
            off_curve: points.iter().position(|p| !C::is_on_curve(p)),
            outside_subgroup: points.iter().position(|p| C::is_on_curve(p) && !C::is_in_subgroup(p)),
        }))
    }

    fn convert_points<C: Curve>(
        &self,
        stream: &Queue,
        bytes: &Elements<u8>,
        encoding: PointEncoding,
        out: &mut Elements<C::Affine>,
    ) -> Result<Pending<PointReport>> {
        BackendError::expect_len("convert_points", "bytes", out.len() * C::BYTES, bytes.len())?;
        let bytes = self.read(stream, bytes)?;
        let points: Vec<_> = bytes.chunks(C::BYTES).map(|bytes| decode::<C>(bytes, encoding)).collect();
        let malformed = points.iter().position(Option::is_none);
        let points: Vec<_> = points.into_iter().map(|p| p.unwrap_or(C::Affine::zeroed())).collect();
        self.write(stream, &points, out)?;
        Ok(ready(PointReport { malformed, ..PointReport::default() }))
    }
}

fn invalid(
    op: &'static str,
    what: &'static str,
    expected: impl Into<u64>,
    found: impl Into<u64>,
) -> BackendError {
    BackendError::Invalid { op, what, expected: expected.into(), found: found.into() }
}

/// `values[index]`, where the index comes from a buffer.
fn pick<T: Copy>(op: &'static str, values: &[T], index: u32) -> Result<T> {
    let at = values.get(index as usize).copied();
    at.ok_or_else(|| invalid(op, "an index below", values.len() as u64, index))
}

/// first, first ratio, first ratio^2, ...
fn powers(first: Scalar, ratio: Scalar) -> impl Iterator<Item = Scalar> {
    std::iter::successors(Some(first), move |p| Some(p * ratio))
}

/// The sums in the definitions of [`Direction`] and [`Ntt`]; `root` is w.
fn transform(x: &[Scalar], op: &Ntt, root: Scalar) -> Vec<Scalar> {
    let n = x.len();
    let one = Scalar::ONE;
    let inverse = |v: Scalar| v.invert().unwrap_or(Scalar::ZERO);
    let g = op.coset.unwrap_or(one);
    // before_j and after_k are the factors that the coset and 1/n put on what goes in and what comes out.
    let (w, before, after, n_inverse) = match op.direction {
        Direction::Forward => (root, g, one, one),
        Direction::Inverse => (inverse(root), one, inverse(g), inverse(Scalar::from(n as u64))),
    };
    let w: Vec<Scalar> = powers(one, w).take(n).collect();
    let x: Vec<Scalar> =
        powers(one, before).take(n).enumerate().map(|(j, b)| x[at(j, op.log_n, op.input)] * b).collect();
    let mut out = vec![Scalar::ZERO; n];
    for (k, after) in powers(n_inverse, after).take(n).enumerate() {
        let sum: Scalar = (0..n).map(|j| x[j] * w[j * k % n]).sum();
        out[at(k, op.log_n, op.output)] = sum * after;
    }
    out
}

/// Where element `i` lies.
fn at(i: usize, log_n: u32, order: Order) -> usize {
    match order {
        Order::Natural => i,
        Order::BitReversed => (0..log_n).fold(0, |reversed, bit| reversed << 1 | (i >> bit & 1)),
    }
}

/// The column of an entry in one of a block's copies.
fn shifted(col: u32, shifts: &[Shift], copy: u32) -> u32 {
    let stride = shifts.iter().find(|s| s.from <= col && col < s.until).map_or(0, |s| s.stride);
    col.wrapping_add(copy.wrapping_mul(stride))
}

fn class_of(scalar: &Scalar) -> u8 {
    let bytes = scalar.to_repr();
    match (bytes[0], bytes[1], bytes[2..].iter().all(|b| *b == 0)) {
        (0, 0, true) => class::ZERO,
        (1, 0, true) => class::ONE,
        (_, _, true) => class::SMALL,
        _ => class::FULL,
    }
}

/// The bytes in memory, whatever form they are in.
fn raw(scalar: &Scalar) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(as_bytes(std::slice::from_ref(scalar)));
    bytes
}

/// A scalar with these bytes in memory.
fn from_raw(bytes: [u8; 32]) -> Scalar {
    let mut scalar = Scalar::ZERO;
    as_bytes_mut(std::slice::from_mut(&mut scalar)).copy_from_slice(&bytes);
    scalar
}

fn to_montgomery(canonical: &Scalar) -> Result<Scalar> {
    Option::from(Scalar::from_repr(raw(canonical)))
        .ok_or_else(|| invalid("pointwise", "1 if reduced,", 1u64, 0u64))
}

/// Double-and-add over the 256 bits of a little-endian integer.
fn multiply<C: Curve>(base: &C::Affine, scalar: &[u8; 32]) -> C::Projective {
    let mut sum = C::Projective::identity();
    for bit in (0..256).rev() {
        sum = sum.double();
        if scalar[bit / 8] >> (bit % 8) & 1 == 1 {
            sum += base;
        }
    }
    sum
}

/// One point; `None` for what [`PointReport::malformed`] describes.
fn decode<C: Curve>(bytes: &[u8], encoding: PointEncoding) -> Option<C::Affine> {
    let mut bytes = bytes.to_vec();
    if encoding == PointEncoding::ZcashBigEndian {
        // Compressed, infinity, larger y: the first may not be set here, the third is for compressed points alone.
        let flags = bytes[0] >> 5;
        bytes[0] &= 0x1f;
        let zero = bytes.iter().all(|b| *b == 0);
        if flags == 0b010 && zero {
            return Some(C::Affine::zeroed());
        }
        if flags != 0 || zero {
            return None;
        }
        // Reversed as a whole, coordinates come out last to first: y before x, and within Fp2 c0 before c1.
        bytes.reverse();
        bytes.rotate_left(C::BYTES / 2);
    }
    let montgomery = encoding == PointEncoding::Montgomery;
    let limbs: Vec<Fp> = bytes.chunks(48).map(|c| coordinate(c, montgomery)).collect::<Option<_>>()?;
    let mut point = C::Affine::zeroed();
    for (out, limb) in as_bytes_mut(std::slice::from_mut(&mut point))
        .chunks_mut(8)
        .zip(limbs.iter().flat_map(|f| f.to_montgomery()))
    {
        out.copy_from_slice(&limb.to_ne_bytes());
    }
    Some(point)
}

/// 48 little-endian bytes below p, in Montgomery form or to be brought into it.
fn coordinate(bytes: &[u8], montgomery: bool) -> Option<Fp> {
    let mut limbs = [0u64; 6];
    for (i, byte) in bytes.iter().enumerate() {
        limbs[i / 8] |= u64::from(*byte) << (8 * (i % 8));
    }
    let value = Fp::from_montgomery(limbs)?;
    // The limbs of the Montgomery form of R = 2^384 are R^2 mod p, and a product with them adds the factor R.
    let r_squared = (0..384).fold(Fp::ONE, |x, _| x.double());
    Some(if montgomery { value } else { value.mul(&r_squared) })
}
