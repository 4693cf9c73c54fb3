// First half of an MSM: scalars to signed digits, and the (bucket, base) pairs sorted by bucket.
//
// A scalar s > r/2 is taken as -(r - s), so that |s| < 2^254 and its digits, of c bits in -2^(c-1)+1 .. 2^(c-1), never carry out
// of the last window (windows * c >= 255). Digit d of window w goes to bucket w 2^(c-1) + |d| - 1; zeros vanish here.
// The sort is a counting sort in two steps, by the high bits of the bucket (a "bin") and within a bin by the low bits. Work is split
// by number of pairs, never by bin, so that it does not matter how the scalars are distributed.
#include "field.cuh"

// |digit| of each window, bit 31 its sign; window w at digits[w * m ..]. `bins` counts the pairs of each bin.
// A scalar that `select` would take from beyond the end counts as zero.
KERNEL msm_digits(const Fr *scalars, const u32 *select, u64 n_scalars, const u8 *classes, u32 montgomery, u32 first,
                  u32 m, u32 c, u32 windows, u32 high_bits, u32 *digits, u32 *bins) {
    extern __shared__ u32 histogram[];
    const u32 n_bins = windows << high_bits, low_bits = c - 1 - high_bits;
    for (u32 i = threadIdx.x; i < n_bins; i += blockDim.x) histogram[i] = 0;
    __syncthreads();
    for (u32 j = blockIdx.x * blockDim.x + threadIdx.x; j < m; j += gridDim.x * blockDim.x) {
        const u32 source = select ? select[first + j] : first + j;
        const u32 kind = source >= n_scalars ? 0 : classes ? classes[source] : 3;
        Fr s = zero<Fr>();
        if (kind == 1) {
            s.v[0] = 1;
        } else if (kind != 0) {
            s = scalars[source];
            if (montgomery) s = fr_to_canonical(s);
        }
        // (r - 1) / 2 < s: then r - s.
        Fr opposite = neg(s);
        u32 flip = 0, decided = 0;
        UNROLL
        for (int i = 7; i >= 0; i--) {
            if (!decided && s.v[i] != opposite.v[i]) {
                flip = s.v[i] > opposite.v[i];
                decided = 1;
            }
        }
        if (flip) s = opposite;
        const u32 mask = (1u << c) - 1, half = 1u << (c - 1);
        u32 carry = 0;
        for (u32 w = 0; w < windows; w++) {
            u32 d = (s.v[0] & mask) + carry, sign = flip;
            carry = d > half;
            if (carry) {
                d = (1u << c) - d;
                sign ^= 1;
            }
            digits[(u64)w * m + j] = d ? d | sign << 31 : 0;
            if (d) atomicAdd(&histogram[(w << high_bits) + ((d - 1) >> low_bits)], 1);
            UNROLL
            for (int i = 0; i < 7; i++) s.v[i] = __funnelshift_r(s.v[i], s.v[i + 1], c);
            s.v[7] >>= c;
        }
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < n_bins; i += blockDim.x) {
        if (histogram[i]) atomicAdd(&bins[i], histogram[i]);
    }
}

// Exclusive prefix sum of one value per thread over a block of 1024; `total` is the sum.
DEV u32 block_scan(u32 value, u32 *shared, u32 &total) {
    const u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    u32 sum = value;
    for (u32 d = 1; d < 32; d *= 2) {
        u32 below = __shfl_up_sync(0xffffffffu, sum, d);
        if (lane >= d) sum += below;
    }
    if (lane == 31) shared[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        u32 s = lane < (blockDim.x >> 5) ? shared[lane] : 0;
        for (u32 d = 1; d < 32; d *= 2) {
            u32 below = __shfl_up_sync(0xffffffffu, s, d);
            if (lane >= d) s += below;
        }
        shared[lane] = s;
    }
    __syncthreads();
    total = shared[31];
    u32 before = (warp ? shared[warp - 1] : 0) + sum - value;
    __syncthreads();
    return before;
}

// From the bins' counts: where each begins, twice (`cursor` is consumed), and the first of its chunks. One block of 1024.
KERNEL msm_scan_bins(const u32 *bins, u32 n_bins, u32 chunk, u32 *start, u32 *cursor, u32 *chunk_start) {
    __shared__ u32 shared[32];
    u32 pairs = 0, chunks = 0;
    for (u32 base = 0; base < n_bins; base += blockDim.x) {
        const u32 i = base + threadIdx.x, count = i < n_bins ? bins[i] : 0;
        u32 total_pairs, total_chunks;
        u32 at = block_scan(count, shared, total_pairs) + pairs;
        u32 chunk_at = block_scan((count + chunk - 1) / chunk, shared, total_chunks) + chunks;
        if (i < n_bins) {
            start[i] = cursor[i] = at;
            chunk_start[i] = chunk_at;
        }
        pairs += total_pairs;
        chunks += total_chunks;
    }
    if (threadIdx.x == 0) {
        start[n_bins] = pairs;
        chunk_start[n_bins] = chunks;
    }
}

#define TILE 4096
#define TILE_THREADS 256

// A pair: base index and sign in the low word, bucket in the high one.
// Digits to pairs, grouped by bin: a tile is grouped in shared memory first, so that it leaves in runs. Grid: (tiles, windows).
KERNEL msm_partition(const u32 *digits, u32 m, u32 c, u32 high_bits, u32 *cursor, u64 *pairs) {
    __shared__ u64 staged[TILE];
    __shared__ u32 counts[256], local_start[256], global_start[256], scratch[32];
    const u32 w = blockIdx.y, base = blockIdx.x * TILE, low_bits = c - 1 - high_bits;
    const u32 t = threadIdx.x;
    counts[t] = 0;
    __syncthreads();
    u32 digit[TILE / TILE_THREADS], rank[TILE / TILE_THREADS];
    UNROLL
    for (int k = 0; k < TILE / TILE_THREADS; k++) {
        const u32 j = base + k * TILE_THREADS + t;
        digit[k] = j < m ? digits[(u64)w * m + j] : 0;
        if (digit[k]) rank[k] = atomicAdd(&counts[((digit[k] & 0x7fffffffu) - 1) >> low_bits], 1);
    }
    __syncthreads();
    u32 total;
    const u32 count = counts[t];
    local_start[t] = block_scan(count, scratch, total);
    if (count) global_start[t] = atomicAdd(&cursor[(w << high_bits) + t], count);
    __syncthreads();
    UNROLL
    for (int k = 0; k < TILE / TILE_THREADS; k++) {
        if (!digit[k]) continue;
        const u32 j = base + k * TILE_THREADS + t, d = (digit[k] & 0x7fffffffu) - 1;
        const u32 bucket = (w << (c - 1)) + d;
        staged[local_start[d >> low_bits] + rank[k]] = (u64)bucket << 32 | (digit[k] & 0x80000000u) | j;
    }
    __syncthreads();
    for (u32 i = t; i < total; i += TILE_THREADS) {
        const u64 pair = staged[i];
        const u32 bin = ((u32)(pair >> 32) >> low_bits) & ((1u << high_bits) - 1);
        pairs[global_start[bin] + i - local_start[bin]] = pair;
    }
}

// The bin and the range of pairs of this block's chunk; false for a block past the last.
DEV bool find_chunk(const u32 *start, const u32 *chunk_start, u32 n_bins, u32 chunk, u32 &bin, u32 &from, u32 &until) {
    if (blockIdx.x >= chunk_start[n_bins]) return false;
    u32 low = 0, high = n_bins; // the last bin with chunk_start[bin] <= block
    while (high - low > 1) {
        const u32 middle = (low + high) / 2;
        if (chunk_start[middle] <= blockIdx.x) low = middle;
        else high = middle;
    }
    bin = low;
    from = start[bin] + (blockIdx.x - chunk_start[bin]) * chunk;
    until = min(from + chunk, start[bin + 1]);
    return true;
}

// Number of pairs of each bucket. Grid: an upper bound of the number of chunks.
KERNEL msm_count(const u64 *pairs, const u32 *start, const u32 *chunk_start, u32 n_bins, u32 chunk, u32 low_bits,
                 u32 *counts) {
    extern __shared__ u32 histogram[];
    u32 bin, from, until;
    if (!find_chunk(start, chunk_start, n_bins, chunk, bin, from, until)) return;
    const u32 size = 1u << low_bits;
    for (u32 i = threadIdx.x; i < size; i += blockDim.x) histogram[i] = 0;
    __syncthreads();
    for (u32 i = from + threadIdx.x; i < until; i += blockDim.x)
        atomicAdd(&histogram[(u32)(pairs[i] >> 32) & (size - 1)], 1);
    __syncthreads();
    for (u32 i = threadIdx.x; i < size; i += blockDim.x) {
        if (histogram[i]) atomicAdd(&counts[((u64)bin << low_bits) + i], histogram[i]);
    }
}

// Counts to positions, in place. One block of 1024 per bin.
KERNEL msm_scan_buckets(const u32 *start, u32 low_bits, u32 *counts) {
    __shared__ u32 shared[32];
    const u32 size = 1u << low_bits;
    u32 *mine = counts + ((u64)blockIdx.x << low_bits);
    u32 before = start[blockIdx.x];
    for (u32 base = 0; base < size; base += blockDim.x) {
        const u32 i = base + threadIdx.x;
        u32 total, at = block_scan(i < size ? mine[i] : 0, shared, total);
        if (i < size) mine[i] = before + at;
        before += total;
    }
}

// Pairs to their buckets; `cursor` is what msm_scan_buckets wrote, and is consumed. A chunk is grouped in shared memory first, so that the
// pairs of a bucket leave together. CHUNK pairs and SCATTER_THREADS threads; shared memory: CHUNK * 6 + 8 * 2^low_bits bytes.
#define CHUNK 8192
#define SCATTER_THREADS 512
KERNEL __launch_bounds__(SCATTER_THREADS) msm_scatter(const u64 *pairs, const u32 *start, const u32 *chunk_start, u32 n_bins,
                                                      u32 low_bits, u32 *cursor, u64 *sorted) {
    extern __shared__ u32 staged[];
    __shared__ u32 scratch[32];
    const u32 size = 1u << low_bits, t = threadIdx.x;
    u32 *local_start = staged + CHUNK, *shift = local_start + size;
    u16 *staged_key = (u16 *)(shift + size);
    u32 bin, from, until;
    if (!find_chunk(start, chunk_start, n_bins, CHUNK, bin, from, until)) return;
    for (u32 i = t; i < size; i += SCATTER_THREADS) local_start[i] = 0;
    __syncthreads();
    u32 rank[CHUNK / SCATTER_THREADS];
    UNROLL
    for (u32 k = 0; k < CHUNK / SCATTER_THREADS; k++) {
        const u32 i = from + k * SCATTER_THREADS + t;
        if (i < until) rank[k] = atomicAdd(&local_start[(u32)(pairs[i] >> 32) & (size - 1)], 1);
    }
    __syncthreads();
    u32 before = 0;
    for (u32 base = 0; base < size; base += SCATTER_THREADS) {
        const u32 i = base + t, count = i < size ? local_start[i] : 0;
        u32 total;
        const u32 at = block_scan(count, scratch, total) + before;
        if (i < size) local_start[i] = at;
        // Position of the bucket's first pair, less its place in the chunk.
        if (count) shift[i] = atomicAdd(&cursor[((u64)bin << low_bits) + i], count) - at;
        before += total;
    }
    __syncthreads();
    UNROLL
    for (u32 k = 0; k < CHUNK / SCATTER_THREADS; k++) {
        const u32 i = from + k * SCATTER_THREADS + t;
        if (i >= until) continue;
        const u64 pair = pairs[i];
        const u32 key = (u32)(pair >> 32) & (size - 1), at = local_start[key] + rank[k];
        staged[at] = (u32)pair;
        staged_key[at] = (u16)key;
    }
    __syncthreads();
    for (u32 i = t; i < until - from; i += SCATTER_THREADS) {
        const u32 key = staged_key[i];
        sorted[shift[key] + i] = (u64)((bin << low_bits) + key) << 32 | staged[i];
    }
}
