// Points of keys: checks, decoding, and multiples of a fixed base. One thread a point.
#pragma once
#include "factors.cuh"
#include "points.cuh"

// G2 in one thread.
struct FieldG2Whole {
    typedef Fp2 F;
    static constexpr u32 LANES = 1, BYTES = 96;
    static __device__ __forceinline__ Fp2 load(const u8 *at) { return {load_fp(at), load_fp(at + 48)}; }
    static __device__ __forceinline__ void store(u8 *at, const Fp2 &a) {
        store_fp(at, a.c0);
        store_fp(at + 48, a.c1);
    }
};

// First index at which something is wrong, of each kind; set to ~0 before.
struct Report {
    u32 malformed, off_curve, outside_subgroup;
};

// |x| of the curve's parameter x = -|x|.
#define CURVE_X 0xd201000000010000ull

template <typename F>
DEV Xyzz<F> times_x(const Xyzz<F> &p) {
    Xyzz<F> r = p;
    for (int bit = 62; bit >= 0; bit--) {
        r = dbl_point(r);
        if (CURVE_X >> bit & 1) add_point(r, p);
    }
    return r;
}

// 4
DEV void curve_b(Fp &b) {
    b = {{0x000cfff3u, 0xaa270000u, 0xfc34000au, 0x53cc0032u, 0x6b0a807fu, 0x478fe97au, 0xe6ba24d7u, 0xb1d37ebeu,
          0xbf78ab2fu, 0x8ec9733bu, 0x3d83de7eu, 0x09d64551u}};
}
// 4 (1 + u)
DEV void curve_b(Fp2 &b) {
    curve_b(b.c0);
    b.c1 = b.c0;
}

// Subgroup membership by endomorphisms (Scott, eprint 2021/1130). G1: (beta x, y) is -x^2 times the point.
DEV bool in_subgroup(const Fp &x, const Fp &y) {
    const Fp beta = {{0x798a64e8u, 0x30f1361bu, 0x7ece5a2au, 0xf3b8ddabu, 0xc61577f7u, 0x16a8ca3au, 0x74fd029bu, 0xc26a2ff8u,
                      0x60701c6eu, 0x3636b766u, 0x241b6160u, 0x051ba4abu}};
    Xyzz<Fp> p = {x, y, zero<Fp>(), zero<Fp>()};
    set_one(p.zz);
    set_one(p.zzz);
    p = times_x(times_x(p));
    return !is_identity(p) && equal(p.x, mul(mul(beta, x), p.zz)) && equal(p.y, mul(neg(y), p.zzz));
}
// G2: psi(P) = (conj(x) / (1 + u)^((p-1)/3), conj(y) / (1 + u)^((p-1)/2)) is x times P.
DEV bool in_subgroup(const Fp2 &x, const Fp2 &y) {
    const Fp2 cx = {zero<Fp>(),
                    {{0x867545c3u, 0x890dc9e4u, 0x3285a5d5u, 0x2af32253u, 0x309b7e2cu, 0x50880866u, 0x7e881024u, 0xa20d1b8cu,
                      0xe2db9068u, 0x14e4f04fu, 0x1564853au, 0x14e56d3fu}}};
    const Fp2 cy = {{{0xa55c9ad1u, 0x3e2f585du, 0x86c18183u, 0x4294213du, 0x8b623732u, 0x382844c8u, 0x19103e18u, 0x92ad2afdu,
                      0xac7cf0b9u, 0x1d794e4fu, 0x7d825ec8u, 0x0bd592fcu}},
                    {{0x5aa30fdau, 0x7bcfa7a2u, 0x2a927e7cu, 0xdc17dec1u, 0x6b4ebef1u, 0x2f088dd8u, 0xda74d4a7u, 0xd1ca2087u,
                      0x96cebc1du, 0x2da25966u, 0xbbfd87d2u, 0x0e2b7eedu}}};
    Xyzz<Fp2> p = {x, y, zero<Fp2>(), zero<Fp2>()};
    set_one(p.zz);
    set_one(p.zzz);
    p = times_x(p);
    const Fp2 psi_x = mul(conjugate(x), cx), psi_y = mul(conjugate(y), cy);
    return !is_identity(p) && equal(p.x, mul(psi_x, p.zz)) && is_zero(add(p.y, mul(psi_y, p.zzz)));
}

template <typename Field>
DEV void check(const u8 *points, u32 n, Report *report) {
    typedef typename Field::F F;
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const u8 *at = points + (u64)i * (2 * Field::BYTES);
    const F x = Field::load(at), y = Field::load(at + Field::BYTES);
    if (is_zero(x) && is_zero(y)) return;
    F b;
    curve_b(b);
    if (!is_on_curve(x, y, b)) atomicMin(&report->off_curve, i);
    else if (!in_subgroup(x, y)) atomicMin(&report->outside_subgroup, i);
}

// 48 big-endian bytes; `flags`: the first byte's three top bits are cleared.
DEV Fp big_endian(const u8 *at, bool flags) {
    Fp r;
    const u32 *words = (const u32 *)at;
    UNROLL
    for (int j = 0; j < 12; j++) r.v[j] = __byte_perm(words[11 - j], 0, 0x0123);
    if (flags) r.v[11] &= 0x1fffffffu;
    return r;
}
DEV Fp to_montgomery(const Fp &a) { return fp_to_montgomery(a); }
DEV Fp2 to_montgomery(const Fp2 &a) { return {fp_to_montgomery(a.c0), fp_to_montgomery(a.c1)}; }
DEV void read_big_endian(const u8 *at, bool flags, Fp &r) { r = big_endian(at, flags); }
DEV void read_big_endian(const u8 *at, bool flags, Fp2 &r) {
    r.c1 = big_endian(at, flags);
    r.c0 = big_endian(at + 48, false);
}

// The encodings of the contract: 0 zcash, 1 Montgomery, 2 zcash with an identity that may be zeros without its flag.
// Uncompressed points: of the flag bits (compressed, infinity, sign) only infinity may be set, and then nothing else.
template <typename Field>
DEV void convert(const u8 *bytes, u32 n, u32 encoding, u8 *points, Report *report) {
    typedef typename Field::F F;
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const u8 *from = bytes + (u64)i * (2 * Field::BYTES);
    u8 *to = points + (u64)i * (2 * Field::BYTES);
    F x, y;
    bool good;
    if (encoding == 1) {
        x = Field::load(from);
        y = Field::load(from + Field::BYTES);
        good = is_reduced(x) && is_reduced(y);
    } else {
        read_big_endian(from, true, x);
        read_big_endian(from + Field::BYTES, false, y);
        const u32 flags = from[0] >> 5;
        const bool nothing = is_zero(x) && is_zero(y);
        good = is_reduced(x) && is_reduced(y) && (flags == 0 ? !nothing || encoding == 2 : flags == 2 && nothing);
        x = to_montgomery(x);
        y = to_montgomery(y);
    }
    if (!good) {
        set_zero(x);
        set_zero(y);
        atomicMin(&report->malformed, i);
    }
    Field::store(to, x);
    Field::store(to + Field::BYTES, y);
}

#define FIXED_BITS 8
#define FIXED_WINDOWS 32

// table[w][d - 1] = d 2^(8 w) base, 0 < d < 256. One block of 255 threads a window.
template <typename Field>
DEV void fixed_table(const u8 *base, u8 *table) {
    typedef typename Field::F F;
    const u32 w = blockIdx.x, d = threadIdx.x + 1;
    Xyzz<F> window = {Field::load(base), Field::load(base + Field::BYTES), zero<F>(), zero<F>()};
    if (!(is_zero(window.x) && is_zero(window.y))) {
        set_one(window.zz);
        set_one(window.zzz);
    }
    for (u32 k = 0; k < w * FIXED_BITS; k++) window = dbl_point(window);
    Xyzz<F> acc = identity<F>();
    for (int bit = FIXED_BITS - 1; bit >= 0; bit--) {
        acc = dbl_point(acc);
        if (d >> bit & 1) add_point(acc, window);
    }
    Affine<F> p = {zero<F>(), zero<F>()};
    if (!is_identity(acc)) p = to_affine(acc, inverse(acc.zzz));
    u8 *to = table + (u64)(w * 255 + d - 1) * (2 * Field::BYTES);
    Field::store(to, p.x);
    Field::store(to + Field::BYTES, p.y);
}

// sums[i] = scalars[i] * base, in XYZZ form
template <typename Field>
DEV void fixed_multiply(const u8 *table, const Fr *scalars, u32 n, u8 *sums) {
    typedef typename Field::F F;
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Fr s = fr_to_canonical(load_fr(scalars + i));
    Xyzz<F> acc = identity<F>();
    for (u32 w = 0; w < FIXED_WINDOWS; w++) {
        const u32 d = s.v[0] & 255;
        UNROLL
        for (int j = 0; j < 7; j++) s.v[j] = __funnelshift_r(s.v[j], s.v[j + 1], 8);
        s.v[7] >>= 8;
        if (d == 0) continue;
        const u8 *at = table + (u64)(w * 255 + d - 1) * (2 * Field::BYTES);
        const F x = Field::load(at), y = Field::load(at + Field::BYTES);
        if (!(is_zero(x) && is_zero(y))) add_affine(acc, x, y);
    }
    store_point<Field>(sums, i, acc);
}

// sums to affine points by batch inversion: a thread has every `threads`-th; `prefix` has room for n coordinates.
template <typename Field>
DEV void normalise(const u8 *sums, u32 n, u32 threads, u8 *prefix, u8 *points) {
    typedef typename Field::F F;
    const u32 t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= threads || t >= n) return;
    F product;
    set_one(product);
    u32 last = t;
    for (u32 i = t; i < n; i += threads) {
        const F zzz = Field::load(sums + (u64)i * (4 * Field::BYTES) + 3 * Field::BYTES);
        Field::store(prefix + (u64)i * Field::BYTES, product);
        if (!is_zero(zzz)) product = mul(product, zzz);
        last = i;
    }
    product = inverse(product);
    for (u32 i = last;; i -= threads) {
        const Xyzz<F> p = load_point<Field>(sums, i);
        Affine<F> q = {zero<F>(), zero<F>()};
        if (!is_identity(p)) {
            q = to_affine(p, mul(product, Field::load(prefix + (u64)i * Field::BYTES)));
            product = mul(product, p.zzz);
        }
        u8 *to = points + (u64)i * (2 * Field::BYTES);
        Field::store(to, q.x);
        Field::store(to + Field::BYTES, q.y);
        if (i == t) break;
    }
}

#define KEY_KERNELS(Field, suffix) \
    KERNEL __launch_bounds__(128) check_##suffix(const u8 *points, u32 n, Report *report) { \
        check<Field>(points, n, report); \
    } \
    KERNEL __launch_bounds__(128) \
    convert_##suffix(const u8 *bytes, u32 n, u32 encoding, u8 *points, Report *report) { \
        convert<Field>(bytes, n, encoding, points, report); \
    } \
    KERNEL __launch_bounds__(256) fixed_table_##suffix(const u8 *base, u8 *table) { fixed_table<Field>(base, table); } \
    KERNEL __launch_bounds__(128) fixed_multiply_##suffix(const u8 *table, const Fr *scalars, u32 n, u8 *sums) { \
        fixed_multiply<Field>(table, scalars, n, sums); \
    } \
    KERNEL __launch_bounds__(128) \
    normalise_##suffix(const u8 *sums, u32 n, u32 threads, u8 *prefix, u8 *points) { \
        normalise<Field>(sums, n, threads, prefix, points); \
    }
