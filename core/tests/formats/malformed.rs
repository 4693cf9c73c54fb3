//! Every file of malformed/, against its index: read, its points checked, and held against its companion.

use std::time::{Duration, Instant};

use cuzk_core::format::{r1cs, wtns, zkey};
use cuzk_core::key::check_key;
use cuzk_core::progress::Control;

use crate::{fixture, json, peak};

/// What must be in the message of a file that is refused: what is wrong, what was expected, what was found.
const MESSAGES: [(&str, &[&str]); 46] = [
    ("w_empty.wtns", &["container, magic at byte 0", "4 bytes", "0 bytes left"]),
    ("w_magic_only.wtns", &["version at byte 4", "4 bytes", "0 bytes left"]),
    ("w_trunc_data.wtns", &["size of section 2", "239 bytes left", "256 bytes"]),
    ("w_is_r1cs_magic.wtns", &["magic at byte 0", "\"wtns\"", "\"r1cs\""]),
    ("w_nsections_huge.wtns", &["number of sections at byte 8", "at most 26", "4294967295"]),
    ("w_nsections_short.wtns", &["container at byte 64", "nothing more", "268 more bytes"]),
    (
        "w_dup_section.wtns",
        &["section 2 at byte", "one such section", "a second one (the first is at byte 76)"],
    ),
    ("w_n8_64.wtns", &["bytes per element of the scalar field", "expected 32, found 64"]),
    ("w_n8_0.wtns", &["bytes per element of the scalar field", "expected 32, found 0"]),
    (
        "w_count_huge.wtns",
        &["section 2 (values), length", "137438953440 bytes for 4294967295 values", "256 bytes"],
    ),
    ("w_one_value_more.wtns", &["8", "9"]),
    ("w_noncanonical.wtns", &["value 2 at byte 140", "below r = 0x73eda753", "found a value that is not"]),
    (
        "w_noncanonical_public.wtns",
        &["value 1 at byte 108", "below r = 0x73eda753", "found a value that is not"],
    ),
    ("w_one_is_zero.wtns", &["value 0 at byte 76", "expected 1, found 0"]),
    ("w_one_is_two.wtns", &["value 0 at byte 76", "expected 1, found 2"]),
    ("w_big_endian.wtns", &["value 1 at byte 108", "below r = 0x73eda753", "found a value that is not"]),
    (
        "w_seclen_huge.wtns",
        &["size of section 1 at byte 16", "at most the 308 bytes left", "4611686018427387904 bytes"],
    ),
    (
        "w_seclen_max.wtns",
        &["size of section 1 at byte 16", "at most the 308 bytes left", "18446744073709551615 bytes"],
    ),
    ("z_trunc_half.zkey", &["size of section", "bytes left"]),
    ("z_lfs_pointer.zkey", &["magic at byte 0", "\"zkey\"", "\"vers\""]),
    ("z_plonk.zkey", &["protocol", "expected 1 (Groth16), found 2 (PLONK)"]),
    ("z_wrong_q.zkey", &["modulus of the base field", "(p of BLS12-381)", "found 0x"]),
    ("z_wrong_r.zkey", &["modulus of the scalar field", "(r of BLS12-381)", "(r of BN254)"]),
    ("z_domain_7.zkey", &["domain at byte", "a power of two", "found 7"]),
    ("z_domain_0.zkey", &["domain at byte", "a power of two", "found 0"]),
    ("z_domain_16.zkey", &["section 9 (H), length", "1536 bytes for 16 points", "768 bytes (8 points)"]),
    ("z_domain_2p31.zkey", &["section 9 (H), length", "for 2147483648 points", "768 bytes (8 points)"]),
    ("z_npublic_big.zkey", &["public values", "below the 8 variables", "found 100"]),
    ("z_npublic_max.zkey", &["public values", "below the 8 variables", "found 4294967295"]),
    ("z_nvars_0.zkey", &["variables at byte", "at least 1", "found 0"]),
    ("z_nvars_max.zkey", &["section 5 (A), length", "for 4294967295 points", "768 bytes (8 points)"]),
    ("z_ncoef_huge.zkey", &["number of entries", "for 4294967295 entries", "(8 entries)"]),
    ("z_ncoef_small.zkey", &["number of entries", "for 3 entries", "(8 entries)"]),
    ("z_coef_row_oob.zkey", &["section 4 (coefficients), entry", "row at byte", "expected below 8, found 8"]),
    (
        "z_coef_wire_oob.zkey",
        &["section 4 (coefficients), entry", "wire at byte", "expected below 8, found 8"],
    ),
    ("z_coef_noncanonical.zkey", &["coefficient at byte", "below r = 0x73eda753", "found 0x"]),
    ("z_coef_short.zkey", &["number of entries", "352 bytes for 8 entries", "347 bytes (7 entries)"]),
    (
        "z_a_coord_noncanonical.zkey",
        &["A query, point", "at byte", "is 0x1ab871b9", "not below p = 0x1a0111ea397fe69a"],
    ),
    ("z_a_wrong_subgroup.zkey", &["A query, point", "not in the subgroup"]),
    ("z_h_short.zkey", &["section 9 (H), length", "768 bytes for 8 points", "672 bytes (7 points)"]),
    ("z_c_short.zkey", &["section 8 (C), length", "576 bytes for 6 points", "480 bytes (5 points)"]),
    ("z_no_section9.zkey", &["section 9 (H)", "one such section", "only sections 1, 2"]),
    ("z_dup5.zkey", &["section 5 at byte", "one such section", "a second one"]),
    ("z_version9.zkey", &["version at byte 4", "expected 1, found 9"]),
    ("z_alpha_infinity.zkey", &["alpha1 at byte", "a point of G1, not the identity", "the identity"]),
    ("r_empty.r1cs", &["container, magic at byte 0", "4 bytes", "0 bytes left"]),
];

/// The same for circuits.
const R1CS_MESSAGES: [(&str, &[&str]); 6] = [
    ("r_trunc.r1cs", &["size of section", "bytes left"]),
    (
        "r_bn254.r1cs",
        &["modulus of the scalar field", "(r of BLS12-381)", "(r of BN254)", "--prime bls12381"],
    ),
    ("r_m_plus1.r1cs", &["constraint 3 A", "4 bytes", "0 bytes left"]),
    ("r_nnz_huge.r1cs", &["constraint 0 A, terms at byte", "at most", "found 4294967295"]),
    ("r_wire_oob.r1cs", &["wire at byte", "expected below 8, found 8"]),
    ("r_io_overflow.r1cs", &["wires at byte", "at least the 4294967296 of", "found 2147483648"]),
];

/// Reads the file and what it goes with; the error's text, if any.
fn outcome(file: &str, kind: &str) -> Result<(), String> {
    let source = fixture(&format!("malformed/{file}"));
    match kind {
        "wtns" => {
            let z = wtns::read(&source).map_err(|e| e.to_string())?;
            let key = zkey::read(&fixture("mul3/circuit.zkey")).unwrap().key;
            if z.len() != key.variables() {
                return Err(format!("{file}: expected {} values, found {}", key.variables(), z.len()));
            }
            Ok(())
        }
        "zkey" => {
            let key = zkey::read(&source).map_err(|e| e.to_string())?.key;
            check_key(&key, &Control::default()).map_err(|e| e.to_string())
        }
        "r1cs" => r1cs::read(&source).map(drop).map_err(|e| e.to_string()),
        other => panic!("unknown kind {other}"),
    }
}

#[test]
fn every_malformed_file_gives_what_its_index_says() {
    let index = json("malformed/index.json");
    let entries = index.as_array().unwrap();
    assert_eq!(entries.len(), 60);
    let (mut refused, mut kept_back) = (0, 0);
    for entry in entries {
        let [file, kind, expect] = ["file", "kind", "expect"].map(|key| entry[key].as_str().unwrap());
        let size = fixture(&format!("malformed/{file}")).bytes().len();
        let begun = Instant::now();
        let (found, bytes) = peak(|| outcome(file, kind));
        assert!(begun.elapsed() < Duration::from_secs(1), "{file} took {:?}", begun.elapsed());
        // The companion key is read as well: 6,736 bytes.
        assert!(bytes <= 10 * (size + 6736) + (256 << 10), "{file}: {bytes} bytes allocated for {size}");
        match expect {
            "accept" | "invalid" => assert_eq!(found, Ok(()), "{file}"),
            "either" => {}
            "reject" => {
                let message = found.expect_err(file);
                assert!(message.contains(file), "{file}: {message}");
                let wanted = MESSAGES.iter().chain(&R1CS_MESSAGES).find(|m| m.0 == file);
                for part in wanted.unwrap_or_else(|| panic!("no message for {file}")).1 {
                    assert!(message.contains(part), "{file}: no {part:?} in: {message}");
                }
                if message.contains("it may be a secret") {
                    let (_, found) = message.split_once("found ").unwrap();
                    assert!(!found.contains(|c: char| c.is_ascii_digit()), "{file}: digits in: {message}");
                    kept_back += 1;
                }
                refused += 1;
            }
            other => panic!("{file}: unknown expectation {other}"),
        }
    }
    assert_eq!(refused, MESSAGES.len() + R1CS_MESSAGES.len());
    assert_eq!(kept_back, 3, "witness values that are not below r");
}

/// Bytes after the last section and a record of the ceremony that is cut are refused; the index leaves both open.
#[test]
fn what_the_index_leaves_open() {
    let trailing = outcome("w_trailing.wtns", "wtns").unwrap_err();
    assert!(trailing.contains("expected nothing more, found 7 more bytes"), "{trailing}");
    let cut = outcome("z_trunc_last.zkey", "zkey").unwrap_err();
    assert!(cut.contains("size of section 10"), "{cut}");
}
