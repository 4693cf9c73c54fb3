// What every kernel file begins with: integer types, and 32-bit arithmetic with a carry flag.
//
// On the GPU the carry flag is the condition code register: the statements are volatile so that they stay in order. On a CPU
// (tests) the flag is a variable, so that the arithmetic built on these functions can be checked without a GPU.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#if defined(__CUDACC__)

#define DEV __device__ __forceinline__
#define DEV_CALL __device__ __noinline__
#define UNROLL _Pragma("unroll")
#define KERNEL extern "C" __global__ void

#define CARRY_OP2(name, ptx) \
    DEV u32 name(u32 a, u32 b) { \
        u32 r; \
        asm volatile(ptx " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); \
        return r; \
    }
#define CARRY_OP3(name, ptx) \
    DEV u32 name(u32 a, u32 b, u32 c) { \
        u32 r; \
        asm volatile(ptx " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); \
        return r; \
    }
CARRY_OP2(add_cc, "add.cc.u32")
CARRY_OP2(addc_cc, "addc.cc.u32")
CARRY_OP2(addc, "addc.u32")
CARRY_OP2(sub_cc, "sub.cc.u32")
CARRY_OP2(subc_cc, "subc.cc.u32")
CARRY_OP2(subc, "subc.u32")
CARRY_OP3(mad_lo_cc, "mad.lo.cc.u32")
CARRY_OP3(madc_lo_cc, "madc.lo.cc.u32")
CARRY_OP3(madc_hi_cc, "madc.hi.cc.u32")
CARRY_OP3(madc_hi, "madc.hi.u32")

DEV u64 mul_wide(u32 a, u32 b) {
    u64 r;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(r) : "r"(a), "r"(b));
    return r;
}

#else // a CPU

#define DEV static inline
#define DEV_CALL static
#define UNROLL
static thread_local u32 carry_flag;

DEV u32 carry_out(u64 wide) {
    carry_flag = (u32)(wide >> 32) & 1u;
    return (u32)wide;
}
DEV u32 add_cc(u32 a, u32 b) { return carry_out((u64)a + b); }
DEV u32 addc_cc(u32 a, u32 b) { return carry_out((u64)a + b + carry_flag); }
DEV u32 addc(u32 a, u32 b) { return a + b + carry_flag; }
DEV u32 sub_cc(u32 a, u32 b) { return carry_out((u64)a - b); }
DEV u32 subc_cc(u32 a, u32 b) { return carry_out((u64)a - b - carry_flag); }
DEV u32 subc(u32 a, u32 b) { return a - b - carry_flag; }
DEV u64 mul_wide(u32 a, u32 b) { return (u64)a * b; }
DEV u32 mul_hi(u32 a, u32 b) { return (u32)(mul_wide(a, b) >> 32); }
DEV u32 mad_lo_cc(u32 a, u32 b, u32 c) { return carry_out((u64)(a * b) + c); }
DEV u32 madc_lo_cc(u32 a, u32 b, u32 c) { return carry_out((u64)(a * b) + c + carry_flag); }
DEV u32 madc_hi_cc(u32 a, u32 b, u32 c) { return carry_out((u64)mul_hi(a, b) + c + carry_flag); }
DEV u32 madc_hi(u32 a, u32 b, u32 c) { return mul_hi(a, b) + c + carry_flag; }

#endif

// Rows of a schoolbook product. Products of neighbouring limbs overlap, so those of even and of odd limbs of `a` go to two
// accumulators, where each (low, high) pair has its own place: the assembler then makes one wide multiply-add of every pair.

// acc = sum over even j < N of a[j] b 2^(32 j)
template <int N>
DEV void row_mul(u32 *acc, const u32 *a, u32 b) {
    UNROLL
    for (int j = 0; j < N; j += 2) {
        const u64 product = mul_wide(a[j], b);
        acc[j] = (u32)product;
        acc[j + 1] = (u32)(product >> 32);
    }
}

// acc += the same; the carry out of limb N - 1 is left in the flag
template <int N>
DEV void row_mad(u32 *acc, const u32 *a, u32 b) {
    acc[0] = mad_lo_cc(a[0], b, acc[0]);
    acc[1] = madc_hi_cc(a[0], b, acc[1]);
    UNROLL
    for (int j = 2; j < N; j += 2) {
        acc[j] = madc_lo_cc(a[j], b, acc[j]);
        acc[j + 1] = madc_hi_cc(a[j], b, acc[j + 1]);
    }
}

// acc = acc / 2^64 + the same + the flag; there is no carry out
template <int N>
DEV void row_mad_shift(u32 *acc, const u32 *a, u32 b) {
    UNROLL
    for (int j = 0; j < N - 2; j += 2) {
        acc[j] = madc_lo_cc(a[j], b, acc[j + 2]);
        acc[j + 1] = madc_hi_cc(a[j], b, acc[j + 3]);
    }
    acc[N - 2] = madc_lo_cc(a[N - 2], b, 0);
    acc[N - 1] = madc_hi(a[N - 2], b, 0);
}

// r = even / 2^32 + odd, where limb 0 of even is zero
template <int N>
DEV void merge_even_odd(u32 *r, const u32 *even, const u32 *odd) {
    r[0] = add_cc(odd[0], even[1]);
    UNROLL
    for (int j = 1; j < N - 1; j++) r[j] = addc_cc(odd[j], even[j + 1]);
    r[N - 1] = addc(odd[N - 1], 0);
}
