//! Files whose counts claim more than the files hold, cut at every byte, and with every byte changed: never a panic, never more
//! memory than the file's size allows.

use cuzk_core::curve::{Root, Scalar};
use cuzk_core::format::{Result, Source, json, params, proof, r1cs, sniff, vk, wtns, zkey};
use cuzk_core::progress::Control;

use crate::{bellman, fixture, peak, written};
use ff::{Field, PrimeField};

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

/// Peak memory of a reader below ten times the file and 64 MB, the file being some 20 MB.
fn bounded<T>(what: &str, bytes: Vec<u8>, read: impl FnOnce(&Source) -> Result<T>) -> Result<T> {
    let size = bytes.len();
    assert!((18 << 20..32 << 20).contains(&size), "{what}: {size} bytes");
    let source = Source::from_bytes(what, bytes);
    let (outcome, allocated) = peak(|| read(&source));
    assert!(allocated <= 10 * size + (64 << 20), "{what}: {allocated} bytes for {size}");
    outcome
}

/// A circuit file: header and constraints.
fn circuit_file(wires: u32, public: u32, constraints: u32, body: &[u8], spare: usize) -> Vec<u8> {
    let modulus: [u8; 32] = (-Scalar::ONE).to_repr();
    let mut header = 32u32.to_le_bytes().to_vec();
    header.extend(modulus);
    header[4] += 1;
    [wires, 0, public, 0].iter().for_each(|word| header.extend(word.to_le_bytes()));
    header.extend(0u64.to_le_bytes());
    header.extend(constraints.to_le_bytes());
    let mut out = [&b"r1cs"[..], &1u32.to_le_bytes(), &3u32.to_le_bytes()].concat();
    for (kind, section) in [(1u32, &header[..]), (2, body), (77, &vec![0; spare])] {
        out.extend(kind.to_le_bytes());
        out.extend((section.len() as u64).to_le_bytes());
        out.extend(section);
    }
    out
}

/// Inputs without labels cost nothing in the file, empty constraints little, and distinct coefficients are all remembered.
#[test]
fn large_circuits_take_memory_in_proportion() {
    const SPARE: usize = 20 << 20;
    let read = |what: &str, bytes| bounded(what, bytes, r1cs::read).map_err(|e| e.to_string());
    let inputs = SPARE as u32 / 8;
    let good = read("an input per 8 bytes", circuit_file(inputs, inputs - 1, 0, &[], SPARE)).unwrap();
    assert_eq!(good.matrices.a.rows(), inputs as usize);
    let most = SPARE as u32;
    let error = read("an input per byte", circuit_file(most, most - 1, 0, &[], SPARE)).unwrap_err();
    assert!(error.contains("inputs") && error.contains("found 20971520"), "{error}");
    assert!(read("auxiliary wires", circuit_file(most, 0, 0, &[], SPARE)).is_ok());
    let empty = SPARE / 12;
    read("empty constraints", circuit_file(1, 0, empty as u32, &vec![0; empty * 12], 0)).unwrap();
    let terms = SPARE as u32 / 36;
    for repeated in [false, true] {
        let mut body = terms.to_le_bytes().to_vec();
        for i in 0..terms {
            body.extend(if repeated { 0u32 } else { i }.to_le_bytes());
            body.extend(Scalar::from(u64::from(i) + 1).to_repr());
        }
        body.extend([0; 8]);
        read("distinct coefficients", circuit_file(terms, 0, 1, &body, 0)).unwrap();
    }
}

/// Short numbers and lists of them: two bytes each in the file.
#[test]
fn large_json_takes_memory_in_proportion() {
    let list = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
    let many = list(10 << 20);
    let error = bounded("public.json", many.clone().into_bytes(), json::read_public).unwrap_err().to_string();
    assert!(error.contains("public values") && error.contains("at most 524288"), "{error}");
    assert_eq!(json::read_public(&Source::from_bytes("p", list(1 << 19).into())).unwrap().len(), 1 << 19);
    let good = fixture("mul3/verification_key.json").bytes().to_vec();
    let good: serde_json::Value = serde_json::from_slice(&good).unwrap();
    for (name, place) in [("IC", "IC[0]"), ("vk_alpha_1", "vk_alpha_1"), ("vk_beta_2", "vk_beta_2")] {
        let mut bad = good.clone();
        bad[name] = "@".into();
        let text = bad.to_string().replace("\"@\"", &many);
        let error = bounded("vk.json", text.into_bytes(), json::read_vk).unwrap_err().to_string();
        assert!(error.contains(place), "{error}");
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
