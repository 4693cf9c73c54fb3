//! The suite and the prover notice results that are wrong on purpose.

use cuzk_core::backend::cpu::CpuBackend;
use cuzk_core::backend::naive::NaiveBackend;
use cuzk_core::conformance::Limits;
use cuzk_tests::bites::disagrees;
use cuzk_tests::corrupt::Operation;

cuzk_tests::bites!(cpu, Limits::SMALL, CpuBackend::open);

/// `dual` names the operation whose result was spoilt.
#[test]
fn dual_names_the_operation() {
    for operation in Operation::ALL {
        disagrees(operation, CpuBackend::open, NaiveBackend::open, Limits::SMALL).unwrap();
    }
}
