//! G1 and G2 as one trait, so that an MSM, a key query or a format is written once.

use ::blst::{blst_p1_affine, blst_p2_affine};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use group::prime::PrimeCurveAffine;

use super::{BaseField, Element, Fp, Fp2};

mod sealed {
    pub trait Sealed {}
}

/// One of the two groups of order r.
pub trait Curve: sealed::Sealed + Copy + Send + Sync + std::fmt::Debug + 'static {
    /// Coordinate field.
    type Base: BaseField;
    /// Affine points, the form in which keys and devices hold them; the identity is all zero.
    type Affine: Element
        + PrimeCurveAffine<Scalar = Scalar, Curve = Self::Projective>
        + From<Self::Projective>
        + group::GroupEncoding;
    /// Projective points, the form in which sums are returned.
    type Projective: group::prime::PrimeCurve<Affine = Self::Affine, Scalar = Scalar>
        + From<Self::Affine>
        + std::fmt::Debug;
    /// "G1" or "G2".
    const NAME: &'static str;
    /// Bytes of an uncompressed affine point: 96 or 192.
    const BYTES: usize;

    /// (x, y); (0, 0) for the identity.
    fn coordinates(p: &Self::Affine) -> (Self::Base, Self::Base);
    /// The point (x, y), or the identity for (0, 0). Neither curve nor subgroup membership is checked.
    fn from_coordinates(x: Self::Base, y: Self::Base) -> Self::Affine;
    /// Whether the point satisfies the curve equation; true for the identity.
    fn is_on_curve(p: &Self::Affine) -> bool;
    /// Whether a point on the curve lies in the subgroup of order r.
    fn is_in_subgroup(p: &Self::Affine) -> bool;
}

/// The group over Fp.
#[derive(Clone, Copy, Debug)]
pub struct G1;

/// The group over Fp2.
#[derive(Clone, Copy, Debug)]
pub struct G2;

impl sealed::Sealed for G1 {}
impl sealed::Sealed for G2 {}

impl Curve for G1 {
    type Base = Fp;
    type Affine = G1Affine;
    type Projective = G1Projective;
    const NAME: &'static str = "G1";
    const BYTES: usize = 96;

    #[inline(always)]
    fn coordinates(p: &G1Affine) -> (Fp, Fp) {
        let raw: &blst_p1_affine = p.as_ref();
        (Fp(raw.x), Fp(raw.y))
    }
    #[inline(always)]
    fn from_coordinates(x: Fp, y: Fp) -> G1Affine {
        let mut p = G1Affine::identity();
        *p.as_mut() = blst_p1_affine { x: x.0, y: y.0 };
        p
    }
    fn is_on_curve(p: &G1Affine) -> bool {
        p.is_on_curve().into()
    }
    fn is_in_subgroup(p: &G1Affine) -> bool {
        p.is_torsion_free().into()
    }
}

impl Curve for G2 {
    type Base = Fp2;
    type Affine = G2Affine;
    type Projective = G2Projective;
    const NAME: &'static str = "G2";
    const BYTES: usize = 192;

    #[inline(always)]
    fn coordinates(p: &G2Affine) -> (Fp2, Fp2) {
        let raw: &blst_p2_affine = p.as_ref();
        (Fp2(raw.x), Fp2(raw.y))
    }
    #[inline(always)]
    fn from_coordinates(x: Fp2, y: Fp2) -> G2Affine {
        let mut p = G2Affine::identity();
        *p.as_mut() = blst_p2_affine { x: x.0, y: y.0 };
        p
    }
    fn is_on_curve(p: &G2Affine) -> bool {
        p.is_on_curve().into()
    }
    fn is_in_subgroup(p: &G2Affine) -> bool {
        p.is_torsion_free().into()
    }
}
