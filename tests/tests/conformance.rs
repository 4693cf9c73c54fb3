//! The conformance suite over the backends that need no hardware.

use cuzk_core::backend::cpu::CpuBackend;
use cuzk_core::backend::dual::DualBackend;
use cuzk_core::backend::naive::NaiveBackend;
use cuzk_core::backend::{OpenOptions, Result};
use cuzk_core::conformance::Limits;

fn cpu_beside_naive(options: &OpenOptions) -> Result<DualBackend<CpuBackend, NaiveBackend>> {
    Ok(DualBackend::new(CpuBackend::open(options)?, NaiveBackend::open(options)?))
}

cuzk_core::conformance!(cpu, Limits::default(), CpuBackend::open);
cuzk_core::conformance!(naive, Limits::SMALL, NaiveBackend::open);
cuzk_core::conformance!(dual_cpu_naive, Limits::SMALL, cpu_beside_naive);
cuzk_core::conformance!(
    #[ignore = "minutes of work: the heavy lane runs it"]
    cpu_large,
    Limits::LARGE,
    CpuBackend::open
);
