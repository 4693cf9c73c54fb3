//! Files whose counts claim more than the files hold, cut at every byte, and with every byte changed: never a panic, never more
//! memory than the file's size allows.

use cuzk_core::curve::Root;
use cuzk_core::format::{Result, Source, json, params, proof, r1cs, sniff, vk, wtns, zkey};
use cuzk_core::progress::Control;

use crate::peak;
use crate::{bellman, fixture, written};

type Reader = fn(&Source) -> Result<()>;

/// Every reader, by name.
const READERS: [(&str, Reader); 10] = [
    ("r1cs", |s| r1cs::read(s).map(drop)),
    ("wtns", |s| wtns::read(s).map(drop)),
    ("zkey", |s| zkey::read(s).map(drop)),
    ("params", |s| params::read(s, Some(Root::Five)).map(drop)),
    ("vk", |s| vk::read_any(s).map(drop)),
    ("vk_json", |s| json::read_vk(s).map(drop)),
    ("proof_json", |s| json::read_proof(s).map(drop)),
    ("public_json", |s| json::read_public(s).map(drop)),
    ("proof", |s| proof::read_any(s).map(drop)),
    ("inspect", |s| sniff::inspect(s, &Control::default()).map(drop)),
];

/// Small files of every format.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let key = bellman::small_key();
    let proof = json::read_proof(&fixture("mul3/proof_1.json")).unwrap();
    let bytes = |name: &str| fixture(name).bytes().to_vec();
    vec![
        ("r1cs", bytes("one_constraint/circuit.r1cs")),
        ("r1cs with custom gates", bytes("custom_gate/circuit.r1cs")),
        ("wtns", bytes("one_constraint/witness_1.wtns")),
        ("zkey", bytes("no_constraints/circuit.zkey")),
        ("params", written(|out| params::write(out, &key))),
        ("vk", written(|out| vk::write(out, &key.vk))),
        ("vk_json", bytes("no_public/verification_key.json")),
        ("proof_json", bytes("mul3/proof_1.json")),
        ("public_json", bytes("unused_inputs/public_1.json")),
        ("proof", proof::to_bytes(&proof).unwrap().to_vec()),
    ]
}

/// Gives `bytes` to every reader and bounds what it allocates.
fn try_all(what: &str, bytes: Vec<u8>) {
    let size = bytes.len();
    let source = Source::from_bytes("hostile", bytes);
    for (name, read) in READERS {
        let (_, allocated) = peak(|| read(&source));
        assert!(allocated <= 10 * size + (256 << 10), "{name} of {what}: {allocated} bytes for {size}");
    }
}

#[test]
fn cut_at_any_byte() {
    for (name, bytes) in files() {
        let step = bytes.len().div_ceil(150);
        for end in (0..bytes.len()).step_by(step) {
            let source = Source::from_bytes("cut", bytes[..end].to_vec());
            let own = READERS.iter().find(|r| name.starts_with(r.0)).unwrap();
            assert!(own.1(&source).is_err(), "{name} cut to {end} of {} bytes was accepted", bytes.len());
            try_all(&format!("{name} cut to {end}"), bytes[..end].to_vec());
        }
    }
}

#[test]
fn any_word_at_its_extremes() {
    for (name, bytes) in files() {
        // Counts are in the heads and between sections; points and values in between are sampled.
        let step = 4 * bytes.len().div_ceil(600);
        for at in (0..bytes.len().saturating_sub(4)).step_by(step) {
            for word in [u32::MAX, 1 << 24] {
                let mut changed = bytes.clone();
                changed[at..at + 4].copy_from_slice(&word.to_le_bytes());
                try_all(&format!("{name} with {word:#x} at {at}"), changed);
            }
        }
    }
}

/// Headers that a small file cannot bear out, written by hand.
#[test]
fn counts_beyond_the_file() {
    let mut r1cs = fixture("one_constraint/circuit.r1cs").bytes().to_vec();
    // circom writes section 2 first; the header is found by its type.
    let mut at = 12;
    while r1cs[at] != 1 {
        at += 12 + u64::from_le_bytes(r1cs[at + 4..at + 12].try_into().unwrap()) as usize;
    }
    let wires = at + 12 + 36;
    r1cs[wires..wires + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    r1cs[wires + 4..wires + 8].copy_from_slice(&(u32::MAX / 2).to_le_bytes());
    let (error, allocated) =
        peak(|| r1cs::read(&Source::from_bytes("t.r1cs", r1cs)).unwrap_err().to_string());
    assert!(
        error.contains("wires: expected at most one per byte of the file") && error.contains("4294967295"),
        "{error}"
    );
    assert!(allocated < 64 << 10, "{allocated}");

    for count in [u32::MAX, 1 << 30] {
        let mut key = written(|out| params::write(out, &bellman::small_key()));
        let vk = 864 + 4 + 96 * bellman::small_key().vk.ic.len();
        key[vk..vk + 4].copy_from_slice(&count.to_be_bytes());
        let (error, allocated) =
            peak(|| params::read(&Source::from_bytes("t.params", key), None).unwrap_err().to_string());
        assert!(error.contains("length of H") && error.contains(&format!("found {count} points")), "{error}");
        assert!(allocated < 64 << 10, "{allocated}");
    }
}
