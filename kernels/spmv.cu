// Sparse matrix times vector, for a block of rows that stands several times below itself with some of its columns shifted.
//
// A thread has a row; a row of more than LONG entries is summed by the whole warp. Coefficients are codes into a dictionary; most are 1 or -1,
// which need no multiplication.
#include "io.cuh"

#define LONG 64
#define MAX_SHIFTS 4

// Columns in from .. until move by `stride` from copy to copy.
struct Shifts {
    u32 count;
    u32 from[MAX_SHIFTS], until[MAX_SHIFTS], stride[MAX_SHIFTS];
};

// Lengths of what the entries point into: entries past them count as zero instead of reading elsewhere.
struct Limits {
    u64 entries, dictionary, cols;
};

DEV void add_term(Fr &acc, const Fr *dictionary, u32 code, const Fr *z, u32 col, const Limits &limits) {
    if (code >= limits.dictionary || col >= limits.cols) return;
    const Fr value = load_fr(z + col), coefficient = load_fr_table(dictionary + code);
    if (equal(coefficient, fr_one())) acc = add(acc, value);
    else if (equal(coefficient, neg(fr_one()))) acc = sub(acc, value);
    else acc = add(acc, mul(coefficient, value));
}

DEV u32 column(const Shifts &shifts, u32 col, u32 copy) {
    u32 stride = 0;
    UNROLL
    for (int s = 0; s < MAX_SHIFTS; s++) {
        if (s < shifts.count && col >= shifts.from[s] && col < shifts.until[s]) stride = shifts.stride[s];
    }
    return col + copy * stride;
}

template <typename Code>
DEV void spmv(const u32 *row_ptr, const u32 *cols, const Code *codes, const Fr *dictionary, const Fr *z, Fr *out, u32 rows,
              u64 total, const Limits &limits, const Shifts &shifts) {
    const u64 r = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    const u32 copy = r < total ? (u32)(r / rows) : 0, row = r < total ? (u32)(r % rows) : 0;
    u32 from = 0, until = 0;
    if (r < total) {
        from = row_ptr[row];
        until = (u32)min((u64)row_ptr[row + 1], limits.entries);
        from = min(from, until);
    }
    Fr acc = zero<Fr>();
    const bool is_long = until - from > LONG;
    if (!is_long) {
        for (u32 i = from; i < until; i++) add_term(acc, dictionary, codes[i], z, column(shifts, cols[i], copy), limits);
    }
    const u32 lane = threadIdx.x & 31;
    for (u32 waiting = __ballot_sync(0xffffffffu, is_long); waiting; waiting &= waiting - 1) {
        const int owner = __ffs(waiting) - 1;
        const u32 first = __shfl_sync(0xffffffffu, from, owner), end = __shfl_sync(0xffffffffu, until, owner);
        const u32 its_copy = __shfl_sync(0xffffffffu, copy, owner);
        Fr part = zero<Fr>();
        for (u64 i = (u64)first + lane; i < end; i += 32)
            add_term(part, dictionary, codes[i], z, column(shifts, cols[i], its_copy), limits);
        for (int d = 16; d > 0; d /= 2) {
            Fr other;
            UNROLL
            for (int j = 0; j < 8; j++) other.v[j] = __shfl_xor_sync(0xffffffffu, part.v[j], d);
            part = add(part, other);
        }
        if ((int)lane == owner) acc = part;
    }
    if (r < total) store_fr(out + r, acc);
}

KERNEL spmv_narrow(const u32 *row_ptr, const u32 *cols, const u16 *codes, const Fr *dictionary, const Fr *z, Fr *out,
                   u32 rows, u64 total, Limits limits, Shifts shifts) {
    spmv(row_ptr, cols, codes, dictionary, z, out, rows, total, limits, shifts);
}
KERNEL spmv_wide(const u32 *row_ptr, const u32 *cols, const u32 *codes, const Fr *dictionary, const Fr *z, Fr *out,
                 u32 rows, u64 total, Limits limits, Shifts shifts) {
    spmv(row_ptr, cols, codes, dictionary, z, out, rows, total, limits, shifts);
}
