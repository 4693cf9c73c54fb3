"""The two circuits of the CPU comparison, as circom sources with inputs.

mimc_chain300: 300 chained MiMC-x^5 hashes, 99,000 constraints, a dense witness. The round constants are
c_i = sha256("mimc5-bls12381/i") mod r, c_0 = 0. sha256_64B: circomlib's SHA-256 of 64 bytes, 62,528 constraints, a witness of bits.
"""

import hashlib

R = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001
ROUNDS = 110


def constant(i):
    return 0 if i == 0 else int.from_bytes(hashlib.sha256(f"mimc5-bls12381/{i}".encode()).digest(), "big") % R


def mimc_chain(length):
    constants = ",".join(str(constant(i)) for i in range(ROUNDS))
    return f"""pragma circom 2.1.0;
function c(i) {{ var C[{ROUNDS}] = [{constants}]; return C[i]; }}
template Permutation() {{
    signal input x; signal input k; signal output out;
    signal square[{ROUNDS}]; signal fourth[{ROUNDS}]; signal state[{ROUNDS} + 1];
    state[0] <== x;
    for (var i = 0; i < {ROUNDS}; i++) {{
        var t = state[i] + k + c(i);
        square[i] <== t * t;
        fourth[i] <== square[i] * square[i];
        state[i + 1] <== fourth[i] * t;
    }}
    out <== state[{ROUNDS}] + k;
}}
template Chain(n) {{
    signal input in; signal output out;
    component e[n];
    var last = in;
    for (var i = 0; i < n; i++) {{
        e[i] = Permutation();
        e[i].x <== last;
        e[i].k <== i;
        last = e[i].out + last + i;
    }}
    out <== last;
}}
component main = Chain({length});
"""


SHA256 = """pragma circom 2.1.0;
include "node_modules/circomlib/circuits/sha256/sha256.circom";
component main = Sha256(512);
"""

MESSAGE = b"The quick brown fox jumps over the lazy dog, 64 bytes long ....!"
BITS = [str(byte >> k & 1) for byte in MESSAGE for k in range(7, -1, -1)]

# name: (source, input, circom's optimisation level)
CIRCUITS = {
    "mimc_chain300": (mimc_chain(300), {"in": "1"}, "--O2"),
    "sha256_64B": (SHA256, {"in": BITS}, "--O1"),
}
