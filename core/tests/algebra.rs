//! Fields and groups as algebra: axioms, agreement with arbitrary-precision integers, and the curve equations.
#![expect(clippy::unwrap_used, reason = "tests")]

use cuzk_core::curve::{
    BaseField, Curve, Element, Fp, Fp2, G1, G2, Root, Scalar, as_bytes, canonical_limbs, from_raw_limbs,
    raw_limbs, scalar_add, scalar_sub,
};
use ff::{Field, PrimeField};
use group::{Curve as _, Group, GroupEncoding, prime::PrimeCurveAffine};
use num_bigint::BigUint;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Failing inputs are printed, and come again with the same seed.
fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(0x6375_7a6b),
        failure_persistence: None,
        ..Default::default()
    }
}

fn limbs_of(value: &BigUint) -> [u64; 6] {
    let digits = value.to_u64_digits();
    std::array::from_fn(|i| digits.get(i).copied().unwrap_or(0))
}

fn big(limbs: &[u64]) -> BigUint {
    BigUint::from_slice(&limbs.iter().flat_map(|l| [*l as u32, (*l >> 32) as u32]).collect::<Vec<_>>())
}

fn p() -> BigUint {
    big(&Fp::MODULUS)
}

/// 2^384 mod p: the factor of the Montgomery form.
fn factor() -> BigUint {
    (BigUint::from(1u32) << 384) % p()
}

/// The element that stands for `value` mod p.
fn element(value: &BigUint) -> Fp {
    Fp::from_montgomery(limbs_of(&(value * factor() % p()))).unwrap()
}

/// The integer that an element stands for.
fn integer(x: Fp) -> BigUint {
    let inverse = factor().modpow(&(p() - 2u32), &p());
    big(&x.to_montgomery()) * inverse % p()
}

/// Elements of Fp: any, and those whose limbs or values are at an end of the range.
fn fp() -> impl Strategy<Value = Fp> {
    let any = any::<[u64; 6]>().prop_map(|l| Fp::from_montgomery(limbs_of(&(big(&l) % p()))).unwrap());
    let values = prop_oneof![
        (0u32..4).prop_map(BigUint::from),
        (1u32..4).prop_map(|k| p() - k),
        (0usize..381).prop_map(|k| BigUint::from(1u32) << k),
    ];
    let small_limbs = (0u64..3).prop_map(|l| Fp::from_montgomery([l, 0, 0, 0, 0, 0]).unwrap());
    let large_limbs = (1u32..4).prop_map(|k| Fp::from_montgomery(limbs_of(&(p() - k))).unwrap());
    prop_oneof![6 => any, 2 => values.prop_map(|v| element(&v)), 1 => small_limbs, 1 => large_limbs]
}

fn fp2() -> impl Strategy<Value = Fp2> {
    (fp(), fp()).prop_map(|(c0, c1)| Fp2::new(c0, c1))
}

fn scalar() -> impl Strategy<Value = Scalar> {
    let any = any::<[u64; 8]>().prop_map(|l| {
        l.iter().fold(Scalar::ZERO, |s, l| s * Scalar::from(1 << 32).square() + Scalar::from(*l))
    });
    prop_oneof![4 => any, 1 => (0u64..5).prop_map(Scalar::from), 1 => (1u64..5).prop_map(|k| -Scalar::from(k))]
}

fn axioms<F: BaseField>(a: F, b: F, c: F) -> Result<(), TestCaseError> {
    let zero = F::default();
    prop_assert_eq!(a.add(&b), b.add(&a));
    prop_assert_eq!(a.mul(&b), b.mul(&a));
    prop_assert_eq!(a.add(&b).add(&c), a.add(&b.add(&c)));
    prop_assert_eq!(a.mul(&b).mul(&c), a.mul(&b.mul(&c)));
    prop_assert_eq!(a.mul(&b.add(&c)), a.mul(&b).add(&a.mul(&c)));
    prop_assert_eq!(a.add(&zero), a);
    prop_assert_eq!(a.mul(&F::ONE), a);
    prop_assert_eq!(a.sub(&b).add(&b), a);
    prop_assert_eq!(a.sub(&a), zero);
    prop_assert!(a.sub(&a).is_zero());
    prop_assert_eq!(a.is_zero(), a == zero);
    prop_assert_eq!(a.add(&a.negate_if(true)), zero);
    prop_assert_eq!(a.negate_if(false), a);
    prop_assert_eq!(a.square(), a.mul(&a));
    prop_assert_eq!(a.double(), a.add(&a));
    let product = a.mul(&a.inverse());
    prop_assert_eq!(product, if a.is_zero() { zero } else { F::ONE });
    Ok(())
}

/// y^2 = x^3 + b by the crate's own field arithmetic.
fn satisfies<F: BaseField>(x: &F, y: &F, b: &F) -> bool {
    y.square() == x.square().mul(x).add(b)
}

/// The sum of two points with different abscissae, or the double of one, by chord and tangent.
fn chord_or_tangent<F: BaseField>((x1, y1): (F, F), (x2, y2): (F, F)) -> (F, F) {
    let slope = if x1 == x2 {
        x1.square().double().add(&x1.square()).mul(&y1.double().inverse())
    } else {
        y2.sub(&y1).mul(&x2.sub(&x1).inverse())
    };
    let x = slope.square().sub(&x1).sub(&x2);
    (x, slope.mul(&x1.sub(&x)).sub(&y1))
}

fn groups<C: Curve>(b: C::Base, k: Scalar, l: Scalar) -> Result<(), TestCaseError> {
    let generator = C::Projective::generator();
    let affine = |k: Scalar| C::Affine::from(generator * k);
    let (p, q) = (affine(k), affine(l));
    let (x, y) = C::coordinates(&p);
    prop_assert_eq!(C::from_coordinates(x, y), p);
    prop_assert!(C::is_on_curve(&p) && C::is_in_subgroup(&p));
    prop_assert_eq!(C::coordinates(&-p), (x, y.negate_if(true)));
    if bool::from(p.is_identity()) {
        prop_assert!(x.is_zero() && y.is_zero(), "the identity is all zero");
        prop_assert_eq!(p, C::Affine::zeroed());
        return Ok(());
    }
    prop_assert!(satisfies(&x, &y, &b));
    prop_assert!(
        !C::is_on_curve(&C::from_coordinates(x, y.add(&C::Base::ONE)))
            || y.double() == C::Base::ONE.negate_if(true)
    );
    prop_assert_eq!(C::coordinates(&affine(k.double())), chord_or_tangent((x, y), (x, y)));
    // The bytes are the coordinates, so equal points have equal bytes.
    let (again, other) = (affine(k), C::Affine::from(generator * (k - l) + q));
    prop_assert!(as_bytes(&[p]) == as_bytes(&[again]));
    prop_assert!(as_bytes(&[p]) == as_bytes(&[other]));
    if k != l && k != -l && !bool::from(q.is_identity()) {
        let sum = C::coordinates(&affine(k + l));
        prop_assert_eq!(sum, chord_or_tangent((x, y), C::coordinates(&q)));
    }
    Ok(())
}

fn laws<C: Curve>(k: Scalar, l: Scalar) -> Result<(), TestCaseError> {
    let g = C::Projective::generator();
    let (p, q) = (g * k, g * l);
    prop_assert_eq!(p + q, q + p);
    prop_assert_eq!((p + q) + g, p + (q + g));
    prop_assert_eq!(p + q, g * (k + l));
    prop_assert_eq!(p * l, q * k);
    prop_assert_eq!(p + p, p.double());
    prop_assert!(bool::from((p + (-p)).is_identity()));
    prop_assert_eq!(p + q.to_affine(), p + q);
    prop_assert_eq!(p - p.to_affine(), C::Projective::identity());
    prop_assert_eq!(C::Projective::from(p.to_affine()), p);
    Ok(())
}

fn four() -> Fp {
    Fp::ONE.double().double()
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn fp_is_a_field(a in fp(), b in fp(), c in fp()) {
        axioms(a, b, c)?;
    }

    #[test]
    fn fp2_is_a_field(a in fp2(), b in fp2(), c in fp2()) {
        axioms(a, b, c)?;
    }

    #[test]
    fn fp_agrees_with_integers(a in fp(), b in fp()) {
        let (x, y, p) = (integer(a), integer(b), p());
        prop_assert_eq!(element(&x), a);
        prop_assert_eq!(integer(a.add(&b)), (&x + &y) % &p);
        prop_assert_eq!(integer(a.sub(&b)), (&x + &p - &y) % &p);
        prop_assert_eq!(integer(a.mul(&b)), &x * &y % &p);
        prop_assert_eq!(integer(a.square()), &x * &x % &p);
        prop_assert_eq!(integer(a.negate_if(true)), (&p - &x) % &p);
        prop_assert_eq!(integer(a.inverse()), x.modpow(&(&p - 2u32), &p));
        for result in [a.add(&b), a.sub(&b), a.mul(&b), a.negate_if(true), a.inverse()] {
            prop_assert!(Fp::from_montgomery(result.to_montgomery()) == Some(result), "not fully reduced");
        }
    }

    #[test]
    fn fp2_is_pairs_with_u_squared_minus_one(a in fp2(), b in fp2()) {
        let (a0, a1, b0, b1) = (a.c0(), a.c1(), b.c0(), b.c1());
        prop_assert_eq!(a.add(&b), Fp2::new(a0.add(&b0), a1.add(&b1)));
        prop_assert_eq!(a.sub(&b), Fp2::new(a0.sub(&b0), a1.sub(&b1)));
        let product = Fp2::new(a0.mul(&b0).sub(&a1.mul(&b1)), a0.mul(&b1).add(&a1.mul(&b0)));
        prop_assert_eq!(a.mul(&b), product);
        let norm = a0.square().add(&a1.square()).inverse();
        prop_assert_eq!(a.inverse(), Fp2::new(a0.mul(&norm), a1.negate_if(true).mul(&norm)));
        prop_assert_eq!(a.negate_if(true), Fp2::new(a0.negate_if(true), a1.negate_if(true)));
    }

    #[test]
    fn limbs_not_below_p_are_refused(limbs in any::<[u64; 6]>()) {
        prop_assert_eq!(Fp::from_montgomery(limbs).is_some(), big(&limbs) < p());
        let edge = limbs_of(&(p() + BigUint::from(limbs[0] & 3)));
        prop_assert_eq!(Fp::from_montgomery(edge), None);
    }

    #[test]
    fn scalars_are_their_integers(a in scalar(), b in scalar()) {
        let integer = |s: Scalar| BigUint::from_bytes_le(&s.to_repr());
        let r = integer(-Scalar::ONE) + 1u32;
        prop_assert_eq!(integer(a + b), (integer(a) + integer(b)) % &r);
        prop_assert_eq!(integer(a * b), integer(a) * integer(b) % &r);
        prop_assert_eq!(integer(a - b), (integer(a) + &r - integer(b)) % &r);
        // In memory: times 2^256 mod r, fully reduced.
        let in_memory = BigUint::from_bytes_le(as_bytes(&[a]));
        prop_assert_eq!(in_memory, (integer(a) << 256) % &r);
        prop_assert_eq!(scalar_add(&a, &b), a + b);
        prop_assert_eq!(scalar_sub(&a, &b), a - b);
        prop_assert_eq!(big(&canonical_limbs(&a)), integer(a));
        prop_assert_eq!(from_raw_limbs(raw_limbs(&a)), a);
    }
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn g1_points_are_coordinates(k in scalar(), l in scalar()) {
        groups::<G1>(four(), k, l)?;
    }

    #[test]
    fn g2_points_are_coordinates(k in scalar(), l in scalar()) {
        groups::<G2>(Fp2::new(four(), four()), k, l)?;
    }

    #[test]
    fn g1_is_a_group(k in scalar(), l in scalar()) {
        laws::<G1>(k, l)?;
    }

    #[test]
    fn g2_is_a_group(k in scalar(), l in scalar()) {
        laws::<G2>(k, l)?;
    }

    /// Random points of the curves are not in the subgroups: the cofactors are large.
    #[test]
    fn most_of_the_curve_is_outside_the_subgroup(x in any::<[u8; 46]>()) {
        fn examine<C: Curve>(x: &[u8]) -> Result<(), TestCaseError> {
            let mut bytes = <C::Affine as GroupEncoding>::Repr::default();
            bytes.as_mut()[2..48].copy_from_slice(x);
            bytes.as_mut()[0] = 0x80;
            let point: Option<C::Affine> = C::Affine::from_bytes_unchecked(&bytes).into();
            if let Some(point) = point {
                prop_assert!(C::is_on_curve(&point) && !C::is_in_subgroup(&point));
            }
            Ok(())
        }
        examine::<G1>(&x)?;
        examine::<G2>(&x)?;
    }
}

/// Every root generates the root of half its order, has exactly its order, and comes from its generator.
#[test]
fn roots_of_unity_have_their_orders() {
    let t = (BigUint::from_bytes_le(&(-Scalar::ONE).to_repr()) >> 32u32).to_u64_digits();
    for root in [Root::Five, Root::Seven] {
        assert_eq!(root.of_unity(32), Some(Scalar::from(root.generator()).pow_vartime(&t)));
        assert_eq!(root.of_unity(0), Some(Scalar::ONE));
        for log_n in 1..=32 {
            let w = root.of_unity(log_n).unwrap();
            assert_eq!(w.square(), root.of_unity(log_n - 1).unwrap(), "{root}, 2^{log_n}");
            assert_eq!(w.pow_vartime([1 << (log_n - 1)]), -Scalar::ONE, "{root}, 2^{log_n}");
        }
        assert_eq!(root.of_unity(33), None);
        assert_eq!(root.of_unity(u32::MAX), None);
    }
}
