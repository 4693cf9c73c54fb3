//! The reference: every operation straight from its definition, on one thread, on host memory.
//!
//! Nothing here is fast and nothing is clever: quadratic transforms, double-and-add, one row after the other. Buffers are read and
//! written through the contract's own transfers, so that only the arithmetic is left to trust.

use std::sync::Arc;

use ff::{Field, PrimeField};
use group::Group;

mod definitions;

use super::host::HostDevice;
use super::{
    Backend, BackendError, Bases, Buffer, Classes, Device, DeviceBuffer, DeviceCodes, DeviceMatrix, Expand,
    Msm, Ntt, OpenOptions, PackedBits, Pending, PointEncoding, PointReport, Pointwise, Result, ScalarForm,
    Stream, ready,
};
use crate::curve::{Curve, Element, Scalar};

use definitions::{class_of, decode, from_raw, multiply, powers, raw, shifted, to_montgomery, transform};

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
            PackedBits::Lanes { lane, .. } if lane > 63 => {
                return Err(invalid("expand", "lane at most", 63u32, lane));
            }
            PackedBits::Lanes { words, lane } => (self.read(stream, words)?, Some(lane)),
        };
        let (mut member, mut other) = (0u32, 0u32);
        let mut out = Vec::new();
        for v in 0..z.len() {
            if set[v / 64] >> (v % 64) & 1 == 1 {
                let bit = match lane {
                    None => pick("expand", &words, member / 64)? >> (member % 64) & 1,
                    Some(lane) => pick("expand", &words, member)? >> lane & 1,
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
