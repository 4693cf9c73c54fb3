//! What must hold for any bytes whatever, parser by parser: no panic, memory in proportion to the input, and what parses is
//! written and read back the same.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a broken property is a panic here"
)]

mod targets;

/// A property of a parser; panics where it does not hold.
pub type Target = fn(&[u8]);

/// Every target by name.
pub const TARGETS: [(&str, Target); 11] = [
    ("r1cs", targets::r1cs),
    ("wtns", targets::wtns),
    ("zkey", targets::zkey),
    ("params", targets::params),
    ("vk", targets::vk),
    ("vk_json", targets::vk_json),
    ("proof_json", targets::proof_json),
    ("public_json", targets::public_json),
    ("proof192", targets::proof192),
    ("gnark", targets::gnark),
    ("inspect", targets::inspect),
];

/// Runs a target and bounds what it allocates: ten times the input and a constant for messages, tables and points.
pub fn run(target: Target, data: &[u8]) {
    let info = allocation_counter::measure(|| target(data));
    let most = 16 * data.len() as u64 + (1 << 20);
    assert!(
        info.bytes_max <= most,
        "{} bytes allocated at once for an input of {}",
        info.bytes_max,
        data.len()
    );
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// All small fixtures, as they are and cut short, through every target: the properties hold where fuzzing starts.
    #[test]
    fn seeds() {
        let mut seen = 0;
        visit(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures"), &mut |data| {
            for (_, target) in TARGETS {
                run(target, data);
                run(target, &data[..data.len() * 3 / 4]);
            }
            seen += 1;
        });
        assert!(seen > 200, "{seen} fixtures");
    }

    fn visit(folder: &Path, f: &mut dyn FnMut(&[u8])) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                visit(&path, f);
            } else if path.metadata().unwrap().len() < 20_000 {
                f(&std::fs::read(&path).unwrap());
            }
        }
    }
}
