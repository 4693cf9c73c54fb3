// Small transforms, the bit-reversal permutation and the table of twiddles.
#include "ntt.cuh"

// Up to 2^10 points in one block, any orders.
KERNEL __launch_bounds__(512) ntt_small(Fr *data, u32 log_n, u32 inverse, u32 reversed_in, u32 reversed_out, Twiddles t,
                                        Factors before, Factors after) {
    __shared__ uint4 lows[1024], highs[1024];
    const u32 n = 1u << log_n;
    for (u32 p = threadIdx.x; p < n; p += blockDim.x) {
        const Fr x = apply(before, load_fr(data + p), p, log_n);
        const u32 at = reversed_in ? p : reverse_bits(p, log_n);
        lows[at] = low_half(x);
        highs[at] = high_half(x);
    }
    for (u32 x = 0; x < log_n; x++) {
        __syncthreads();
        const u32 h = 1u << x;
        for (u32 p = threadIdx.x; p < n / 2; p += blockDim.x) {
            const u32 i = p & (h - 1), at = (p >> x << (x + 1)) | i;
            Fr a = fr_from(lows[at], highs[at]), b = fr_from(lows[at + h], highs[at + h]);
            if (inverse) butterfly<true, true>(a, b, twiddle(t, x, i, true));
            else butterfly<true, false>(a, b, twiddle(t, x, i, false));
            lows[at] = low_half(a);
            highs[at] = high_half(a);
            lows[at + h] = low_half(b);
            highs[at + h] = high_half(b);
        }
    }
    __syncthreads();
    for (u32 p = threadIdx.x; p < n; p += blockDim.x) {
        const u32 at = reversed_out ? reverse_bits(p, log_n) : p;
        store_fr(data + p, apply(after, fr_from(lows[at], highs[at]), p, log_n));
    }
}

// The bit-reversal permutation in place, of at least 2^8 elements. An index is (a, m, b), a and b of 4 bits; it goes to (b', m', a'), primes for
// reversed. A block swaps the tiles of m and m'. 256 threads; grid: 2^(log_n - 8), half of which leave at once.
KERNEL __launch_bounds__(256) ntt_reverse(Fr *data, u32 log_n) {
    __shared__ uint4 tile[2][2][16 * 17];
    const u32 middle = log_n - 8, m = blockIdx.x, m_reversed = reverse_bits(m, middle);
    if (m > m_reversed) return;
    const u32 a = threadIdx.x >> 4, b = threadIdx.x & 15;
    const u64 row = (u64)a << (log_n - 4);
    Fr *first = data + row + ((u64)m << 4) + b, *second = data + row + ((u64)m_reversed << 4) + b;
    const u32 into = reverse_bits(b, 4) * 17 + reverse_bits(a, 4), from = a * 17 + b;
    const Fr x = load_fr(first), y = load_fr(second);
    tile[0][0][into] = low_half(x);
    tile[0][1][into] = high_half(x);
    tile[1][0][into] = low_half(y);
    tile[1][1][into] = high_half(y);
    __syncthreads();
    store_fr(second, fr_from(tile[0][0][from], tile[0][1][from]));
    if (m != m_reversed) store_fr(first, fr_from(tile[1][0][from], tile[1][1][from]));
}

// Stages 0 .. log_table - 1; `root` is a primitive 2^log_table-th root of unity.
KERNEL ntt_twiddles(Fr *table, u32 log_table, Squares root) {
    const u64 n = stage_offset(log_table);
    for (u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x; at < n; at += (u64)gridDim.x * blockDim.x) {
        u32 x = 63 - __clzll(at + 1); // 2^x - 1 + x <= at, x at most one too big
        if (stage_offset(x) > at) x--;
        store_fr(table + at, power_of(root, (at - stage_offset(x)) << (log_table - 1 - x), fr_one()));
    }
}
