// Elementwise operations on scalars, and tables of powers.
#include "factors.cuh"

// table[i] = first * base^(i * step)
KERNEL powers(Fr *table, u64 n, Squares base, FrParam first, u64 step) {
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (u64)gridDim.x * blockDim.x)
        store_fr(table + i, power_of(base, i * step, first.get()));
}

#define EACH(i, n) \
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += (u64)gridDim.x * blockDim.x)

KERNEL pointwise_add(Fr *io, const Fr *rhs, u64 n) {
    EACH(i, n) store_fr(io + i, add(load_fr(io + i), load_fr(rhs + i)));
}
KERNEL pointwise_sub(Fr *io, const Fr *rhs, u64 n) {
    EACH(i, n) store_fr(io + i, sub(load_fr(io + i), load_fr(rhs + i)));
}
KERNEL pointwise_mul(Fr *io, const Fr *rhs, u64 n) {
    EACH(i, n) store_fr(io + i, mul(load_fr(io + i), load_fr(rhs + i)));
}
KERNEL pointwise_mul_sub(Fr *io, const Fr *x, const Fr *y, u64 n) {
    EACH(i, n) store_fr(io + i, sub(mul(load_fr(x + i), load_fr(y + i)), load_fr(io + i)));
}
// a/2 is a >> 1 for even a and (a + r) >> 1 for odd a, in Montgomery form as in any other; a + r < 2^256.
DEV Fr half(const Fr &a) {
    const u32 odd = 0u - (a.v[0] & 1);
    Fr s;
    s.v[0] = add_cc(a.v[0], fr_modulus(0) & odd);
    UNROLL
    for (int j = 1; j < 7; j++) s.v[j] = addc_cc(a.v[j], fr_modulus(j) & odd);
    s.v[7] = addc(a.v[7], fr_modulus(7) & odd);
    UNROLL
    for (int j = 0; j < 7; j++) s.v[j] = s.v[j] >> 1 | s.v[j + 1] << 31;
    s.v[7] >>= 1;
    return s;
}
KERNEL pointwise_half_difference(Fr *io, const Fr *rhs, u64 n) {
    EACH(i, n) store_fr(io + i, half(sub(load_fr(rhs + i), load_fr(io + i))));
}
KERNEL pointwise_factors(Fr *io, Factors factors, u64 n) {
    EACH(i, n) store_fr(io + i, apply(factors, load_fr(io + i), (u32)i, 32));
}
KERNEL pointwise_to_canonical(Fr *io, u64 n) {
    EACH(i, n) store_fr(io + i, fr_to_canonical(load_fr(io + i)));
}
KERNEL pointwise_to_montgomery(Fr *io, u64 n) {
    EACH(i, n) store_fr(io + i, fr_to_montgomery(load_fr(io + i)));
}

// Batch inversion: a thread has every `threads`-th element from its number on, one inversion and three multiplications an element.
// `prefix` has room for n scalars. Zeros are left out of the products and stay.
KERNEL pointwise_inverse(Fr *io, Fr *prefix, u64 n, u64 threads) {
    const u64 t = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= threads || t >= n) return;
    Fr product = fr_one();
    u64 last = t;
    for (u64 i = t; i < n; i += threads) {
        const Fr x = load_fr(io + i);
        store_fr(prefix + i, product);
        if (!is_zero(x)) product = mul(product, x);
        last = i;
    }
    product = inverse(product);
    for (u64 i = last;; i -= threads) {
        const Fr x = load_fr(io + i);
        if (!is_zero(x)) {
            store_fr(io + i, mul(product, load_fr(prefix + i)));
            product = mul(product, x);
        }
        if (i == t) break;
    }
}
