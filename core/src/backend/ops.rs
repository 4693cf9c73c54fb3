//! The operations' parameters: one struct per operation, lengths and forms stated once.

use std::sync::Arc;

use super::device::Device;
use crate::curve::{Curve, Root, Scalar};
use crate::key::EncodedPoints;

/// Coefficients to evaluations, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// X_k = sum_j x_j w^(jk)
    Forward,
    /// x_j = 1/n sum_k X_k w^(-jk)
    Inverse,
}

/// How the elements of a transform lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Element i at position i.
    Natural,
    /// Element i at the position whose log_n bits are those of i reversed.
    BitReversed,
}

/// A number-theoretic transform in place, of exactly 2^log_n elements in Montgomery form.
///
/// With a coset shift g the forward transform evaluates at g w^k (x_j is first scaled by g^j) and the inverse interpolates from
/// there (the result is scaled by g^-j). The order of *coefficients and evaluations alike* is given by `input` and `output`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ntt {
    /// log2 of the length; 0 is the identity but for the coset, which then scales by g^0 = 1.
    pub log_n: u32,
    /// Which way.
    pub direction: Direction,
    /// The shift g, not zero; `None` for the subgroup itself.
    pub coset: Option<Scalar>,
    /// Where w comes from.
    pub root: Root,
    /// Order of what comes in.
    pub input: Order,
    /// Order of what goes out.
    pub output: Order,
}

impl Ntt {
    /// Natural to natural, no coset.
    pub fn new(log_n: u32, direction: Direction, root: Root) -> Self {
        Self { log_n, direction, coset: None, root, input: Order::Natural, output: Order::Natural }
    }
    /// The same on the coset g.
    pub fn on_coset(self, shift: Scalar) -> Self {
        Self { coset: Some(shift), ..self }
    }
    /// The same with other orders.
    pub fn ordered(self, input: Order, output: Order) -> Self {
        Self { input, output, ..self }
    }
}

/// An elementwise operation in place on `io`; every other buffer has its length. Montgomery form unless the name says otherwise.
pub enum Pointwise<'a, D: Device> {
    /// io_i += rhs_i
    Add(&'a D::Buffer<Scalar>),
    /// io_i -= rhs_i
    Sub(&'a D::Buffer<Scalar>),
    /// io_i *= rhs_i
    Mul(&'a D::Buffer<Scalar>),
    /// io_i = x_i y_i - io_i
    MulSub(&'a D::Buffer<Scalar>, &'a D::Buffer<Scalar>),
    /// io_i = (rhs_i - io_i) / 2
    HalfDifference(&'a D::Buffer<Scalar>),
    /// io_i *= by
    Scale(Scalar),
    /// io_i *= first * ratio^i
    Powers {
        /// Factor of element 0.
        first: Scalar,
        /// Ratio of neighbouring factors.
        ratio: Scalar,
    },
    /// io_i = 1 / io_i, and 0 for 0
    Inverse,
    /// Montgomery to canonical form
    ToCanonical,
    /// Canonical to Montgomery form
    ToMontgomery,
}

/// In which form the scalars of an MSM lie. Either way they are fully reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarForm {
    /// The integer itself.
    Canonical,
    /// Times 2^256 mod r, as everywhere else.
    Montgomery,
}

/// Where the bases of an MSM are.
pub enum Bases<'a, D: Device, C: Curve> {
    /// On the device.
    Resident(&'a D::Buffer<C::Affine>),
    /// On the host, as the file holds them: the backend uploads, converts and adds chunk by chunk.
    Streamed(&'a EncodedPoints<C>),
}

impl<D: Device, C: Curve> Clone for Bases<'_, D, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D: Device, C: Curve> Copy for Bases<'_, D, C> {}

impl<D: Device, C: Curve> Bases<'_, D, C> {
    /// Number of bases.
    pub fn len(&self) -> usize {
        match self {
            Bases::Resident(buffer) => super::DeviceBuffer::len(*buffer),
            Bases::Streamed(points) => points.len(),
        }
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A multi-scalar multiplication: sum over j of scalar(j) * base_j.
///
/// Without `select`, scalar(j) = scalars\[j\] and there are at least as many scalars as bases. With it, scalar(j) =
/// scalars\[select\[j\]\], and `select` has one entry per base: so l, a, b1 and b2 read the witness where it lies. `classes`, if given,
/// are those of `scalars` and may be used to skip zeros and add ones without looking at the limbs.
pub struct Msm<'a, D: Device, C: Curve> {
    /// The points.
    pub bases: Bases<'a, D, C>,
    /// The scalars, or what `select` picks from.
    pub scalars: &'a D::Buffer<Scalar>,
    /// Their form.
    pub form: ScalarForm,
    /// Index of each base's scalar.
    pub select: Option<&'a D::Buffer<u32>>,
    /// The scalars' classes.
    pub classes: Option<&'a Classes<D>>,
}

/// What a scalar is, as `classify` writes it: one byte per element.
pub mod class {
    /// 0
    pub const ZERO: u8 = 0;
    /// 1
    pub const ONE: u8 = 1;
    /// 2 to 2^16 - 1
    pub const SMALL: u8 = 2;
    /// everything else
    pub const FULL: u8 = 3;
}

/// The classes of a vector of scalars, made once for l, a, b1 and b2.
pub struct Classes<D: Device> {
    /// One [`class`] per scalar.
    pub codes: Arc<D::Buffer<u8>>,
    /// How many there are of each class: 4 counts, by code.
    pub counts: Arc<D::Buffer<u32>>,
}

/// How the bits of a packed witness lie in memory.
pub enum PackedBits<'a, D: Device> {
    /// Bit i of the set (in ascending order of variables) is bit i % 64 of word i / 64.
    Dense(&'a D::Buffer<u64>),
    /// Word i belongs to the i-th variable of the set and holds its bit for up to 64 instances; this instance is bit `lane`.
    Lanes {
        /// One word per variable of the set.
        words: &'a D::Buffer<u64>,
        /// Which instance.
        lane: u32,
    },
}

/// A packed witness on the device; see [`crate::witness::PackedWitness`].
pub struct Expand<'a, D: Device> {
    /// Bit v of the bitmap says whether variable v is in the bit set; ceil(m / 64) words.
    pub set: &'a D::Buffer<u64>,
    /// ranks\[w\] = number of members of the set below variable 64 w; as many as words of `set`.
    pub ranks: &'a D::Buffer<u32>,
    /// The bits of the members.
    pub bits: PackedBits<'a, D>,
    /// The other variables in ascending order, Montgomery form.
    pub rest: &'a D::Buffer<Scalar>,
}

/// Which H query a key has, and so what the quotient's scalars are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuotientForm {
    /// bellman: H_j = \[tau^j Z(tau) / delta\], j < n - 1; the scalars are the n - 1 coefficients of h = (AB - C)/Z.
    Monomial,
    /// snarkjs: H_i = \[L_{2i+1}(tau) / delta\] over the 2n-domain, i < n; the scalars are P = AB - C at the n odd points.
    OddCoset,
}

/// The quotient of a key: everything the transform of a, b to the scalars of H depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Quotient {
    /// log2 of the domain n.
    pub log_n: u32,
    /// Root of unity of the key.
    pub root: Root,
    /// Form of the H query.
    pub form: QuotientForm,
}

impl Quotient {
    /// Number of scalars: n - 1 or n.
    pub fn len(&self) -> usize {
        let n = 1usize << self.log_n;
        match self.form {
            QuotientForm::Monomial => n - 1,
            QuotientForm::OddCoset => n,
        }
    }
    /// Whether H is empty: a monomial key of domain 1.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The coset shift: a primitive 2n-th root g, so that g^n = -1. `None` above a domain of 2^31.
    pub fn shift(&self) -> Option<Scalar> {
        self.root.of_unity(self.log_n.checked_add(1)?)
    }
}

/// How points are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PointEncoding {
    /// Uncompressed, big-endian canonical coordinates, Fp2 as c1 then c0, three flag bits in the first byte (bellman).
    ZcashBigEndian,
    /// The same, with the identity written as zeros without its flag (snarkjs's export for bellman), or with it.
    ZcashZeroIdentity,
    /// x then y, little-endian Montgomery limbs, Fp2 as c0 then c1, identity all zero (snarkjs, and devices).
    Montgomery,
}

/// First index at which something is wrong with points, of each kind; all `None` for good ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PointReport {
    /// A coordinate not below p, flag bits that make no sense, or (0, 0) where the encoding writes the identity with a flag. Only
    /// from conversion, which looks at nothing else.
    pub malformed: Option<usize>,
    /// Not on the curve.
    pub off_curve: Option<usize>,
    /// On the curve, outside the subgroup of order r.
    pub outside_subgroup: Option<usize>,
}

impl PointReport {
    /// Whether nothing was found.
    pub fn is_clean(&self) -> bool {
        *self == Self::default()
    }
}
