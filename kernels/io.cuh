// Scalars in memory: 32 bytes as two 16-byte words.
#pragma once
#include "field.cuh"

DEV Fr fr_from(const uint4 &a, const uint4 &b) { return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}}; }
DEV uint4 low_half(const Fr &a) { return make_uint4(a.v[0], a.v[1], a.v[2], a.v[3]); }
DEV uint4 high_half(const Fr &a) { return make_uint4(a.v[4], a.v[5], a.v[6], a.v[7]); }

DEV Fr load_fr(const Fr *at) {
    const uint4 *words = (const uint4 *)at;
    return fr_from(words[0], words[1]);
}
// Through the read-only cache: tables.
DEV Fr load_fr_table(const Fr *at) {
    const uint4 *words = (const uint4 *)at;
    return fr_from(__ldg(words), __ldg(words + 1));
}
DEV void store_fr(Fr *at, const Fr &a) {
    uint4 *words = (uint4 *)at;
    words[0] = low_half(a);
    words[1] = high_half(a);
}
// A scalar kernel parameter lies in constant memory; this moves it to registers.
struct FrParam {
    u32 v[8];
    __device__ __forceinline__ Fr get() const { return {{v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]}}; }
};
// base^(2^k) for k < 32
struct Squares {
    FrParam of[32];
};
