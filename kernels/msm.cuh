// Second half of an MSM: sums of the buckets from sorted pairs, and the windows' sums from the buckets.
//
// Accumulation gives every unit the same number of consecutive pairs, wherever buckets begin and end. The sum of a bucket
// that lies inside a unit's range is stored at once; those of the first and the last bucket of the range become two
// "slots", a sorted list of partial sums which is merged in the same way, level by level, until one unit is left.
// So one bucket that holds everything costs as much as buckets of equal size.
//
// Buckets persist over several ranges of bases: whoever adds a bucket's first pair of a range begins with its old value.
#pragma once
#include "points.cuh"

template <typename Field>
struct MsmKernels {
    typedef typename Field::F F;
    typedef Xyzz<F> Point;

    static DEV u32 unit() { return (blockIdx.x * blockDim.x + threadIdx.x) / Field::LANES; }

    static DEV void put_slot(u32 *keys, u8 *slots, u32 i, u32 key, const Point &p) {
        keys[i] = key;
        store_point<Field>(slots, i, p);
    }

    // Pairs of this unit: K = max(shortest, ceil(total / units)) from unit * K on. slot_count[0] becomes the number of slots.
    static DEV void accumulate(const u64 *pairs, const u32 *total, u32 shortest, u32 units, const u8 *bases, u8 *buckets,
                               u32 *keys, u8 *slots, u32 *slot_count) {
        const u32 n = *total, length = max(shortest, (n + units - 1) / units);
        const u32 used = (n + length - 1) / length, u = unit();
        if (u == 0 && threadIdx.x == 0) *slot_count = 2 * used;
        if (u >= used) return;
        u32 i = u * length;
        const u32 until = min(i + length, n);
        u64 pair = pairs[i];
        u32 key = pair >> 32;
        bool first = true;
        Point acc = identity<F>();
        if (i == 0 || (u32)(pairs[i - 1] >> 32) != key) acc = load_point<Field>(buckets, key);
        while (true) {
            const u8 *base = bases + (u64)((u32)pair & 0x7fffffffu) * (2 * Field::BYTES);
            const F x = Field::load(base);
            F y = Field::load(base + Field::BYTES);
            const bool nothing = is_zero(x) && is_zero(y);
            if ((u32)pair >> 31) y = sub(zero<F>(), y);
            i++;
            if (i < until) pair = pairs[i];
            if (!nothing) add_affine(acc, x, y);
            if (i == until) break;
            if ((u32)(pair >> 32) != key) {
                if (first) put_slot(keys, slots, 2 * u, key, acc);
                else store_point<Field>(buckets, key, acc);
                first = false;
                key = pair >> 32;
                acc = load_point<Field>(buckets, key);
            }
        }
        if (first) {
            put_slot(keys, slots, 2 * u, key, acc);
            acc = identity<F>();
        }
        put_slot(keys, slots, 2 * u + 1, key, acc);
    }

    // The same for slots, `length` a unit; the unit that has them all stores to the buckets.
    static DEV void merge_serial(const u32 *keys, const u8 *slots, const u32 *count, u32 length, u8 *buckets, u32 *out_keys,
                                 u8 *out_slots, u32 *out_count) {
        const u32 n = *count, used = (n + length - 1) / length, u = unit();
        const bool last_level = used <= 1;
        if (u == 0 && threadIdx.x == 0) *out_count = last_level ? 0 : 2 * used;
        if (u >= used) return;
        u32 i = u * length;
        const u32 until = min(i + length, n);
        u32 key = keys[i];
        Point acc = load_point<Field>(slots, i);
        bool first = !last_level;
        for (i++; i < until; i++) {
            const u32 next = keys[i];
            Point p = load_point<Field>(slots, i);
            if (next != key) {
                if (first) put_slot(out_keys, out_slots, 2 * u, key, acc);
                else store_point<Field>(buckets, key, acc);
                first = false;
                key = next;
                acc = p;
            } else {
                add_point(acc, p);
            }
        }
        if (last_level) {
            store_point<Field>(buckets, key, acc);
            return;
        }
        if (first) {
            put_slot(out_keys, out_slots, 2 * u, key, acc);
            acc = identity<F>();
        }
        put_slot(out_keys, out_slots, 2 * u + 1, key, acc);
    }

    // The same with one slot a unit and a warp in place of a unit: a segmented sum over the lanes in five (G2: four) steps.
    static DEV void merge_warp(const u32 *keys, const u8 *slots, const u32 *count, u8 *buckets, u32 *out_keys,
                               u8 *out_slots, u32 *out_count) {
        constexpr u32 UNITS = 32 / Field::LANES, NONE = 0xffffffffu;
        const u32 n = *count, used = (n + UNITS - 1) / UNITS, i = unit(), warp = i / UNITS, at = i % UNITS;
        const bool last_level = used <= 1;
        if (i == 0 && threadIdx.x == 0) *out_count = last_level ? 0 : 2 * used;
        if (warp >= used) return; // whole warps
        const u32 key = i < n ? keys[i] : NONE;
        Point acc = identity<F>();
        if (i < n) acc = load_point<Field>(slots, i);
        for (u32 d = 1; d < UNITS; d *= 2) {
            Point other = point_down<Field>(acc, d);
            const u32 other_key = __shfl_down_sync(0xffffffffu, key, d * Field::LANES);
            if (at + d < UNITS && other_key == key && key != NONE) add_point(acc, other);
        }
        const u32 below = __shfl_up_sync(0xffffffffu, key, Field::LANES);
        const u32 final_key = __shfl_sync(0xffffffffu, key, (min(n - warp * UNITS, UNITS) - 1) * Field::LANES);
        const bool head = at == 0 || below != key;
        if (key == NONE || !head) return;
        if (last_level) {
            store_point<Field>(buckets, key, acc);
        } else if (at == 0) {
            put_slot(out_keys, out_slots, 2 * warp, key, acc);
            if (final_key == key) put_slot(out_keys, out_slots, 2 * warp + 1, key, identity<F>());
        } else if (key == final_key) {
            put_slot(out_keys, out_slots, 2 * warp + 1, key, acc);
        } else {
            store_point<Field>(buckets, key, acc);
        }
    }

    // One step of the weighted sums: with k = h 2^lo + l, sum of k X_k = 2^lo sum of h R_h + sum of l C_l for the row sums R and the column sums
    // C. Every list of 2^(hi + lo) points becomes two of 2^hi, R then C (filled up with identities), lo = hi or hi - 1.
    // 2^split neighbouring units share an output. Grid: lists * 2 * 2^hi * 2^split units, exactly or more.
    static DEV void halve(const u8 *in, u32 lists, u32 hi, u32 lo, u32 split, u8 *out) {
        const u32 i = unit(), output = i >> split, part = i & ((1u << split) - 1);
        const u32 list = output >> (hi + 1), column = output >> hi & 1, index = output & ((1u << hi) - 1);
        Point acc = identity<F>();
        if (list < lists && !(column && index >> lo)) {
            const u32 count = column ? 1u << hi : 1u << lo, step = column ? 1u << lo : 1;
            const u64 base = ((u64)list << (hi + lo)) + (column ? index : index << lo);
            for (u32 k = part; k < count; k += 1u << split) add_point(acc, load_point<Field>(in, base + (u64)k * step));
        }
        for (u32 d = 1u << split >> 1; d > 0; d >>= 1) {
            Point other = point_down<Field>(acc, d);
            if (part < d) add_point(acc, other);
        }
        if (part == 0 && list < lists) store_point<Field>(out, output, acc);
    }

    // The end: sum of k X_k of each list of 2 or 4 points, then the plain sums of every `stride`-th list (one a window: all its buckets).
    static DEV void finish(const u8 *in, u32 lists, u32 bits, u32 stride, u8 *out) {
        const u32 list = unit();
        if (list >= lists) return;
        Point run = identity<F>(), weighted = identity<F>();
        for (u32 k = (1u << bits) - 1; k > 0; k--) {
            add_point(run, load_point<Field>(in, ((u64)list << bits) + k));
            add_point(weighted, run);
        }
        store_point<Field>(out, list, weighted);
        if (list % stride) return;
        add_point(run, load_point<Field>(in, (u64)list << bits));
        store_point<Field>(out, lists + list / stride, run);
    }
};

#define MSM_THREADS 128

#define MSM_KERNELS(Field, suffix, blocks) \
    KERNEL __launch_bounds__(MSM_THREADS, blocks) \
    msm_accumulate_##suffix(const u64 *pairs, const u32 *total, u32 shortest, u32 units, const u8 *bases, u8 *buckets, \
                            u32 *keys, u8 *slots, u32 *slot_count) { \
        MsmKernels<Field>::accumulate(pairs, total, shortest, units, bases, buckets, keys, slots, slot_count); \
    } \
    KERNEL __launch_bounds__(MSM_THREADS, 2) \
    msm_merge_serial_##suffix(const u32 *keys, const u8 *slots, const u32 *count, u32 length, u8 *buckets, \
                              u32 *out_keys, u8 *out_slots, u32 *out_count) { \
        MsmKernels<Field>::merge_serial(keys, slots, count, length, buckets, out_keys, out_slots, out_count); \
    } \
    KERNEL __launch_bounds__(MSM_THREADS, 2) \
    msm_merge_warp_##suffix(const u32 *keys, const u8 *slots, const u32 *count, u8 *buckets, u32 *out_keys, \
                            u8 *out_slots, u32 *out_count) { \
        MsmKernels<Field>::merge_warp(keys, slots, count, buckets, out_keys, out_slots, out_count); \
    } \
    KERNEL __launch_bounds__(MSM_THREADS, 2) \
    msm_halve_##suffix(const u8 *in, u32 lists, u32 hi, u32 lo, u32 split, u8 *out) { \
        MsmKernels<Field>::halve(in, lists, hi, lo, split, out); \
    } \
    KERNEL __launch_bounds__(MSM_THREADS, 2) \
    msm_finish_##suffix(const u8 *in, u32 lists, u32 bits, u32 stride, u8 *out) { \
        MsmKernels<Field>::finish(in, lists, bits, stride, out); \
    }
