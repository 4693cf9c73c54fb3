//! The architecture is a test: which crate may depend on which, how long a file may be, where `unsafe` may stand.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, MetadataCommand};

/// Allowed normal and build dependencies between crates of the workspace; ARCHITECTURE.md draws the same picture.
/// Crates that do not exist yet have their place here already.
const EDGES: &[(&str, &[&str])] = &[
    ("cuzk-core", &[]),
    ("cuzk-shaders", &[]),
    ("cuzk-backend-wgpu", &["cuzk-core", "cuzk-shaders"]),
    ("cuzk-backend-cuda", &["cuzk-core"]),
    ("cuzk-filecoin", &["cuzk-core"]),
    ("cuzk-engine", &["cuzk-core", "cuzk-filecoin"]),
    ("cuzk-server", &["cuzk-core", "cuzk-engine"]),
    (
        "cuzk",
        &[
            "cuzk-core",
            "cuzk-filecoin",
            "cuzk-engine",
            "cuzk-server",
            "cuzk-backend-wgpu",
            "cuzk-backend-cuda",
        ],
    ),
];

/// Test-only crates may depend on anything of ours.
const TEST_CRATES: &[&str] = &["cuzk-tests", "cuzk-fuzz"];

/// The only files that may contain `unsafe`, each for one reason: FFI, views of plain data, maps, launches, and
/// vector instructions behind a check of the processor.
const UNSAFE_FILES: &[&str] = &[
    "core/src/curve/blst.rs",
    "core/src/curve/element.rs",
    "core/src/curve/ifma/mod.rs",
    "core/src/format/mmap.rs",
    "backend-cuda/src/compiler.rs",
    "backend-cuda/src/driver/context.rs",
    "backend-cuda/src/driver/event.rs",
    "backend-cuda/src/driver/launch.rs",
    "backend-cuda/src/driver/module.rs",
    "backend-cuda/src/driver/pinned.rs",
    "backend-cuda/src/driver/pool.rs",
    "backend-cuda/src/driver/stream.rs",
    "backend-cuda/src/memory.rs",
    "backend-cuda/src/params.rs",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

fn sources(extensions: &[&str]) -> Vec<PathBuf> {
    let listed = std::process::Command::new("git").args(["ls-files"]).current_dir(root()).output().unwrap();
    assert!(listed.status.success(), "git ls-files failed");
    String::from_utf8(listed.stdout)
        .unwrap()
        .lines()
        .map(|line| root().join(line))
        .filter(|p| p.is_file() && p.extension().is_some_and(|e| extensions.iter().any(|x| e == *x)))
        .collect()
}

#[test]
fn crates_know_only_whom_they_may_know() {
    let metadata = MetadataCommand::new().manifest_path(root().join("Cargo.toml")).no_deps().exec().unwrap();
    let ours: BTreeSet<String> = metadata.packages.iter().map(|p| p.name.to_string()).collect();
    let allowed: BTreeMap<_, _> = EDGES.iter().copied().collect();
    for package in &metadata.packages {
        let name = package.name.to_string();
        if TEST_CRATES.contains(&name.as_str()) {
            continue;
        }
        let may =
            allowed.get(name.as_str()).unwrap_or_else(|| panic!("{name} has no place in the architecture"));
        for dependency in &package.dependencies {
            if dependency.kind == DependencyKind::Development || !ours.contains(&dependency.name) {
                continue;
            }
            assert!(may.contains(&dependency.name.as_str()), "{name} must not depend on {}", dependency.name);
        }
    }
}

#[test]
fn versions_lints_and_profiles_live_in_the_root_manifest() {
    for manifest in sources(&["toml"]) {
        if manifest.file_name().is_none_or(|n| n != "Cargo.toml") || manifest == root().join("Cargo.toml") {
            continue;
        }
        let text = std::fs::read_to_string(&manifest).unwrap();
        assert!(
            text.contains("[lints]\nworkspace = true"),
            "{} does not take the workspace's lints",
            manifest.display()
        );
        assert!(!text.contains("[profile"), "{} has a profile of its own", manifest.display());
        let own_versions: Vec<&str> = text
            .lines()
            .filter(|l| !l.starts_with("rust-version") && (l.contains(" = \"") || l.contains("version = \"")))
            .filter(|l| {
                l.split('=').nth(1).is_some_and(|v| {
                    v.trim_start_matches([' ', '"', '{']).starts_with(|c: char| c.is_ascii_digit())
                })
            })
            .collect();
        assert!(own_versions.is_empty(), "{} names versions: {own_versions:?}", manifest.display());
    }
}

/// 400 lines; 600 with a reason in the header, marked "Long:".
#[test]
fn files_stay_short() {
    let mut long = Vec::new();
    for file in sources(&["rs", "wgsl", "cu", "cuh", "h"]) {
        let text = std::fs::read_to_string(&file).unwrap();
        let lines = text.lines().count();
        let reasoned =
            text.lines().take_while(|l| l.starts_with("//") || l.is_empty()).any(|l| l.contains("Long:"));
        if lines > if reasoned { 600 } else { 400 } {
            long.push(format!("{} ({lines} lines)", file.display()));
        }
    }
    assert!(long.is_empty(), "too long: {long:#?}");
}

#[test]
fn unsafe_stands_where_it_may() {
    for file in sources(&["rs"]) {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
        let uses = text.lines().any(|l| {
            let code = l.split("//").next().unwrap_or("");
            ["unsafe {", "unsafe fn", "unsafe impl", "unsafe trait", "unsafe extern"]
                .iter()
                .any(|u| code.contains(u))
        });
        let exempt = name == "tests/tests/architecture.rs" || UNSAFE_FILES.contains(&name.as_str());
        assert!(!uses || exempt, "{name} contains unsafe code");
    }
}

/// Libraries take configuration as values; the environment is read in the command line alone.
#[test]
fn libraries_do_not_read_the_environment() {
    for file in sources(&["rs"]) {
        let name = file.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
        let library = ["core/src", "backend-", "filecoin/src", "engine/src", "server/src", "shaders/src"]
            .iter()
            .any(|p| name.starts_with(p) && !name.contains("/tests/"));
        if library {
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(!text.contains("env::var"), "{name} reads the environment");
        }
    }
}

/// A clone is complete, small, and speaks of itself alone.
#[test]
fn tracked_files_are_small() {
    let listed = std::process::Command::new("git").args(["ls-files"]).current_dir(root()).output().unwrap();
    for line in String::from_utf8(listed.stdout).unwrap().lines() {
        if let Ok(meta) = std::fs::metadata(root().join(line)) {
            assert!(meta.len() <= 5_000_000, "{line} has {} bytes", meta.len());
        }
    }
}

/// What a document points at exists.
#[test]
fn links_in_documents_resolve() {
    for file in sources(&["md"]) {
        let text = std::fs::read_to_string(&file).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = link.split('#').next().unwrap_or("");
            if path.is_empty() || path.contains("://") || path.starts_with("mailto:") {
                continue;
            }
            let target = file.parent().unwrap().join(path);
            assert!(target.exists(), "{} points at {link}, which does not exist", file.display());
        }
    }
}
