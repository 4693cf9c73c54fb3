//! The conformance suite: what every backend must pass, as one macro.
//!
//! ```ignore
//! use cuzk_core::conformance::Limits;
//! cuzk_core::conformance!(mine, Limits::default(), MyBackend::open);
//! ```
//!
//! makes one test for each case, `mine::ntt::holds_by_the_definition` and so on: a group of cases for each operation of
//! [`Backend`], named after it, and groups for transfers, memory, streams and the device's life.
//!
//! Results are checked against definitions, not against another implementation: transforms and quotients as polynomial identities
//! at a random point, sums of points through known discrete logarithms, everything else element by element. Output buffers hold garbage
//! before they are written, so that a result of an earlier operation is never taken for one of this. Random values come from a
//! fixed seed, which a failure names.

pub mod check_points;
pub mod classify;
pub mod convert_points;
pub mod expand;
pub mod fixed_base;
pub mod life;
pub mod memory;
pub mod msm;
pub mod ntt;
pub mod pointwise;
pub mod quotient;
pub mod spmv;
pub mod streams;
pub mod transfers;
pub mod witness_msms;

mod rig;
mod values;

use crate::backend::{Backend, BackendError, OpenOptions, Result};

pub use values::SEED;

/// How far the sizes go: what a backend can do in a second or so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// log2 of the longest transform and of the largest domain of a quotient.
    pub log_n: u32,
    /// Most points in a sum in G1; in G2 a quarter.
    pub points: usize,
    /// Most elements elsewhere.
    pub elements: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { log_n: 13, points: 4200, elements: 20_000 }
    }
}

impl Limits {
    /// For backends that take quadratic time.
    pub const SMALL: Self = Self { log_n: 7, points: 33, elements: 300 };
    /// For devices whose kernels change shape only with size.
    pub const LARGE: Self = Self { log_n: 20, points: 140_000, elements: 1_100_000 };
}

/// What did not hold.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Failure(String);

impl From<BackendError> for Failure {
    fn from(error: BackendError) -> Self {
        Self(format!("unexpected error: {error}"))
    }
}

/// The outcome of a case.
pub type Outcome = Result<(), Failure>;

type Open<B> = Box<dyn Fn(&OpenOptions) -> Result<B> + Send + Sync>;

/// A backend to be examined.
pub struct Subject<B: Backend> {
    open: Open<B>,
    limits: Limits,
}

impl<B: Backend> Subject<B> {
    /// `open` is called afresh by every case, by some with options of their own.
    pub fn new(limits: Limits, open: impl Fn(&OpenOptions) -> Result<B> + Send + Sync + 'static) -> Self {
        Self { open: Box::new(open), limits }
    }
}

/// One case of the suite.
pub struct Case<B: Backend> {
    /// The operation, or "transfers", "memory", "streams", "life".
    pub group: &'static str,
    /// What must hold.
    pub name: &'static str,
    /// Examines it.
    pub run: fn(&Subject<B>) -> Outcome,
}

/// The suite as data, for who wants to choose.
pub fn cases<B: Backend>() -> Vec<Case<B>> {
    macro_rules! list {
        (() $($group:ident { $($case:ident)* })*) => {
            vec![$($(
                Case { group: stringify!($group), name: stringify!($case), run: $group::$case::<B> },
            )*)*]
        };
    }
    crate::__conformance_cases!([list]())
}

/// Runs one case for the macro: the message of its panic-free failure, with the seed.
pub fn examine<B: Backend>(
    name: &str,
    case: fn(&Subject<B>) -> Outcome,
    limits: Limits,
    open: impl Fn(&OpenOptions) -> Result<B> + Send + Sync + 'static,
) -> Result<(), String> {
    case(&Subject::new(limits, open)).map_err(|failure| format!("{name}: {failure} (seed {SEED:#x})"))
}

/// One test for each case of the suite, in a module of the given name: see [`conformance`](mod@crate::conformance). Attributes in front
/// of the name, such as `#[ignore = "reason"]`, go to every test.
#[macro_export]
macro_rules! conformance {
    ($(#[$($attribute:tt)*])* $name:ident, $limits:expr, $open:expr $(,)?) => {
        mod $name {
            #[allow(unused_imports, reason = "what the expressions need")]
            use super::*;
            $crate::__conformance_cases!([$crate::__conformance_tests]([$(#[$($attribute)*])*], $limits, $open));
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_tests {
    ($arguments:tt $($group:ident { $($case:ident)* })*) => {$(
        mod $group {
            #[allow(unused_imports, reason = "what the expressions need")]
            use super::*;
            $($crate::__conformance_test!($arguments $group $case);)*
        }
    )*};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_test {
    (([$($attributes:tt)*], $limits:expr, $open:expr) $group:ident $case:ident) => {
        $($attributes)*
        #[test]
        fn $case() {
            let name = concat!(stringify!($group), "::", stringify!($case));
            let case = $crate::conformance::$group::$case;
            if let Err(message) = $crate::conformance::examine(name, case, $limits, $open) {
                panic!("{message}");
            }
        }
    };
}

/// The list of all cases, handed to another macro.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_cases {
    ([$($then:tt)*] $arguments:tt) => {
        $($then)*! { $arguments
            ntt {
                matches_the_naive_sum
                holds_in_every_order_direction_coset_and_root
                round_trips
                refuses_wrong_lengths
            }
            pointwise {
                add_and_subtract
                multiply
                multiply_and_subtract
                half_difference
                scale_and_powers
                invert
                convert_scalars
                refuses_wrong_lengths
            }
            spmv {
                rows_of_every_length
                repeated_blocks_with_shifts
                wide_dictionaries
                empty_matrices
                refuses_wrong_lengths
            }
            classify {
                borders_of_the_classes
                lengths_and_counts
            }
            expand {
                dense_bits
                lanes
                refuses_wrong_lengths
            }
            msm {
                sizes_in_g1
                sizes_in_g2
                scalars_in_g1
                scalars_in_g2
                points_in_g1
                points_in_g2
                picks_scalars_by_index
                streams_bases_of_both_encodings
                results_wait_in_any_order
                refuses_wrong_lengths
            }
            fixed_base {
                multiplies_in_g1
                multiplies_in_g2
                refuses_wrong_lengths
            }
            check_points {
                good_points_in_g1
                good_points_in_g2
                finds_the_first_bad_point_in_g1
                finds_the_first_bad_point_in_g2
            }
            convert_points {
                both_encodings_in_g1
                both_encodings_in_g2
                reports_malformed_points_in_g1
                reports_malformed_points_in_g2
                refuses_wrong_lengths
            }
            quotient {
                monomial
                odd_coset
                refuses_wrong_lengths
            }
            witness_msms {
                sums_over_the_witness
                streamed_bases
                refuses_wrong_lengths
            }
            transfers {
                at_offsets
                pinned_both_ways
                registered_pages
                copy_and_clear
                nothing_outside_a_buffer
            }
            memory {
                is_counted
                is_limited
                keeps_a_margin
            }
            streams {
                events_order_them
                work_from_two_threads
                buffers_dropped_while_in_use
            }
            life {
                says_what_it_is
                refuses_devices_that_are_not_there
                reopens
            }
        }
    };
}
