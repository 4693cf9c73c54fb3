//! Shows that the conformance suite notices: with any result of any operation spoilt, a case of that operation's group fails.

use cuzk_core::backend::dual::DualBackend;
use cuzk_core::backend::{Backend, OpenOptions, Result};
use cuzk_core::conformance::{Case, Limits, Subject, cases};

use crate::corrupt::{Corrupt, Fault, Kind, Operation, Witness};

/// Opens the backend to be corrupted.
pub type Open<B> = fn(&OpenOptions) -> Result<B>;

fn group<B: Backend>(operation: Operation) -> Vec<Case<B>> {
    cases::<B>().into_iter().filter(|case| case.group == operation.name()).collect()
}

/// The first case that fails and what it says.
fn first_failure<B: Backend>(cases: &[Case<B>], subject: &Subject<B>) -> Option<(String, String)> {
    cases.iter().find_map(|case| {
        let failure = (case.run)(subject).err()?;
        Some((format!("{}::{}", case.group, case.name), failure.to_string()))
    })
}

/// Without a fault every case must pass, whichever group it is in.
///
/// # Errors
/// The first case that does not.
pub fn passes_when_sound<B: Backend>(open: Open<B>, limits: Limits) -> Result<(), String> {
    let subject = Subject::new(limits, Corrupt::factory(open, None));
    match first_failure(&cases(), &subject) {
        None => Ok(()),
        Some((name, message)) => Err(format!("{name} fails without a fault: {message}")),
    }
}

/// With each fault of `operation` its group must fail, and for no other reason than a spoilt result.
///
/// # Errors
/// The faults that went unnoticed.
pub fn notices<B: Backend>(operation: Operation, open: Open<B>, limits: Limits) -> Result<(), String> {
    let cases = group::<Corrupt<B>>(operation);
    let mut unnoticed = Vec::new();
    for fault in Fault::of(operation) {
        let witness = Witness::default();
        let watch = witness.clone();
        let subject =
            Subject::new(limits, move |options| Ok(Corrupt::watched(open(options)?, Some(fault), &watch)));
        let failure = first_failure(&cases, &subject);
        if failure.is_none() || witness.spoilt() == 0 {
            unnoticed.push(format!("{fault} ({} results spoilt): {failure:?}", witness.spoilt()));
        }
    }
    none(unnoticed)
}

/// A fault at one call only, anywhere among all calls that the group makes, must be noticed too: no result is left unexamined.
///
/// # Errors
/// The calls whose results nobody looked at.
pub fn notices_single_calls<B: Backend>(
    operation: Operation,
    open: Open<B>,
    limits: Limits,
) -> Result<(), String> {
    let cases = group::<Corrupt<B>>(operation);
    let run = |call: usize| {
        let fault = Fault::new(operation, Kind::Limb).at_call(call);
        let witness = Witness::default();
        let watch = witness.clone();
        let subject =
            Subject::new(limits, move |options| Ok(Corrupt::watched(open(options)?, Some(fault), &watch)));
        (first_failure(&cases, &subject), witness)
    };
    let calls = run(usize::MAX).1.calls();
    let mut unnoticed = Vec::new();
    let mut noticed = 0;
    for call in (0..SAMPLES).map(|sample| sample * calls / SAMPLES) {
        match run(call) {
            (Some(_), _) => noticed += 1,
            // An empty result, a clean report, or a sum that nobody waited for.
            (None, witness) if witness.spoilt() == 0 => {}
            (None, _) => unnoticed.push(format!("{operation:?}, call {call} of {calls}")),
        }
    }
    if noticed == 0 {
        unnoticed.push(format!("{operation:?}: none of {SAMPLES} calls of {calls}"));
    }
    none(unnoticed)
}

/// How many calls of an operation are spoilt one at a time: a prime, so that they do not fall into step with the cases' loops.
const SAMPLES: usize = 11;

/// With each fault of `operation` a sound backend beside the corrupted one must disagree by that name.
///
/// # Errors
/// The faults for which it did not.
pub fn disagrees<B: Backend, S: Backend>(
    operation: Operation,
    open: Open<B>,
    sound: Open<S>,
    limits: Limits,
) -> Result<(), String> {
    let cases = group::<DualBackend<Corrupt<B>, S>>(operation);
    let mut unnoticed = Vec::new();
    for fault in Fault::of(operation) {
        let subject = Subject::new(limits, move |options| {
            Ok(DualBackend::new(Corrupt::new(open(options)?, Some(fault)), sound(options)?))
        });
        let failure = first_failure(&cases, &subject);
        let named = failure.as_ref().is_some_and(|(_, message)| {
            message.contains("disagree in") && message.contains(&format!("{}: ", operation.name()))
        });
        if !named {
            unnoticed.push(format!("{fault}: {failure:?}"));
        }
    }
    none(unnoticed)
}

fn none(unnoticed: Vec<String>) -> Result<(), String> {
    if unnoticed.is_empty() { Ok(()) } else { Err(unnoticed.join("\n")) }
}

/// One test for each operation: `mine::ntt`, `mine::msm_g1`, ...
#[macro_export]
macro_rules! bites {
    ($name:ident, $limits:expr, $open:expr $(,)?) => {
        mod $name {
            #[allow(unused_imports, reason = "what the expressions need")]
            use super::*;

            #[test]
            fn passes_when_sound() {
                $crate::bites::passes_when_sound($open, $limits).unwrap();
            }
            $crate::bites!(@ $limits, $open, ntt Ntt, pointwise Pointwise, spmv Spmv, classify Classify, expand Expand,
                msm_g1 MsmG1, msm_g2 MsmG2, fixed_base FixedBase, check_points CheckPoints,
                convert_points ConvertPoints, quotient Quotient, witness_msms WitnessMsms);
        }
    };
    (@ $limits:expr, $open:expr, $($test:ident $operation:ident),*) => {$(
        #[test]
        fn $test() {
            $crate::bites::notices($crate::corrupt::Operation::$operation, $open, $limits).unwrap();
            $crate::bites::notices_single_calls($crate::corrupt::Operation::$operation, $open, $limits).unwrap();
        }
    )*};
}
