"""Makes proofs of every circom fixture through the command line and lists them in FOLDER/cases.json.

prove.py CUZK FIXTURES FOLDER. Each case says which files belong together; `by` names who made the proof's key and format.
"""

import json
import subprocess
import sys
from pathlib import Path

# Keys that snarkjs itself shall prove with, made by `cuzk setup`.
SNARKJS_PROVES = ("mul3", "sort16")


def main(cuzk: str, fixtures: Path, work: Path) -> None:
    def run(*arguments: object) -> None:
        command = [cuzk, "--quiet", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr}")

    cases: list[dict[str, str]] = []
    circuits = sorted(path.parent for path in fixtures.glob("*/circuit.zkey"))
    if not circuits:
        sys.exit(f"{fixtures}: no circuits")
    for circuit in circuits:
        out = work / circuit.name
        out.mkdir()
        zkey, r1cs = circuit / "circuit.zkey", circuit / "circuit.r1cs"
        for witness in ("1", "2"):
            wtns = circuit / f"witness_{witness}.wtns"
            proof, public = out / f"proof_{witness}.json", out / f"public_{witness}.json"
            run("prove", "circom", zkey, wtns, proof, public, "--r1cs", r1cs)
            cases.append(case(f"{circuit.name} {witness}", circuit / "verification_key.json", public, proof))

        # The same through our own keys: .params with the 192-byte proof where that form exists, else .zkey.
        key, vk = out / "key.params", out / "vk.json"
        proof, public = out / "proof.bin", out / "public.json"
        wtns = circuit / "witness_1.wtns"
        if subprocess.run([cuzk, "setup", "r1cs", r1cs, "--out", key], capture_output=True).returncode == 0:
            run("prove", "r1cs", key, r1cs, wtns, "--out", proof, "--public", public)
            run("export", "vk", key, "--out", vk)
            cases.append(case(f"{circuit.name} 192 bytes", vk, public, proof))
            json_proof = out / "proof_params.json"
            run("prove", "r1cs", key, r1cs, wtns, "--out", json_proof, "--public", public, "--format", "snarkjs")
            cases.append(case(f"{circuit.name} params", vk, public, json_proof))
        if circuit.name in SNARKJS_PROVES:
            key, vk = out / "key.zkey", out / "vk_zkey.json"
            run("setup", "r1cs", r1cs, "--out", key)
            run("export", "vk", key, "--out", vk)
            cases.append({"name": f"{circuit.name} proved by snarkjs", "vk": str(vk), "zkey": str(key), "wtns": str(wtns)})
    (work / "cases.json").write_text(json.dumps(cases, indent=1))
    print(f"made {len(cases)} cases of {len(circuits)} circuits")


def case(name: str, vk: Path, public: Path, proof: Path) -> dict[str, str]:
    return {"name": name, "vk": str(vk), "public": str(public), "proof": str(proof)}


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
