// What the scalars of a witness are, and a packed witness written out.
#include "io.cuh"

// 0: zero, 1: one, 2: below 2^16, 3: anything else. `counts`: of each.
KERNEL classify(const Fr *z, u64 n, u8 *codes, u32 *counts) {
    __shared__ u32 mine[4];
    if (threadIdx.x < 4) mine[threadIdx.x] = 0;
    __syncthreads();
    const u64 step = (u64)gridDim.x * blockDim.x, rounds = (n + step - 1) / step;
    for (u64 round = 0; round < rounds; round++) {
        const u64 i = round * step + (u64)blockIdx.x * blockDim.x + threadIdx.x;
        u32 code = 4;
        if (i < n) {
            const Fr s = fr_to_canonical(load_fr(z + i));
            const u32 above = s.v[1] | s.v[2] | s.v[3] | s.v[4] | s.v[5] | s.v[6] | s.v[7] | s.v[0] >> 16;
            code = above ? 3 : s.v[0] > 1 ? 2 : s.v[0];
            codes[i] = code;
        }
        UNROLL
        for (u32 k = 0; k < 4; k++) {
            const u32 lanes = __ballot_sync(0xffffffffu, code == k);
            if ((threadIdx.x & 31) == k && lanes) atomicAdd(&mine[k], __popc(lanes));
        }
    }
    __syncthreads();
    if (threadIdx.x < 4 && mine[threadIdx.x]) atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

// Variable v: the bit of its rank if it is in the set, else the next of `rest`. `lane` < 64: word i holds bit `lane` of member i; 64: bits lie densely.
// The lengths bound every access, so that inconsistent input writes zeros instead of reading elsewhere.
KERNEL expand(const u64 *set, const u32 *ranks, const u64 *bits, u64 n_bits, u32 lane, const Fr *rest, u64 n_rest, Fr *z,
              u64 n) {
    for (u64 v = (u64)blockIdx.x * blockDim.x + threadIdx.x; v < n; v += (u64)gridDim.x * blockDim.x) {
        const u64 word = set[v >> 6], bit = (u64)1 << (v & 63);
        const u64 member = ranks[v >> 6] + __popcll(word & (bit - 1));
        Fr value = zero<Fr>();
        if (word & bit) {
            const u64 at = lane < 64 ? member : member >> 6;
            const u32 shift = lane < 64 ? lane : (u32)(member & 63);
            if (at < n_bits && (bits[at] >> shift & 1)) value = fr_one();
        } else if (v - member < n_rest) {
            value = load_fr(rest + (v - member));
        }
        store_fr(z + v, value);
    }
}
