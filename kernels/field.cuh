// The scalar field Fr (8 limbs, R = 2^256) and the base field Fp (12 limbs, R = 2^384) of BLS12-381.
//
// Elements are in Montgomery form. Every function takes and returns values below the modulus, so that zero has one
// representation. Multiplication is Montgomery's, operand scanning, with even and odd accumulators (prelude.cuh): in step i the
// value E + 2^32 O takes a b_i, then m p with m = -E_0 / p mod 2^32, and is divided by 2^32, which swaps the roles of E and O.
// Bounds: the value stays below (a + p) 2^32 < 2^(32 (N + 1)), so no carry is lost, and the result is below
// p (1 + p/R) < 2p: one conditional subtraction.
#pragma once
#include "prelude.cuh"

struct Fr {
    u32 v[8];
};
struct Fp {
    u32 v[12];
};

#if defined(__CUDACC__)
// Not const: if the assembler knew these values it would split the wide multiplications into halves, a fifth slower.
__constant__ u32 FR_HIDDEN[8] = {1u,          0xffffffffu, 0xfffe5bfeu, 0x53bda402u,
                                 0x09a1d805u, 0x3339d808u, 0x299d7d48u, 0x73eda753u};
#else
static const u32 FR_HIDDEN[8] = {1u,          0xffffffffu, 0xfffe5bfeu, 0x53bda402u,
                                 0x09a1d805u, 0x3339d808u, 0x299d7d48u, 0x73eda753u};
#endif

// r, for additions and comparisons.
DEV u32 fr_modulus(int i) {
    constexpr u32 R[8] = {1u,          0xffffffffu, 0xfffe5bfeu, 0x53bda402u,
                          0x09a1d805u, 0x3339d808u, 0x299d7d48u, 0x73eda753u};
    return R[i];
}

#define FP_MODULUS \
    {0xffffaaabu, 0xb9feffffu, 0xb153ffffu, 0x1eabfffeu, 0xf6b0f624u, 0x6730d2a0u, \
     0xf38512bfu, 0x64774b84u, 0x434bacd7u, 0x4b1ba7b6u, 0x397fe69au, 0x1a0111eau}
// -1/p mod 2^32
#define FP_M0 0xfffcfffdu

DEV u32 fp_modulus(int i) {
    constexpr u32 P[12] = FP_MODULUS;
    return P[i];
}

template <typename F>
struct Limbs;
template <>
struct Limbs<Fr> {
    static constexpr int N = 8;
};
template <>
struct Limbs<Fp> {
    static constexpr int N = 12;
};
// Limb i of the modulus of the element's field.
DEV u32 modulus(const Fr &, int i) { return fr_modulus(i); }
DEV u32 modulus(const Fp &, int i) { return fp_modulus(i); }

// r -= p unless that is negative
template <typename F>
DEV void reduce_once(F &r) {
    constexpr int N = Limbs<F>::N;
    u32 t[N];
    t[0] = sub_cc(r.v[0], modulus(r, 0));
    UNROLL
    for (int j = 1; j < N; j++) t[j] = subc_cc(r.v[j], modulus(r, j));
    u32 negative = subc(0, 0);
    UNROLL
    for (int j = 0; j < N; j++) r.v[j] = negative ? r.v[j] : t[j];
}

template <typename F>
DEV F add(const F &a, const F &b) {
    constexpr int N = Limbs<F>::N;
    F r;
    r.v[0] = add_cc(a.v[0], b.v[0]);
    UNROLL
    for (int j = 1; j < N - 1; j++) r.v[j] = addc_cc(a.v[j], b.v[j]);
    r.v[N - 1] = addc(a.v[N - 1], b.v[N - 1]);
    reduce_once(r);
    return r;
}

template <typename F>
DEV F sub(const F &a, const F &b) {
    constexpr int N = Limbs<F>::N;
    F r;
    r.v[0] = sub_cc(a.v[0], b.v[0]);
    UNROLL
    for (int j = 1; j < N; j++) r.v[j] = subc_cc(a.v[j], b.v[j]);
    u32 negative = subc(0, 0);
    r.v[0] = add_cc(r.v[0], modulus(r, 0) & negative);
    UNROLL
    for (int j = 1; j < N - 1; j++) r.v[j] = addc_cc(r.v[j], modulus(r, j) & negative);
    r.v[N - 1] = addc(r.v[N - 1], modulus(r, N - 1) & negative);
    return r;
}

template <typename F>
DEV void set_zero(F &r) {
    UNROLL
    for (int j = 0; j < Limbs<F>::N; j++) r.v[j] = 0;
}
template <typename F>
DEV F zero() {
    F r;
    set_zero(r);
    return r;
}

template <typename F>
DEV bool is_zero(const F &a) {
    u32 any = 0;
    UNROLL
    for (int j = 0; j < Limbs<F>::N; j++) any |= a.v[j];
    return any == 0;
}

template <typename F>
DEV bool equal(const F &a, const F &b) {
    u32 any = 0;
    UNROLL
    for (int j = 0; j < Limbs<F>::N; j++) any |= a.v[j] ^ b.v[j];
    return any == 0;
}

template <typename F>
DEV F neg(const F &a) {
    return sub(zero<F>(), a);
}
template <typename F>
DEV F dbl(const F &a) {
    return add(a, a);
}

// a < p, for values from files
template <typename F>
DEV bool is_reduced(const F &a) {
    constexpr int N = Limbs<F>::N;
    sub_cc(a.v[0], modulus(a, 0));
    UNROLL
    for (int j = 1; j < N; j++) subc_cc(a.v[j], modulus(a, j));
    return subc(0, 0) != 0;
}

// ---- Fr ----

// (E + 2^32 O) + m r with m = -E_0, as -1/r = -1 mod 2^32. The two low limbs of r are 1 and 2^32 - 1, so their
// products are m, and m 2^32 - m: additions instead of multiplications.
DEV void fr_reduce_row(u32 *e, u32 *o) {
    u32 e0 = e[0];
    u32 m = sub_cc(0, e0);
    u32 high = subc(m, 0);
    o[0] = add_cc(o[0], e0);
    o[1] = addc_cc(o[1], high);
    UNROLL
    for (int j = 2; j < 8; j += 2) {
        o[j] = madc_lo_cc(FR_HIDDEN[j + 1], m, o[j]);
        o[j + 1] = madc_hi_cc(FR_HIDDEN[j + 1], m, o[j + 1]);
    }
    add_cc(e0, m);
    e[1] = addc_cc(e[1], 0);
    UNROLL
    for (int j = 2; j < 8; j += 2) {
        e[j] = madc_lo_cc(FR_HIDDEN[j], m, e[j]);
        e[j + 1] = madc_hi_cc(FR_HIDDEN[j], m, e[j + 1]);
    }
    o[7] = addc(o[7], 0);
}

DEV Fr mul(const Fr &a, const Fr &b) {
    u32 x[8], y[8];
    row_mul<8>(y, a.v + 1, b.v[0]);
    row_mul<8>(x, a.v, b.v[0]);
    fr_reduce_row(x, y);
    UNROLL
    for (int i = 1; i < 8; i++) {
        u32 *e = i & 1 ? y : x, *o = i & 1 ? x : y;
        e[0] = add_cc(e[0], o[1]);
        row_mad_shift<8>(o, a.v + 1, b.v[i]);
        row_mad<8>(e, a.v, b.v[i]);
        o[7] = addc(o[7], 0);
        fr_reduce_row(e, o);
    }
    Fr r;
    merge_even_odd<8>(r.v, y, x);
    reduce_once(r);
    return r;
}
DEV Fr sqr(const Fr &a) { return mul(a, a); }

DEV Fr fr_one() {
    return {{0xfffffffeu, 0x00000001u, 0x00034802u, 0x5884b7fau, 0xecbc4ff5u, 0x998c4fefu, 0xacc5056fu, 0x1824b159u}};
}
// R^2 mod r
DEV Fr fr_r2() {
    return {{0xf3f29c6du, 0xc999e990u, 0x87925c23u, 0x2b6cedcbu, 0x7254398fu, 0x05d31496u, 0x9f59ff11u, 0x0748d9d9u}};
}
DEV Fr fr_to_canonical(const Fr &a) { return mul(a, Fr{{1, 0, 0, 0, 0, 0, 0, 0}}); }
DEV Fr fr_to_montgomery(const Fr &a) { return mul(a, fr_r2()); }

// ---- Fp ----

DEV void fp_reduce_row(u32 *e, u32 *o) {
    constexpr u32 P[12] = FP_MODULUS;
    u32 m = e[0] * FP_M0;
    row_mad<12>(o, P + 1, m);
    row_mad<12>(e, P, m);
    o[11] = addc(o[11], 0);
}

DEV Fp mul(const Fp &a, const Fp &b) {
    u32 x[12], y[12];
    row_mul<12>(y, a.v + 1, b.v[0]);
    row_mul<12>(x, a.v, b.v[0]);
    fp_reduce_row(x, y);
    UNROLL
    for (int i = 1; i < 12; i++) {
        u32 *e = i & 1 ? y : x, *o = i & 1 ? x : y;
        e[0] = add_cc(e[0], o[1]);
        row_mad_shift<12>(o, a.v + 1, b.v[i]);
        row_mad<12>(e, a.v, b.v[i]);
        o[11] = addc(o[11], 0);
        fp_reduce_row(e, o);
    }
    Fp r;
    merge_even_odd<12>(r.v, y, x);
    reduce_once(r);
    return r;
}

// a b + c d with one reduction: the value stays below (a + c + p) 2^32 < 2^416, the result below 1.3 p.
DEV Fp mul_add(const Fp &a, const Fp &b, const Fp &c, const Fp &d) {
    u32 x[12], y[12];
    row_mul<12>(y, a.v + 1, b.v[0]);
    row_mul<12>(x, a.v, b.v[0]);
    row_mad<12>(y, c.v + 1, d.v[0]);
    row_mad<12>(x, c.v, d.v[0]);
    y[11] = addc(y[11], 0);
    fp_reduce_row(x, y);
    UNROLL
    for (int i = 1; i < 12; i++) {
        u32 *e = i & 1 ? y : x, *o = i & 1 ? x : y;
        e[0] = add_cc(e[0], o[1]);
        row_mad_shift<12>(o, a.v + 1, b.v[i]);
        row_mad<12>(e, a.v, b.v[i]);
        o[11] = addc(o[11], 0);
        row_mad<12>(o, c.v + 1, d.v[i]);
        row_mad<12>(e, c.v, d.v[i]);
        o[11] = addc(o[11], 0);
        fp_reduce_row(e, o);
    }
    Fp r;
    merge_even_odd<12>(r.v, y, x);
    reduce_once(r);
    return r;
}

// w = sum over i < j of a_i a_j 2^(32 (i + j)), in even and odd accumulators (o is one limb up). Row i of the odd one ends two
// limbs further than row i - 1 where i is even, and carries into a fresh limb where i is odd; the even one the other way round.
DEV void fp_cross_products(u32 *e, u32 *o, const u32 *a) {
    row_mul<12>(o, a + 1, a[0]);
    row_mul<10>(e + 2, a + 2, a[0]);
    UNROLL
    for (int i = 1; i < 11; i++) {
        const int n_odd = (12 - i) / 2, n_even = (11 - i) / 2;
        UNROLL
        for (int t = 0; t < n_odd; t++) {
            const int k = 2 * i + 2 * t;
            const bool fresh = i % 2 == 0 && t == n_odd - 1;
            o[k] = t == 0 ? mad_lo_cc(a[i], a[i + 1], o[k]) : madc_lo_cc(a[i], a[i + 1 + 2 * t], o[k]);
            o[k + 1] = madc_hi_cc(a[i], a[i + 1 + 2 * t], fresh ? 0 : o[k + 1]);
        }
        if (i % 2 == 1) o[i + 11] = addc(0, 0);
        UNROLL
        for (int t = 0; t < n_even; t++) {
            const int k = 2 * i + 2 + 2 * t;
            const bool fresh = i % 2 == 1 && t == n_even - 1;
            // The first fresh pair of the even accumulator has had no carry below it yet.
            const u32 low = fresh && i == 1 ? 0 : e[k];
            e[k] = t == 0 ? mad_lo_cc(a[i], a[i + 2], low) : madc_lo_cc(a[i], a[i + 2 + 2 * t], low);
            e[k + 1] = madc_hi_cc(a[i], a[i + 2 + 2 * t], fresh ? 0 : e[k + 1]);
        }
        if (i % 2 == 0 && n_even > 0) e[i + 12] = addc(0, 0);
    }
}

// a^2: half of the products, doubled, and the squares.
DEV Fp sqr(const Fp &a) {
    u32 e[24], o[24], w[24];
    fp_cross_products(e, o, a.v);
    // e holds limbs 2..21, o limbs 1..22 of the sum.
    w[0] = 0;
    w[1] = o[0];
    w[2] = add_cc(e[2], o[1]);
    UNROLL
    for (int j = 3; j < 22; j++) w[j] = addc_cc(e[j], o[j - 1]);
    w[22] = addc(o[21], 0);
    w[1] = add_cc(w[1], w[1]);
    UNROLL
    for (int j = 2; j < 23; j++) w[j] = addc_cc(w[j], w[j]);
    w[23] = addc(0, 0);
    w[0] = mad_lo_cc(a.v[0], a.v[0], w[0]);
    w[1] = madc_hi_cc(a.v[0], a.v[0], w[1]);
    UNROLL
    for (int j = 1; j < 12; j++) {
        w[2 * j] = madc_lo_cc(a.v[j], a.v[j], w[2 * j]);
        w[2 * j + 1] = madc_hi_cc(a.v[j], a.v[j], w[2 * j + 1]);
    }
    // Montgomery reduction of w: as in mul, with no products to add. The low half gives at most p, the high half less than p/9.
    constexpr u32 P[12] = FP_MODULUS;
    u32 y[12];
    u32 m = w[0] * FP_M0;
    row_mul<12>(y, P + 1, m);
    row_mad<12>(w, P, m);
    y[11] = addc(y[11], 0);
    UNROLL
    for (int i = 1; i < 12; i++) {
        u32 *ev = i & 1 ? y : w, *od = i & 1 ? w : y;
        ev[0] = add_cc(ev[0], od[1]);
        m = ev[0] * FP_M0;
        row_mad_shift<12>(od, P + 1, m);
        row_mad<12>(ev, P, m);
        od[11] = addc(od[11], 0);
    }
    Fp r;
    merge_even_odd<12>(r.v, y, w);
    r.v[0] = add_cc(r.v[0], w[12]);
    UNROLL
    for (int j = 1; j < 11; j++) r.v[j] = addc_cc(r.v[j], w[12 + j]);
    r.v[11] = addc(r.v[11], w[23]);
    reduce_once(r);
    return r;
}

DEV Fp mul_sub(const Fp &a, const Fp &b, const Fp &c, const Fp &d) { return mul_add(a, b, neg(c), d); }

DEV void set_one(Fp &r) {
    r = {{0x0002fffdu, 0x76090000u, 0xc40c0002u, 0xebf4000bu, 0x53c758bau, 0x5f489857u, 0x70525745u, 0x77ce5853u,
          0xa256ec6du, 0x5c071a97u, 0xfa80e493u, 0x15f65ec3u}};
}
// R^2 mod p
DEV Fp fp_r2() {
    return {{0x1c341746u, 0xf4df1f34u, 0x09d104f1u, 0x0a76e6a6u, 0x4c95b6d5u, 0x8de5476cu, 0x939d83c0u, 0x67eb88a9u,
             0xb519952du, 0x9a793e85u, 0x92cae3aau, 0x11988fe5u}};
}
DEV Fp fp_to_montgomery(const Fp &a) { return mul(a, fp_r2()); }

// a^e for an exponent of N words, from the top bit down; not for secrets. A loop, not unrolled: it is rarely called.
template <typename F, int N>
DEV_CALL F power(const F &a, const u32 *e, const F &one) {
    F r = one;
    for (int i = N - 1; i >= 0; i--) {
        for (int bit = 31; bit >= 0; bit--) {
            r = sqr(r);
            if (e[i] >> bit & 1) r = mul(r, a);
        }
    }
    return r;
}

// 1/a by Fermat, and 0 for 0
DEV Fr inverse(const Fr &a) {
    const u32 e[8] = {0xffffffffu, 0xfffffffeu, 0xfffe5bfeu, 0x53bda402u,
                      0x09a1d805u, 0x3339d808u, 0x299d7d48u, 0x73eda753u};
    return power<Fr, 8>(a, e, fr_one());
}
DEV Fp inverse(const Fp &a) {
    const u32 e[12] = {0xffffaaa9u, 0xb9feffffu, 0xb153ffffu, 0x1eabfffeu, 0xf6b0f624u, 0x6730d2a0u,
                       0xf38512bfu, 0x64774b84u, 0x434bacd7u, 0x4b1ba7b6u, 0x397fe69au, 0x1a0111eau};
    Fp one;
    set_one(one);
    return power<Fp, 12>(a, e, one);
}
