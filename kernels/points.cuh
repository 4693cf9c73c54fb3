// Points in memory, and how a coordinate field is spread over lanes.
//
// A `Field` names a coordinate field as kernels hold it (`F`), how many neighbouring lanes share a value (`LANES`), and how values
// of it are read, written and moved between lanes. A point is worked on by a "unit": LANES threads.
#pragma once
#include "curve.cuh"

DEV Fp load_fp(const void *at) {
    Fp r;
    const uint4 *words = (const uint4 *)at;
    UNROLL
    for (int i = 0; i < 3; i++) {
        const uint4 word = words[i];
        r.v[4 * i] = word.x;
        r.v[4 * i + 1] = word.y;
        r.v[4 * i + 2] = word.z;
        r.v[4 * i + 3] = word.w;
    }
    return r;
}
DEV void store_fp(void *at, const Fp &a) {
    uint4 *words = (uint4 *)at;
    UNROLL
    for (int i = 0; i < 3; i++) words[i] = make_uint4(a.v[4 * i], a.v[4 * i + 1], a.v[4 * i + 2], a.v[4 * i + 3]);
}
DEV Fp shuffle_down(const Fp &a, u32 lanes) {
    Fp r;
    UNROLL
    for (int i = 0; i < 12; i++) r.v[i] = __shfl_down_sync(0xffffffffu, a.v[i], lanes);
    return r;
}

// G1: one lane a point.
struct FieldG1 {
    typedef Fp F;
    static constexpr u32 LANES = 1, BYTES = 48;
    static __device__ __forceinline__ F load(const u8 *at) { return load_fp(at); }
    static __device__ __forceinline__ void store(u8 *at, const F &a) { store_fp(at, a); }
    static __device__ __forceinline__ F down(const F &a, u32 units) { return shuffle_down(a, units); }
};
// G1 with called multiplications: the loop of an accumulation fits in the instruction cache.
struct FpCalled {
    Fp c;
};
DEV FpCalled add(const FpCalled &a, const FpCalled &b) { return {add(a.c, b.c)}; }
DEV FpCalled sub(const FpCalled &a, const FpCalled &b) { return {sub(a.c, b.c)}; }
DEV bool is_zero(const FpCalled &a) { return is_zero(a.c); }
DEV void set_zero(FpCalled &a) { set_zero(a.c); }
DEV void set_one(FpCalled &a) { set_one(a.c); }
DEV_CALL FpCalled mul(FpCalled a, FpCalled b) { return {mul(a.c, b.c)}; }
DEV_CALL FpCalled sqr(FpCalled a) { return {sqr(a.c)}; }
DEV_CALL FpCalled mul_sub(FpCalled a, FpCalled b, FpCalled c, FpCalled d) { return {mul_sub(a.c, b.c, c.c, d.c)}; }
struct FieldG1Called {
    typedef FpCalled F;
    static constexpr u32 LANES = 1, BYTES = 48;
    static __device__ __forceinline__ F load(const u8 *at) { return {load_fp(at)}; }
    static __device__ __forceinline__ void store(u8 *at, const F &a) { store_fp(at, a.c); }
    static __device__ __forceinline__ F down(const F &a, u32 units) { return {shuffle_down(a.c, units)}; }
};
// G2: two lanes a point.
struct FieldG2 {
    typedef Fp2Half F;
    static constexpr u32 LANES = 2, BYTES = 96;
    static __device__ __forceinline__ F load(const u8 *at) { return {load_fp(at + 48 * is_odd_lane())}; }
    static __device__ __forceinline__ void store(u8 *at, const F &a) { store_fp(at + 48 * is_odd_lane(), a.c); }
    static __device__ __forceinline__ F down(const F &a, u32 units) { return {shuffle_down(a.c, 2 * units)}; }
};

template <typename Field>
DEV Xyzz<typename Field::F> load_point(const u8 *points, u64 i) {
    const u8 *at = points + i * (4 * Field::BYTES);
    return {Field::load(at), Field::load(at + Field::BYTES), Field::load(at + 2 * Field::BYTES),
            Field::load(at + 3 * Field::BYTES)};
}
template <typename Field>
DEV void store_point(u8 *points, u64 i, const Xyzz<typename Field::F> &p) {
    u8 *at = points + i * (4 * Field::BYTES);
    Field::store(at, p.x);
    Field::store(at + Field::BYTES, p.y);
    Field::store(at + 2 * Field::BYTES, p.zz);
    Field::store(at + 3 * Field::BYTES, p.zzz);
}
// The point `units` units further up in the warp; all lanes take part.
template <typename Field>
DEV Xyzz<typename Field::F> point_down(const Xyzz<typename Field::F> &p, u32 units) {
    return {Field::down(p.x, units), Field::down(p.y, units), Field::down(p.zz, units), Field::down(p.zzz, units)};
}
