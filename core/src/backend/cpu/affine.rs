//! Additions of affine points in batches.
//!
//! One addition P + Q costs lambda = (y2 - y1)/(x2 - x1), x3 = lambda^2 - x1 - x2, y3 = lambda (x1 - x3) - y1: an inversion, two
//! multiplications and a squaring. Montgomery's trick makes one inversion serve a whole batch for three multiplications per member,
//! 5M + 1S together, where a mixed addition into Jacobian coordinates takes 7M + 4S and one into XYZZ 8M + 2S. An inversion takes
//! about as long as 75 multiplications, so batches of a few hundred hide it.
//!
//! The rule has exceptions, and bases and scalars may be anything: the identity on either side, Q = P (lambda = 3 x^2 / 2 y) and
//! Q = -P. They are found by comparing x, and each puts something non-zero into the common product.

use crate::curve::{BaseField, Curve};

/// An affine point by coordinates; (0, 0) is the identity, and lies on neither curve.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Point<F> {
    pub(super) x: F,
    pub(super) y: F,
}

impl<F: BaseField> Point<F> {
    #[inline(always)]
    pub(super) fn is_identity(&self) -> bool {
        self.x.is_zero() && self.y.is_zero()
    }

    #[inline(always)]
    pub(super) fn negated(&self) -> Self {
        Self { x: self.x, y: self.y.negate_if(true) }
    }

    /// `p`, or its negative.
    #[inline(always)]
    pub(super) fn load<C: Curve<Base = F>>(p: &C::Affine, negate: bool) -> Self {
        let (x, y) = C::coordinates(p);
        Self { x, y: if negate { y.negate_if(true) } else { y } }
    }

    #[inline(always)]
    pub(super) fn store<C: Curve<Base = F>>(&self) -> C::Affine {
        C::from_coordinates(self.x, self.y)
    }
}

/// What must be inverted for p + q; never zero.
#[inline(always)]
pub(super) fn denominator<F: BaseField>(p: &Point<F>, q: &Point<F>) -> F {
    let d = q.x.sub(&p.x);
    if d.is_zero() || p.x.is_zero() || q.x.is_zero() { exceptional_denominator(p, q, d) } else { d }
}

#[cold]
fn exceptional_denominator<F: BaseField>(p: &Point<F>, q: &Point<F>, d: F) -> F {
    if p.is_identity() || q.is_identity() {
        F::ONE
    } else if !d.is_zero() {
        d
    } else if p.y == q.y && !p.y.is_zero() {
        p.y.double()
    } else {
        F::ONE
    }
}

/// p + q, given the inverse of [`denominator`].
#[inline(always)]
pub(super) fn add<F: BaseField>(p: &Point<F>, q: &Point<F>, inverse: &F) -> Point<F> {
    if p.x == q.x || p.x.is_zero() || q.x.is_zero() {
        return exceptional_add(p, q, inverse);
    }
    finish(p, q, &q.y.sub(&p.y).mul(inverse))
}

#[inline(always)]
fn finish<F: BaseField>(p: &Point<F>, q: &Point<F>, lambda: &F) -> Point<F> {
    let x = lambda.square().sub(&p.x).sub(&q.x);
    Point { x, y: lambda.mul(&p.x.sub(&x)).sub(&p.y) }
}

#[cold]
fn exceptional_add<F: BaseField>(p: &Point<F>, q: &Point<F>, inverse: &F) -> Point<F> {
    if p.is_identity() {
        *q
    } else if q.is_identity() {
        *p
    } else if p.x != q.x {
        finish(p, q, &q.y.sub(&p.y).mul(inverse))
    } else if p.y == q.y && !p.y.is_zero() {
        let square = p.x.square();
        finish(p, q, &square.double().add(&square).mul(inverse))
    } else {
        Point::default()
    }
}

/// Working memory of a batch, reused from one to the next.
///
/// Products run in two chains, over the even and the odd members: a product takes longer to finish than to be followed by an
/// independent one.
#[derive(Debug, Default)]
pub(super) struct Batch<F> {
    denominators: Vec<F>,
    /// products\[k\] = product of the denominators k, k + 2, k + 4, ...
    products: Vec<F>,
}

/// The inverses of what is left of the two chains.
pub(super) type Chains<F> = [F; 2];

impl<F: BaseField> Batch<F> {
    /// Takes the denominators of a batch from the *last* to the first and makes their suffix products; returns the inverses of both
    /// whole products. Suffixes, so that [`Self::inverse`] runs forward and sums may overwrite what has been read.
    pub(super) fn open(&mut self, len: usize, mut denominator: impl FnMut(usize) -> F) -> Chains<F> {
        self.denominators.clear();
        self.denominators.resize(len, F::ONE);
        self.products.clear();
        self.products.resize(len + 2, F::ONE);
        for k in (0..len).rev() {
            let d = denominator(k);
            self.denominators[k] = d;
            self.products[k] = if k + 2 < len { self.products[k + 2].mul(&d) } else { d };
        }
        let (even, odd) = (self.products[0], self.products[1]);
        let both = even.mul(&odd).inverse();
        [both.mul(&odd), both.mul(&even)]
    }

    /// The inverse of denominator k; `chains` is what `open` returned, and k ascends.
    #[inline(always)]
    pub(super) fn inverse(&self, k: usize, chains: &mut Chains<F>) -> F {
        let chain = &mut chains[k % 2];
        let inverse = chain.mul(&self.products[k + 2]);
        *chain = chain.mul(&self.denominators[k]);
        inverse
    }
}

/// Reduces every run of `points` to its sum by rounds of pairwise additions, in place: afterwards `points` starts with one point per
/// run. `lens` are the lengths of the runs, none zero, together `points.len()`; they are all 1 afterwards.
///
/// A run of length L takes L - 1 additions in log2 L rounds; all runs share the inversion of a round.
pub(super) fn sum_runs<F: BaseField>(points: &mut [Point<F>], lens: &mut [u32], batch: &mut Batch<F>) {
    let mut pairs: Vec<u32> = Vec::with_capacity(points.len() / 2);
    loop {
        pairs.clear();
        let mut read = 0;
        for len in lens.iter() {
            pairs.extend((0..len / 2).map(|k| read + 2 * k));
            read += len;
        }
        if pairs.is_empty() {
            return;
        }
        let mut state = batch.open(pairs.len(), |k| {
            let at = pairs[k] as usize;
            denominator(&points[at], &points[at + 1])
        });
        add_pairs(points, lens, batch, &mut state);
    }
}

/// One round: writes never pass the reads, for a sum lands at or before its first summand.
fn add_pairs<F: BaseField>(
    points: &mut [Point<F>],
    lens: &mut [u32],
    batch: &Batch<F>,
    state: &mut Chains<F>,
) {
    let (mut read, mut write, mut k) = (0, 0, 0);
    for len in lens {
        for _ in 0..*len / 2 {
            let inverse = batch.inverse(k, state);
            points[write] = add(&points[read], &points[read + 1], &inverse);
            (read, write, k) = (read + 2, write + 1, k + 1);
        }
        if *len % 2 == 1 {
            points[write] = points[read];
            (read, write) = (read + 1, write + 1);
        }
        *len = len.div_ceil(2);
    }
}

/// sums_i += terms_i for all i.
pub(super) fn add_each<F: BaseField>(sums: &mut [Point<F>], terms: &[Point<F>], batch: &mut Batch<F>) {
    let len = sums.len().min(terms.len());
    let mut state = batch.open(len, |k| denominator(&sums[k], &terms[k]));
    for (k, (sum, term)) in sums.iter_mut().zip(terms).enumerate() {
        let inverse = batch.inverse(k, &mut state);
        *sum = add(sum, term, &inverse);
    }
}
