// Fp2 = Fp[u]/(u^2 + 1), twice: whole in one thread (Fp2), and split over two neighbouring lanes (Fp2Half: the even lane
// holds c0, the odd one c1). A whole point of G2 does not fit in the registers of a thread beside its temporaries, half of one does.
#pragma once
#include "field.cuh"

struct Fp2 {
    Fp c0, c1;
};

DEV Fp2 add(const Fp2 &a, const Fp2 &b) { return {add(a.c0, b.c0), add(a.c1, b.c1)}; }
DEV Fp2 sub(const Fp2 &a, const Fp2 &b) { return {sub(a.c0, b.c0), sub(a.c1, b.c1)}; }
DEV bool is_zero(const Fp2 &a) { return is_zero(a.c0) && is_zero(a.c1); }
DEV bool equal(const Fp2 &a, const Fp2 &b) { return equal(a.c0, b.c0) && equal(a.c1, b.c1); }
DEV bool is_reduced(const Fp2 &a) { return is_reduced(a.c0) && is_reduced(a.c1); }
DEV void set_zero(Fp2 &r) {
    set_zero(r.c0);
    set_zero(r.c1);
}
DEV void set_one(Fp2 &r) {
    set_one(r.c0);
    r.c1 = zero<Fp>();
}

// (a0 b0 - a1 b1) + (a0 b1 + a1 b0) u, one reduction each. Called, not inlined: four of these fill the instruction cache.
DEV_CALL Fp2 mul(Fp2 a, Fp2 b) {
    Fp2 r;
    r.c0 = mul_add(a.c0, b.c0, neg(a.c1), b.c1);
    r.c1 = mul_add(a.c0, b.c1, a.c1, b.c0);
    return r;
}
// (a0 + a1)(a0 - a1) + 2 a0 a1 u
DEV_CALL Fp2 sqr(Fp2 a) {
    Fp2 r;
    r.c0 = mul(add(a.c0, a.c1), sub(a.c0, a.c1));
    r.c1 = dbl(mul(a.c0, a.c1));
    return r;
}
DEV Fp2 mul_sub(const Fp2 &a, const Fp2 &b, const Fp2 &c, const Fp2 &d) { return sub(mul(a, b), mul(c, d)); }
DEV Fp2 conjugate(const Fp2 &a) { return {a.c0, neg(a.c1)}; }

// conj(a) / (a0^2 + a1^2)
DEV Fp2 inverse(const Fp2 &a) {
    Fp norm = inverse(mul_add(a.c0, a.c0, a.c1, a.c1));
    return {mul(a.c0, norm), mul(neg(a.c1), norm)};
}

#if defined(__CUDACC__)

struct Fp2Half {
    Fp c;
};

DEV u32 lane_id() { return threadIdx.x & 31; }
DEV bool is_odd_lane() { return threadIdx.x & 1; }
// The two lanes of a pair always run together, so they shuffle among themselves whatever the rest of the warp does.
DEV u32 pair_mask() { return 3u << (lane_id() & 30); }

DEV Fp partner(const Fp &a) {
    Fp r;
    const u32 mask = pair_mask();
    UNROLL
    for (int j = 0; j < 12; j++) r.v[j] = __shfl_xor_sync(mask, a.v[j], 1);
    return r;
}
DEV Fp select(bool first, const Fp &a, const Fp &b) {
    Fp r;
    UNROLL
    for (int j = 0; j < 12; j++) r.v[j] = first ? a.v[j] : b.v[j];
    return r;
}

DEV Fp2Half add(const Fp2Half &a, const Fp2Half &b) { return {add(a.c, b.c)}; }
DEV Fp2Half sub(const Fp2Half &a, const Fp2Half &b) { return {sub(a.c, b.c)}; }
DEV bool is_zero(const Fp2Half &a) {
    u32 mine = is_zero(a.c);
    return mine & __shfl_xor_sync(pair_mask(), mine, 1);
}
DEV void set_zero(Fp2Half &r) { set_zero(r.c); }
DEV void set_one(Fp2Half &r) {
    Fp one;
    set_one(one);
    r.c = select(is_odd_lane(), zero<Fp>(), one);
}

// Even lane: a0 b0 + (-a1) b1; odd lane: a1 b0 + a0 b1.
DEV_CALL Fp2Half mul(Fp2Half a, Fp2Half b) {
    const bool odd = is_odd_lane();
    Fp a_other = partner(a.c), b_other = partner(b.c);
    a_other = select(odd, a_other, neg(a_other));
    return {mul_add(a.c, select(odd, b_other, b.c), a_other, select(odd, b.c, b_other))};
}
// Even lane: (a0 + a1)(a0 - a1); odd lane: (a1 + a1) a0.
DEV_CALL Fp2Half sqr(Fp2Half a) {
    const bool odd = is_odd_lane();
    Fp other = partner(a.c);
    Fp sum = add(a.c, select(odd, a.c, other));
    Fp difference = select(odd, other, sub(a.c, other));
    return {mul(sum, difference)};
}
DEV Fp2Half mul_sub(const Fp2Half &a, const Fp2Half &b, const Fp2Half &c, const Fp2Half &d) {
    return sub(mul(a, b), mul(c, d));
}

#endif
