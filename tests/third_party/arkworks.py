"""arkworks (through py_arkworks_bls12381) checks the pairing equation of every proof in FOLDER/cases.json, and that it fails for
another public input. Files are decoded here, by code that shares nothing with the prover."""

import json
import sys
from pathlib import Path

from py_arkworks_bls12381 import G1Point, G2Point, GT, Scalar


def fp(text: str) -> bytes:
    return int(text).to_bytes(48, "big")


def g1(point: list[str]) -> G1Point:
    x, y, z = point
    if z == "0":
        return G1Point.identity()
    return G1Point.from_xy_bytes_be(fp(x) + fp(y))


# Fp2 elements lie c0 first here, unlike in the compressed form.
def g2(point: list[list[str]]) -> G2Point:
    x, y, z = point
    if z == ["0", "0"]:
        return G2Point.identity()
    return G2Point.from_xy_bytes_be(fp(x[0]) + fp(x[1]) + fp(y[0]) + fp(y[1]))


def scalar(value: int) -> Scalar:
    return Scalar.from_be_bytes(value.to_bytes(32, "big"))


def read_proof(path: Path) -> tuple[G1Point, G2Point, G1Point]:
    if path.suffix == ".json":
        proof = json.loads(path.read_text())
        return g1(proof["pi_a"]), g2(proof["pi_b"]), g1(proof["pi_c"])
    data = path.read_bytes()
    assert len(data) == 192, len(data)
    g1_at = lambda at: G1Point.from_compressed_bytes(data[at : at + 48])
    return g1_at(0), G2Point.from_compressed_bytes(data[48:144]), g1_at(144)


def holds(vk: dict, inputs: list[int], proof: tuple[G1Point, G2Point, G1Point]) -> bool:
    """e(A, B) = e(alpha, beta) e(IC_0 + sum x_i IC_i, gamma) e(C, delta)"""
    a, b, c = proof
    ic = [g1(point) for point in vk["IC"]]
    assert len(ic) == len(inputs) + 1, "number of public inputs"
    x = ic[0]
    for value, point in zip(inputs, ic[1:]):
        x = x + point * scalar(value)
    left = GT.pairing(a, b)
    right = GT.multi_pairing(
        [g1(vk["vk_alpha_1"]), x, c],
        [g2(vk["vk_beta_2"]), g2(vk["vk_gamma_2"]), g2(vk["vk_delta_2"])],
    )
    return left == right


def main(folder: Path) -> int:
    failures: list[str] = []
    accepted = refused = 0
    for case in json.loads((folder / "cases.json").read_text()):
        if "proof" not in case:
            continue
        vk = json.loads(Path(case["vk"]).read_text())
        inputs = [int(text) for text in json.loads(Path(case["public"]).read_text())]
        proof = read_proof(Path(case["proof"]))
        accepted += 1
        if not holds(vk, inputs, proof):
            failures.append(f"{case['name']}: refused")
        for i in range(min(len(inputs), 3)):
            changed = inputs.copy()
            changed[i] = changed[i] - 1 if changed[i] else 1
            refused += 1
            if holds(vk, changed, proof):
                failures.append(f"{case['name']}: accepted with public input {i} changed")
    if not accepted or not refused:
        failures.append("nothing was tested")
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"arkworks: {accepted} proofs accepted, {refused} changed public inputs refused, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
