// Runs one operation of the field and curve headers on the CPU over the vectors of standard input: `headers OP < in > out`.
// Each vector is the operation's operands one after the other, as they lie in memory.
#include <cstdio>
#include <cstring>
#include <vector>

#include "curve.cuh"

template <typename Operands, typename Result, typename Op>
static int run(Op op) {
    std::vector<Operands> in(4096);
    std::vector<Result> out(in.size());
    for (size_t n; (n = fread(in.data(), sizeof(Operands), in.size(), stdin)) > 0;) {
        for (size_t i = 0; i < n; i++) out[i] = op(in[i]);
        if (fwrite(out.data(), sizeof(Result), n, stdout) != n) return 1;
    }
    return 0;
}

template <typename F>
struct Two {
    F a, b;
};
template <typename F>
struct Four {
    F a, b, c, d;
};
template <typename F>
struct Mixed {
    Xyzz<F> acc;
    Affine<F> p;
};
template <typename F>
struct Full {
    Xyzz<F> a, b;
};

template <typename F>
static int field(const char *op) {
    if (!strcmp(op, "add")) return run<Two<F>, F>([](Two<F> &v) { return add(v.a, v.b); });
    if (!strcmp(op, "sub")) return run<Two<F>, F>([](Two<F> &v) { return sub(v.a, v.b); });
    if (!strcmp(op, "mul")) return run<Two<F>, F>([](Two<F> &v) { return mul(v.a, v.b); });
    if (!strcmp(op, "sqr")) return run<F, F>([](F &v) { return sqr(v); });
    if (!strcmp(op, "inverse")) return run<F, F>([](F &v) { return inverse(v); });
    return 2;
}

template <typename F>
static int curve(const char *op) {
    if (!strcmp(op, "add_affine"))
        return run<Mixed<F>, Xyzz<F>>([](Mixed<F> &v) {
            add_affine(v.acc, v.p.x, v.p.y);
            return v.acc;
        });
    if (!strcmp(op, "add_point"))
        return run<Full<F>, Xyzz<F>>([](Full<F> &v) {
            add_point(v.a, v.b);
            return v.a;
        });
    if (!strcmp(op, "dbl")) return run<Xyzz<F>, Xyzz<F>>([](Xyzz<F> &v) { return dbl_point(v); });
    if (!strcmp(op, "to_affine"))
        return run<Xyzz<F>, Affine<F>>([](Xyzz<F> &v) { return to_affine(v, inverse(v.zzz)); });
    return 2;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    const char *type = argv[1], *op = argv[2];
    if (!strcmp(type, "fp") && !strcmp(op, "mul_add"))
        return run<Four<Fp>, Fp>([](Four<Fp> &v) { return mul_add(v.a, v.b, v.c, v.d); });
    if (!strcmp(type, "fr") && !strcmp(op, "canonical"))
        return run<Fr, Fr>([](Fr &v) { return fr_to_canonical(v); });
    if (!strcmp(type, "fr") && !strcmp(op, "montgomery"))
        return run<Fr, Fr>([](Fr &v) { return fr_to_montgomery(v); });
    if (!strcmp(type, "fr")) return field<Fr>(op);
    if (!strcmp(type, "fp")) return field<Fp>(op);
    if (!strcmp(type, "fp2")) return field<Fp2>(op);
    if (!strcmp(type, "g1")) return curve<Fp>(op);
    if (!strcmp(type, "g2")) return curve<Fp2>(op);
    return 2;
}
