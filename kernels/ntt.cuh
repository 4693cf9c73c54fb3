// Number-theoretic transforms over Fr.
//
// Natural to bit-reversed by decimation in frequency (from the top bit of the index down), bit-reversed to natural by decimation in time
// (from the bottom up); the other orders add a permutation. A transform of 2^L points is cut into passes of k bits of the
// index. A block takes the 2^k elements whose indices differ in these bits, for 2 or 4 neighbouring indices at once (64 or 128 contiguous
// bytes), holds 4 elements a thread in registers, does two stages on them and exchanges them through shared memory for the next two. (With 8
// elements and three stages there are fewer exchanges, but the code is larger than the instruction cache, which costs more.)
//
// Twiddles come from a table of every stage, so no factors between passes are needed: half a multiplication an element and stage.
// Stage x joins elements 2^x apart and takes w^i, i <= 2^x, w a primitive 2^(x+1)-th root. The entry i = 2^x is -1: so the inverse
// uses the same table, as w^-i = -w^(2^x - i).
//
// The coset of a primitive 2n-th root g costs nothing: where in time a + w^i b stands, a + g^(n / 2^(x+1)) w^i b is wanted, and that
// root times w^i is v^(2i + 1) with v^2 = w, an entry of the next stage's table. The same holds in frequency for the inverse.
#pragma once
#include "factors.cuh"

struct Twiddles {
    const Fr *table; // stage x from 2^x - 1 + x on
    const Fr *fine;  // for stages the table does not reach: w^j, j < 2^s, from 2^s - 2 on; s = x + 1 - log_table
    u32 log_table;
    u32 odd; // on the coset of a primitive 2n-th root
};

DEV u64 stage_offset(u32 x) { return ((u64)1 << x) - 1 + x; }

// Beyond the table: a coarse power times a fine one. Called, not inlined, as only the first stages of the largest transforms need it.
DEV_CALL Fr far_twiddle(const Twiddles &t, u32 x, u32 i) {
    const u32 s = x + 1 - t.log_table;
    const Fr coarse = load_fr_table(t.table + stage_offset(t.log_table - 1) + (i >> s));
    return mul(coarse, load_fr_table(t.fine + (1u << s) - 2 + (i & ((1u << s) - 1))));
}
// Entry i of stage x, or with `inverse` minus its inverse.
DEV Fr twiddle(const Twiddles &t, u32 x, u32 i, bool inverse) {
    x += t.odd;
    i = t.odd ? 2 * i + 1 : i;
    if (inverse) i = (1u << x) - i;
    return x < t.log_table ? load_fr_table(t.table + stage_offset(x) + i) : far_twiddle(t, x, i);
}

// One butterfly. In time: (a, b) = (a + w b, a - w b); in frequency: (a, b) = (a + b, w (a - b)). Inverse with w' = -w.
template <bool TIME, bool INVERSE>
DEV void butterfly(Fr &a, Fr &b, const Fr &w) {
    if (TIME) {
        const Fr t = mul(b, w), plus = add(a, t), minus = sub(a, t);
        a = INVERSE ? minus : plus;
        b = INVERSE ? plus : minus;
    } else {
        const Fr d = INVERSE ? sub(b, a) : sub(a, b);
        a = add(a, b);
        b = mul(d, w);
    }
}
DEV void butterfly_one(Fr &a, Fr &b) {
    const Fr sum = add(a, b);
    b = sub(a, b);
    a = sum;
}

// Stage `x` on bit J of the positions in a thread. `low`: index bits below the thread's. With BASE, low = 0 and the twiddles of position 0 are 1.
template <bool TIME, bool INVERSE, bool BASE, int J>
DEV void stage(Fr *v, const Twiddles &t, u32 x, u32 low, u32 shift) {
    UNROLL
    for (int k = 0; k < (1 << J); k++) {
        if (BASE && k == 0 && !t.odd) {
            UNROLL
            for (int u = 0; u < 4; u += 2 << J) butterfly_one(v[u], v[u + (1 << J)]);
            continue;
        }
        const Fr w = twiddle(t, x, low | (u32)k << shift, INVERSE);
        UNROLL
        for (int u = k; u < 4; u += 2 << J) butterfly<TIME, INVERSE>(v[u], v[u + (1 << J)], w);
    }
}

// Both stages, or with `single` that of the lower bit alone.
template <bool TIME, bool INVERSE, bool BASE>
DEV void stages(Fr *v, const Twiddles &t, bool single, u32 low, u32 shift) {
    if (TIME) {
        stage<TIME, INVERSE, BASE, 0>(v, t, shift, low, shift);
        if (!single) stage<TIME, INVERSE, BASE, 1>(v, t, shift + 1, low, shift);
    } else {
        if (!single) stage<TIME, INVERSE, BASE, 1>(v, t, shift + 1, low, shift);
        stage<TIME, INVERSE, BASE, 0>(v, t, shift, low, shift);
    }
}

// A block's elements: local index e of k + c bits. With d > 0 the c low bits of e are those of the index and the others its bits
// d .. d + k; with d = 0, e is the k + c low bits.
struct Tile {
    u32 d, k, c, block;
    __device__ __forceinline__ u32 row_bit() const { return d ? c : 0; }
    __device__ __forceinline__ u32 index(u32 e) const {
        if (d == 0) return block << (k + c) | e;
        const u32 middle = block & ((1u << (d - c)) - 1), high = (u32)((u64)(block >> (d - c)) << (d + k));
        return high | (e >> c) << d | middle << c | (e & ((1u << c) - 1));
    }
};

// A place in shared memory. Whichever two bits a thread's elements differ in, the places of eight neighbouring threads differ in their three low
// bits, that is in their banks: (bits 0, 1, 2), (2, 3, 4), (0, 3, 4) and (0, 1, 4) of e are all independent in those.
DEV u32 place(u32 e) { return e ^ (e >> 3 & 1) * 3 ^ (e >> 4 & 1) * 6; }

// The position of a thread's first element, whose bits `bit` and `bit + 1` are zero.
DEV u32 first_of(u32 thread, u32 bit) { return thread >> bit << (bit + 2) | (thread & ((1u << bit) - 1)); }

template <bool TIME, bool INVERSE>
DEV void ntt_pass(Fr *data, u32 log_n, u32 d, u32 k, u32 c, const Twiddles &t, const Factors &before, const Factors &after) {
    extern __shared__ uint4 exchange[];
    uint4 *lows = exchange, *highs = exchange + (1u << (k + c));
    const Tile tile = {d, k, c, blockIdx.x};
    const u32 thread = threadIdx.x, rb = tile.row_bit(), odd = k & 1, rounds = (k + odd) / 2;
    Fr v[4];
    u32 bit = 0;
    // Rounds on two bits each; one on a single bit, if k is odd, is the lowest: last in frequency, first in time.
    for (u32 step = 0; step < rounds; step++) {
        const u32 round = TIME ? step : rounds - 1 - step;
        const bool single = round == 0 && odd;
        const u32 next = rb + (round == 0 ? 0 : 2 * round - odd), e0 = first_of(thread, next);
        if (step == 0 && next != 0) {
            UNROLL
            for (int u = 0; u < 4; u++) {
                const u32 g = tile.index(e0 | (u32)u << next);
                v[u] = apply(before, load_fr(data + g), g, log_n);
            }
        } else {
            if (step == 0) { // on bit 0 neighbouring threads would read far apart
                UNROLL
                for (int u = 0; u < 4; u++) {
                    const u32 e = thread + u * blockDim.x, g = tile.index(e);
                    const Fr x = apply(before, load_fr(data + g), g, log_n);
                    lows[place(e)] = low_half(x);
                    highs[place(e)] = high_half(x);
                }
            } else {
                const u32 p0 = first_of(thread, bit);
                __syncthreads();
                UNROLL
                for (int u = 0; u < 4; u++) {
                    const u32 at = place(p0 | (u32)u << bit);
                    lows[at] = low_half(v[u]);
                    highs[at] = high_half(v[u]);
                }
            }
            __syncthreads();
            UNROLL
            for (int u = 0; u < 4; u++) {
                const u32 at = place(e0 | (u32)u << next);
                v[u] = fr_from(lows[at], highs[at]);
            }
        }
        bit = next;
        const u32 shift = d + next - rb, low = tile.index(e0) & ((1u << shift) - 1);
        if (shift == 0) stages<TIME, INVERSE, true>(v, t, single, 0, 0);
        else stages<TIME, INVERSE, false>(v, t, single, low, shift);
    }
    const u32 e0 = first_of(thread, bit);
    if (bit != 0) {
        UNROLL
        for (int u = 0; u < 4; u++) {
            const u32 g = tile.index(e0 | (u32)u << bit);
            store_fr(data + g, apply(after, v[u], g, log_n));
        }
        return;
    }
    __syncthreads();
    UNROLL
    for (int u = 0; u < 4; u++) {
        const u32 at = place(e0 | (u32)u);
        lows[at] = low_half(v[u]);
        highs[at] = high_half(v[u]);
    }
    __syncthreads();
    UNROLL
    for (int u = 0; u < 4; u++) {
        const u32 e = thread + u * blockDim.x, g = tile.index(e);
        store_fr(data + g, apply(after, fr_from(lows[place(e)], highs[place(e)]), g, log_n));
    }
}

#define NTT_PASS(name, time, inverse) \
    KERNEL __launch_bounds__(256, 3) \
    name(Fr *data, u32 log_n, u32 d, u32 k, u32 c, Twiddles t, Factors before, Factors after) { \
        ntt_pass<time, inverse>(data, log_n, d, k, c, t, before, after); \
    }
