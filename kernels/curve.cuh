// Points of y^2 = x^3 + b over any of the coordinate fields, in affine and in XYZZ coordinates:
// x = X/ZZ, y = Y/ZZZ, ZZ^3 = ZZZ^2. The identity is (0, 0) in affine form and has ZZ = 0 in XYZZ form.
//
// All additions are complete: equal points, opposite points and the identity are told apart. What is not in the innermost loop of
// an MSM is called, not inlined: inlined everywhere it would take minutes to compile. Formulas: the Explicit-Formulas
// Database, "XYZZ coordinates for short Weierstrass curves", madd-2008-s, add-2008-s, dbl-2008-s-1, mdbl-2008-s-1.
#pragma once
#include "fp2.cuh"

template <typename F>
struct Affine {
    F x, y;
};
template <typename F>
struct Xyzz {
    F x, y, zz, zzz;
};

template <typename F>
DEV Xyzz<F> identity() {
    return {zero<F>(), zero<F>(), zero<F>(), zero<F>()};
}
template <typename F>
DEV bool is_identity(const Xyzz<F> &p) {
    return is_zero(p.zz);
}
template <typename F>
DEV bool is_identity(const Affine<F> &p) {
    return is_zero(p.x) && is_zero(p.y);
}

// 2 P for a point that is not the identity; there is no point of order 2. 2M + 2S and the three products of y.
template <typename F>
DEV_CALL Xyzz<F> dbl_affine(const F &x, const F &y) {
    Xyzz<F> r;
    F u = dbl(y);
    r.zz = sqr(u);
    r.zzz = mul(u, r.zz);
    F s = mul(x, r.zz), m = sqr(x);
    m = add(dbl(m), m);
    r.x = sub(sqr(m), dbl(s));
    r.y = mul_sub(m, sub(s, r.x), r.zzz, y);
    return r;
}

// 2 P; the identity stays itself, as ZZ is multiplied by something.
template <typename F>
DEV_CALL Xyzz<F> dbl_point(const Xyzz<F> &p) {
    Xyzz<F> r;
    F u = dbl(p.y), v = sqr(u), w = mul(u, v);
    F s = mul(p.x, v), m = sqr(p.x);
    m = add(dbl(m), m);
    r.x = sub(sqr(m), dbl(s));
    r.y = mul_sub(m, sub(s, r.x), w, p.y);
    r.zz = mul(v, p.zz);
    r.zzz = mul(w, p.zzz);
    return r;
}

// acc += (x, y), which is not the identity. 8M + 2S, one reduction saved in y.
template <typename F>
DEV void add_affine(Xyzz<F> &acc, const F &x, const F &y) {
    if (is_zero(acc.zz)) {
        acc.x = x;
        acc.y = y;
        set_one(acc.zz);
        set_one(acc.zzz);
        return;
    }
    F p = sub(mul(x, acc.zz), acc.x);
    F r = sub(mul(y, acc.zzz), acc.y);
    if (is_zero(p)) {
        acc = is_zero(r) ? dbl_affine(x, y) : identity<F>();
        return;
    }
    F pp = sqr(p);
    acc.zz = mul(acc.zz, pp);
    F q = mul(acc.x, pp);
    pp = mul(p, pp);
    acc.zzz = mul(acc.zzz, pp);
    acc.x = sub(sub(sqr(r), pp), dbl(q));
    acc.y = mul_sub(r, sub(q, acc.x), acc.y, pp);
}

// acc += b. 12M + 2S.
template <typename F>
DEV_CALL void add_point(Xyzz<F> &acc, const Xyzz<F> &b) {
    if (is_zero(b.zz)) return;
    if (is_zero(acc.zz)) {
        acc = b;
        return;
    }
    F u = mul(acc.x, b.zz), s = mul(acc.y, b.zzz);
    F p = sub(mul(b.x, acc.zz), u);
    F r = sub(mul(b.y, acc.zzz), s);
    if (is_zero(p)) {
        acc = is_zero(r) ? dbl_point(acc) : identity<F>();
        return;
    }
    F pp = sqr(p);
    acc.zz = mul(mul(acc.zz, b.zz), pp);
    u = mul(u, pp);
    pp = mul(p, pp);
    acc.zzz = mul(mul(acc.zzz, b.zzz), pp);
    acc.x = sub(sub(sqr(r), pp), dbl(u));
    acc.y = mul_sub(r, sub(u, acc.x), s, pp);
}

// (x, y) of a point that is not the identity, given 1/ZZZ: 1/ZZ = ZZ^2 / ZZZ^2, as ZZ^3 = ZZZ^2.
template <typename F>
DEV Affine<F> to_affine(const Xyzz<F> &p, const F &inverse_zzz) {
    F t = mul(p.zz, inverse_zzz);
    return {mul(p.x, sqr(t)), mul(p.y, inverse_zzz)};
}

// y^2 = x^3 + b
template <typename F>
DEV bool is_on_curve(const F &x, const F &y, const F &b) {
    return equal(sqr(y), add(mul(sqr(x), x), b));
}
