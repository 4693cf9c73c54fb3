// Factors of a vector's elements: constants and powers.
#pragma once
#include "io.cuh"

// What each element is multiplied with on the way in or out: nothing, a constant, or first * g^j for its natural index j.
struct Factors {
    u32 mode;     // 0: none, 1: constant, 2: high[j >> bits] * low[j mod 2^bits], 3: low[j]
    u32 bits;
    u32 reversed; // positions are bit-reversed indices
    const Fr *low, *high;
    FrParam constant;
};

DEV u32 reverse_bits(u32 i, u32 bits) { return bits ? __brev(i) >> (32 - bits) : 0; }

// Called, not inlined: it stands in unrolled loops.
DEV_CALL Fr apply_called(const Factors &f, Fr value, u32 position, u32 log_n) {
    if (f.mode == 1) return mul(value, f.constant.get());
    const u32 j = f.reversed ? reverse_bits(position, log_n) : position;
    if (f.mode == 3) return mul(value, load_fr_table(f.low + j));
    return mul(value, mul(load_fr_table(f.high + (j >> f.bits)), load_fr_table(f.low + (j & ((1u << f.bits) - 1)))));
}

DEV Fr apply(const Factors &f, const Fr &value, u32 position, u32 log_n) {
    return f.mode == 0 ? value : apply_called(f, value, position, log_n);
}

DEV Fr power_of(const Squares &squares, u64 e, Fr r) {
    for (u32 k = 0; e; k++, e >>= 1) {
        if (e & 1) r = mul(r, squares.of[k].get());
    }
    return r;
}
