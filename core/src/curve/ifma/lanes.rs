//! Arithmetic in Fp, eight elements to a vector.
//!
//! An element is eight limbs of 52 bits in Montgomery form with R = 2^416, and a vector holds the same limb of eight elements. A
//! product is 264 fused multiply-adds for eight elements: some 36 cycles each, where scalar code takes 80 to 110.
//!
//! **Ranges.** 416 bits hold 2^35 p, so nothing is reduced between products: a product of factors below 2^10 p is below 2p, a difference
//! gets a multiple of p added, and only the coordinates of sums are brought to \[0, p), so that equal points have equal limbs.

use std::arch::x86_64::*;

use crate::curve::Fp;

const MASK: u64 = (1 << 52) - 1;

/// 64-bit limbs to 52-bit limbs.
pub(super) const fn split(l: &[u64; 6]) -> [u64; 8] {
    [
        l[0] & MASK,
        (l[0] >> 52 | l[1] << 12) & MASK,
        (l[1] >> 40 | l[2] << 24) & MASK,
        (l[2] >> 28 | l[3] << 36) & MASK,
        (l[3] >> 16 | l[4] << 48) & MASK,
        (l[4] >> 4) & MASK,
        (l[4] >> 56 | l[5] << 8) & MASK,
        l[5] >> 44,
    ]
}

/// 52-bit limbs to 64-bit limbs; the value is below 2^384.
pub(super) const fn merge(l: &[u64; 8]) -> [u64; 6] {
    [
        l[0] | l[1] << 52,
        l[1] >> 12 | l[2] << 40,
        l[2] >> 24 | l[3] << 28,
        l[3] >> 36 | l[4] << 16,
        l[4] >> 48 | l[5] << 4 | l[6] << 56,
        l[6] >> 8 | l[7] << 44,
    ]
}

const P: [u64; 8] = split(&Fp::MODULUS);

/// k p in limbs.
const fn multiple(k: u64) -> [u64; 8] {
    let mut out = [0; 8];
    let (mut i, mut carry) = (0, 0);
    while i < 8 {
        let value = P[i] * k + carry;
        out[i] = value & MASK;
        carry = value >> 52;
        i += 1;
    }
    out
}

/// -1/p mod 2^52, by Newton's iteration.
const NEG_INVERSE: u64 = {
    let (mut inverse, mut i) = (1u64, 0);
    while i < 6 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(P[0].wrapping_mul(inverse)));
        i += 1;
    }
    inverse.wrapping_neg() & MASK
};

/// 2^k mod p: doubling and reducing.
pub(super) const fn power_of_two(k: u32) -> [u64; 8] {
    let mut value = [0; 8];
    value[0] = 1;
    let mut step = 0;
    while step < k {
        let (mut doubled, mut reduced) = ([0; 8], [0; 8]);
        let (mut i, mut carry, mut borrow) = (0, 0, 0);
        while i < 8 {
            let d = (value[i] << 1) + carry;
            carry = d >> 52;
            doubled[i] = d & MASK;
            let r = doubled[i].wrapping_sub(P[i]).wrapping_sub(borrow);
            borrow = r >> 63;
            reduced[i] = r & MASK;
            i += 1;
        }
        value = if borrow == 1 { doubled } else { reduced };
        step += 1;
    }
    value
}

/// 1 in Montgomery form with R = 2^416.
pub(super) const ONE: [u64; 8] = power_of_two(416);

/// One limb of eight elements after the other.
pub(super) type V = [__m512i; 8];

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn constant(limbs: &[u64; 8]) -> V {
    limbs.map(|l| _mm512_set1_epi64(l as i64))
}

/// Carries between limbs, signed; all but the top limb end in \[0, 2^52).
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn carried(mut t: V) -> V {
    let mask = _mm512_set1_epi64(MASK as i64);
    for i in 0..7 {
        t[i + 1] = _mm512_add_epi64(t[i + 1], _mm512_srai_epi64::<52>(t[i]));
        t[i] = _mm512_and_si512(t[i], mask);
    }
    t
}

/// a b / 2^416 mod p, below 2p, for a, b below 2^10 p.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn mul(a: &V, b: &V) -> V {
    let p = constant(&P);
    let inverse = _mm512_set1_epi64(NEG_INVERSE as i64);
    let zero = _mm512_setzero_si512();
    let mut t = [zero; 8];
    for b in b {
        for j in 0..8 {
            t[j] = _mm512_madd52lo_epu64(t[j], a[j], *b);
        }
        let m = _mm512_madd52lo_epu64(zero, t[0], inverse);
        for j in 0..8 {
            t[j] = _mm512_madd52lo_epu64(t[j], m, p[j]);
        }
        // The lowest limb is now 0 but for what it carries; the high halves belong one limb further up.
        let carry = _mm512_srli_epi64::<52>(t[0]);
        t = [_mm512_add_epi64(t[1], carry), t[2], t[3], t[4], t[5], t[6], t[7], zero];
        for j in 0..8 {
            t[j] = _mm512_madd52hi_epu64(t[j], a[j], *b);
            t[j] = _mm512_madd52hi_epu64(t[j], m, p[j]);
        }
    }
    carried(t)
}

/// a - b + k p, for b at most k p.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn sub<const K: u64>(a: &V, b: &V) -> V {
    let kp = const { multiple(K) };
    let mut t = *a;
    for i in 0..8 {
        t[i] = _mm512_add_epi64(_mm512_sub_epi64(t[i], b[i]), _mm512_set1_epi64(kp[i] as i64));
    }
    carried(t)
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn add(a: &V, b: &V) -> V {
    let mut t = *a;
    for i in 0..8 {
        t[i] = _mm512_add_epi64(t[i], b[i]);
    }
    carried(t)
}

/// a, less k p where that is not negative.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn reduced<const K: u64>(a: &V) -> V {
    let kp = const { multiple(K) };
    let mut t = *a;
    for i in 0..8 {
        t[i] = _mm512_sub_epi64(t[i], _mm512_set1_epi64(kp[i] as i64));
    }
    let mut t = carried(t);
    let negative = _mm512_cmplt_epi64_mask(t[7], _mm512_setzero_si512());
    for i in 0..8 {
        t[i] = _mm512_mask_blend_epi64(negative, t[i], a[i]);
    }
    t
}

/// In \[0, p), for a below 8p.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn canonical(a: &V) -> V {
    reduced::<1>(&reduced::<2>(&reduced::<4>(a)))
}

/// Eight rows of eight words to eight columns.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn transposed(r: V) -> V {
    let lo = |i: usize| _mm512_unpacklo_epi64(r[i], r[i + 1]);
    let hi = |i: usize| _mm512_unpackhi_epi64(r[i], r[i + 1]);
    let blocks = |a, b, c, d| {
        let (s0, s1) = (_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0xee>(a, b));
        let (s2, s3) = (_mm512_shuffle_i64x2::<0x44>(c, d), _mm512_shuffle_i64x2::<0xee>(c, d));
        [
            _mm512_shuffle_i64x2::<0x88>(s0, s2),
            _mm512_shuffle_i64x2::<0xdd>(s0, s2),
            _mm512_shuffle_i64x2::<0x88>(s1, s3),
            _mm512_shuffle_i64x2::<0xdd>(s1, s3),
        ]
    };
    let even = blocks(lo(0), lo(2), lo(4), lo(6));
    let odd = blocks(hi(0), hi(2), hi(4), hi(6));
    [even[0], odd[0], even[1], odd[1], even[2], odd[2], even[3], odd[3]]
}

/// Products over Fp, or Fp2 by Karatsuba's rule: below 2p, or 6p.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn mul_n<const N: usize>(a: &[V; N], b: &[V; N]) -> [V; N] {
    let mut out = *a;
    let t0 = mul(&a[0], &b[0]);
    if N == 1 {
        out[0] = t0;
        return out;
    }
    let t1 = mul(&a[1], &b[1]);
    let t2 = mul(&add(&a[0], &a[1]), &add(&b[0], &b[1]));
    out[0] = sub::<2>(&t0, &t1);
    out[1] = sub::<4>(&t2, &add(&t0, &t1));
    out
}

/// Squares: below 2p.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn square_n<const N: usize>(a: &[V; N]) -> [V; N] {
    let mut out = *a;
    if N == 1 {
        out[0] = mul(&a[0], &a[0]);
        return out;
    }
    out[0] = mul(&add(&a[0], &a[1]), &sub::<8>(&a[0], &a[1]));
    out[1] = mul(&add(&a[0], &a[0]), &a[1]);
    out
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn sub_n<const N: usize, const K: u64>(a: &[V; N], b: &[V; N]) -> [V; N] {
    let mut out = *a;
    for i in 0..N {
        out[i] = sub::<K>(&a[i], &b[i]);
    }
    out
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn canonical_n<const N: usize>(a: &[V; N]) -> [V; N] {
    let mut out = *a;
    for i in 0..N {
        out[i] = canonical(&a[i]);
    }
    out
}

/// Lanes where all limbs of all components agree.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn equal_lanes<const N: usize>(a: &[V; N], b: &[V; N]) -> u8 {
    let mut equal = 0xff;
    for i in 0..N {
        for j in 0..8 {
            equal = _mm512_mask_cmpeq_epi64_mask(equal, a[i][j], b[i][j]);
        }
    }
    equal
}

/// Sums, component by component.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn add_lanes<const N: usize>(a: &[V; N], b: &[V; N]) -> [V; N] {
    let mut out = *a;
    for i in 0..N {
        out[i] = add(&a[i], &b[i]);
    }
    out
}

/// Lanes exchanged with those at distance D: 1, 2 or 4.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn permuted<const N: usize, const D: usize>(a: &[V; N]) -> [V; N] {
    let mut out = *a;
    for v in out.iter_mut().flatten() {
        *v = match D {
            1 => _mm512_permutex_epi64::<0xb1>(*v),
            2 => _mm512_permutex_epi64::<0x4e>(*v),
            _ => _mm512_shuffle_i64x2::<0x4e>(*v, *v),
        };
    }
    out
}

/// Puts an element into one lane.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn set_lane(v: &mut V, lane: usize, limbs: &[u64; 8]) {
    for (v, limb) in v.iter_mut().zip(limbs) {
        *v = _mm512_mask_set1_epi64(*v, 1 << lane, *limb as i64);
    }
}

/// Every component times the same element of Fp, canonical.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn scaled<const N: usize>(a: &[V; N], by: &V) -> [V; N] {
    let mut out = *a;
    for a in &mut out {
        *a = canonical(&mul(a, by));
    }
    out
}

/// p - a in some lanes, for canonical a.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn negated_lanes<const N: usize>(a: &[V; N], lanes: u8) -> [V; N] {
    let mut out = *a;
    if lanes != 0 {
        for a in &mut out {
            let negative = sub::<1>(&[_mm512_setzero_si512(); 8], a);
            for i in 0..8 {
                a[i] = _mm512_mask_blend_epi64(lanes, a[i], negative[i]);
            }
        }
    }
    out
}
