//! The conformance suite over the backends that need no hardware.

use cuzk_core::backend::dual::DualBackend;
use cuzk_core::backend::naive::NaiveBackend;
use cuzk_core::conformance::Limits;

cuzk_core::conformance!(naive, Limits::SMALL, |options| NaiveBackend::open(options));
cuzk_core::conformance!(dual_naive_naive, Limits::SMALL, |options| Ok(DualBackend::new(
    NaiveBackend::open(options)?,
    NaiveBackend::open(options)?
)));
