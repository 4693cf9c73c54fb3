//! `cuzk prove` on a backend with a fault ends in an error and leaves the files as they were.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::path::Path;

use clap::Parser;
use cuzk::args::{Cli, Command, Prove};
use cuzk::exit::Exit;
use cuzk::output::Output;
use cuzk::{Context, cmd};
use cuzk_core::backend::cpu::CpuBackend;
use cuzk_core::backend::{Backend, Device, OpenOptions};
use cuzk_core::progress::CancelToken;
use cuzk_core::prover::Registry;
use cuzk_tests::corrupt::{self, Corrupt, Fault, Kind, Operation};
use cuzk_tests::fixtures;

/// The command line of a proof of `circuit` into `folder`.
fn arguments(circuit: &str, folder: &Path) -> Prove {
    let fixture = fixtures::named(circuit);
    let (key, witness) = (fixture.path("circuit.zkey"), fixture.path("witness_1.wtns"));
    let (proof, public) = (folder.join("proof.json"), folder.join("public.json"));
    let words = ["cuzk".into(), "prove".into(), "circom".into(), key, witness, proof, public];
    let cache = ["--backend".into(), "cpu".into(), "--cache-dir".into(), folder.join("cache")];
    match Cli::try_parse_from(words.into_iter().chain(cache)).unwrap().command {
        Command::Prove(prove) => prove,
        other => panic!("{other:?}"),
    }
}

/// What the binary runs, with a faulty backend in place of the one called cpu.
fn context(fault: Option<Fault>, witness: &corrupt::Witness) -> Context {
    let mut registry = Registry::new();
    let witness = witness.clone();
    registry.register(
        "cpu",
        move |options: &OpenOptions| Ok(Corrupt::watched(CpuBackend::open(options)?, fault, &witness)),
        || Ok(vec![CpuBackend::open(&OpenOptions::default())?.device().info().clone()]),
    );
    Context::new(Output::new(false, true), CancelToken::default(), registry)
}

#[test]
fn no_fault_writes_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let (proof, public) = (folder.path().join("proof.json"), folder.path().join("public.json"));
    let mut noticed = 0;
    for circuit in ["mul3", "sort16"] {
        let prove = arguments(circuit, folder.path());
        // What is there before must be there afterwards.
        std::fs::write(&proof, "before").unwrap();
        for fault in Operation::ALL.into_iter().flat_map(Fault::of) {
            let witness = corrupt::Witness::default();
            let outcome = cmd::prove::run(&context(Some(fault), &witness), &prove);
            let untouched = std::fs::read(&proof).unwrap() == b"before" && !public.exists();
            match outcome {
                Err(failure) => {
                    assert!(witness.spoilt() > 0, "{fault}: {failure}");
                    assert!(untouched, "{fault}: files were written: {failure}");
                    assert_ne!(failure.exit, Exit::Ok);
                    noticed += 1;
                }
                // Nothing was spoilt, or in a way that makes no difference to this proof, which has been verified.
                Ok(_) => {
                    let harmless = [Operation::Classify, Operation::ConvertPoints].contains(&fault.operation);
                    assert!(
                        witness.spoilt() == 0 || harmless,
                        "{fault}: {} results spoilt",
                        witness.spoilt()
                    );
                    assert!(!untouched);
                    std::fs::write(&proof, "before").unwrap();
                    std::fs::remove_file(&public).unwrap();
                }
            }
        }
    }
    assert!(noticed >= 40, "only {noticed} faults were noticed");
}

#[test]
fn a_sound_backend_in_the_same_place_writes_both_files() {
    let folder = tempfile::tempdir().unwrap();
    let report =
        cmd::prove::run(&context(None, &corrupt::Witness::default()), &arguments("mul3", folder.path()))
            .unwrap();
    assert_eq!(report.exit, Exit::Ok);
    assert!(folder.path().join("proof.json").exists() && folder.path().join("public.json").exists());
}

/// The message says what is wrong and the code that the answer is no.
#[test]
fn a_wrong_sum_is_an_invalid_proof() {
    let folder = tempfile::tempdir().unwrap();
    let fault = Fault::new(Operation::MsmG1, Kind::DroppedBucket);
    let context = context(Some(fault), &corrupt::Witness::default());
    let failure = cmd::prove::run(&context, &arguments("mul3", folder.path())).unwrap_err();
    assert_eq!(failure.exit, Exit::Invalid);
    assert!(failure.message.contains("does not verify"), "{failure}");
}
