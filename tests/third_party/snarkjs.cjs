// snarkjs accepts every JSON proof of FOLDER/cases.json, and refuses it for another public input; and it proves with our .zkey.
// One process for all: starting snarkjs takes longer than verifying.
"use strict";
const fs = require("fs");
const path = require("path");
const snarkjs = require("snarkjs");

const read = (file) => JSON.parse(fs.readFileSync(file, "utf8"));
const folder = process.argv[2];
const failures = [];
let accepted = 0;
let refused = 0;

function expect(name, what, got, wanted) {
  if (got !== wanted) failures.push(`${name}: ${what}: ${got}, expected ${wanted}`);
}

async function judge(name, vk, publicSignals, proof) {
  expect(name, "valid", await snarkjs.groth16.verify(vk, publicSignals, proof), true);
  accepted += 1;
  for (let i = 0; i < Math.min(publicSignals.length, 3); i += 1) {
    const changed = publicSignals.slice();
    changed[i] = changed[i] === "0" ? "1" : (BigInt(changed[i]) - 1n).toString();
    expect(name, `public input ${i} changed`, await snarkjs.groth16.verify(vk, changed, proof), false);
    refused += 1;
  }
}

async function main() {
  const cases = read(path.join(folder, "cases.json"));
  for (const test of cases) {
    if (test.zkey) {
      const { proof, publicSignals } = await snarkjs.groth16.prove(test.zkey, test.wtns);
      await judge(test.name, read(test.vk), publicSignals, proof);
    } else if (test.proof.endsWith(".json")) {
      await judge(test.name, read(test.vk), read(test.public), read(test.proof));
    }
  }
  failures.forEach((failure) => console.error(failure));
  if (accepted === 0 || refused === 0) failures.push("nothing was tested");
  console.log(`snarkjs: ${accepted} proofs accepted, ${refused} changed public inputs refused, ${failures.length} failures`);
  process.exit(failures.length === 0 ? 0 : 1);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
