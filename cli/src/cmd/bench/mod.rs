//! `cuzk bench`: one operation or a whole proof, measured; the result of the warm-up run is checked.
//!
//! Inputs come from a fixed seed, so two runs measure the same work. Times are of whole calls, from the host: enqueue to result.

mod data;
mod field;
mod msm;
mod ntt;
mod prove;
mod spmv;

use std::fmt::Write;
use std::time::{Duration, Instant};

use cuzk_core::backend::{Device, DeviceInfo, DeviceKind, MemoryUse};
use cuzk_core::prover::Choice;
use serde_json::{Map, Value, json};

use crate::args::{Bench, BenchCommon, BenchKind, GroupArg};
use crate::backends::{self, Opening, with_backend};
use crate::cmd::files;
use crate::exit::{Exit, Failure, Result};
use crate::output::Report;
use crate::settings::{self, BackendSettings};
use crate::{Context, progress};

/// What a bench found.
pub(super) struct Measured {
    /// Where it ran.
    pub(super) device: DeviceInfo,
    /// The measured runs.
    pub(super) runs: Vec<Duration>,
    /// Items per run and what an item is: throughput is made from it.
    pub(super) items: (u64, &'static str),
    /// Parameters and whatever else belongs into the result.
    pub(super) facts: Map<String, Value>,
}

/// Measures and reports.
pub fn run(context: &Context, args: &Bench) -> Result<Report> {
    let common = args.common();
    settings::set_threads(&common.compute)?;
    let backend = BackendSettings::new(&common.backend, &common.compute);
    let choice = backends::choose(&context.registry, &backend.name, common.log_n.into())?;
    files::note_choice(context, &backend.name, &choice);
    if backend.several {
        context.output.note("a bench uses one device: the first one named");
    }
    let timing = Timing { context, common };
    let log_n = u32::from(common.log_n);
    // The bench itself counts the inputs that it makes: see `Timing::expect_room`.
    let (name, open) = (choice.backend.as_str(), &backend.open(&choice, 0));
    backends::announce(context, name, open);
    let opening = &Opening { options: open, kernels: context.kernels.as_deref() };
    let measured = match &args.kind {
        BenchKind::Field { .. } => with_backend(name, opening, field::Field { log_n, timing })??,
        BenchKind::Ntt { order, direction, .. } => with_backend(
            name,
            opening,
            ntt::Transform { log_n, order: *order, direction: *direction, timing },
        )??,
        BenchKind::Msm { group, scalars, bases, .. } => {
            let op = msm::Sum { log_n, scalars: *scalars, bases: *bases, timing };
            match group {
                GroupArg::G1 => with_backend(name, opening, msm::Over::<cuzk_core::curve::G1>::new(op))??,
                GroupArg::G2 => with_backend(name, opening, msm::Over::<cuzk_core::curve::G2>::new(op))??,
            }
        }
        BenchKind::Spmv { nnz, scalars, .. } => {
            with_backend(name, opening, spmv::Product { log_n, nnz: *nnz, scalars: *scalars, timing })??
        }
        BenchKind::Prove { witness, scalars, .. } => {
            prove::run(&timing, name, open, log_n, *witness, *scalars)?
        }
    };
    Ok(report(args.name(), common, &choice, measured))
}

/// Runs something as often as asked.
pub(super) struct Timing<'a> {
    pub(super) context: &'a Context,
    pub(super) common: &'a BenchCommon,
}

impl Timing<'_> {
    /// Fails before gigabytes of input are made for what cannot run: bytes that the bench will hold on the host and on the device.
    pub(super) fn expect_room(
        &self,
        info: &DeviceInfo,
        memory: MemoryUse,
        host: u64,
        device: u64,
    ) -> Result<()> {
        settings::within_host_limit(&self.common.compute, &[("inputs", host)])?;
        // A backend of the host has its buffers beside the inputs.
        let needed = if info.kind == DeviceKind::Cpu { host.saturating_add(device) } else { device };
        let available = memory.available();
        if needed <= available {
            return Ok(());
        }
        let message = format!(
            "out of memory on {}: inputs and buffers need {needed} bytes, {available} are available",
            info.name
        );
        Err(Failure::new(Exit::OutOfMemory, message))
    }

    /// The times of `reps` runs; the caller has made one before, to warm up and to check.
    pub(super) fn measure(&self, mut run: impl FnMut() -> Result<()>) -> Result<Vec<Duration>> {
        (0..self.common.reps)
            .map(|_| {
                self.context.go_on()?;
                let start = Instant::now();
                run()?;
                Ok(start.elapsed())
            })
            .collect()
    }
}

/// The result of a run is not what it must be.
pub(super) fn wrong(op: &str, device: &impl Device) -> Failure {
    Failure::internal(format!("{op}: wrong result on {} ({})", device.info().name, device.info().backend))
}

fn report(command: &str, common: &BenchCommon, choice: &Choice, measured: Measured) -> Report {
    let mut sorted = measured.runs.clone();
    sorted.sort();
    let seconds = |d: Option<&Duration>| d.map_or(0.0, Duration::as_secs_f64);
    let (min, max) = (seconds(sorted.first()), seconds(sorted.last()));
    let median = median(&sorted);
    let (count, unit) = measured.items;
    let rate = if median > 0.0 { count as f64 / median } else { 0.0 };
    let (threads, commit, date) =
        (rayon::current_num_threads(), option_env!("CUZK_COMMIT"), progress::date());

    let mut human = String::new();
    // A string cannot fail to be written to.
    let _ = writeln!(
        human,
        "{command} --log-n {}: median {}, min {}, max {} of {} runs",
        common.log_n,
        show(median),
        show(min),
        show(max),
        common.reps
    );
    let _ = writeln!(human, "  {rate:.4e} {unit}/s; result checked");
    let _ = writeln!(
        human,
        "  {} on {}, {threads} threads, commit {}, {date}",
        choice.backend,
        measured.device.name,
        commit.unwrap_or("unknown")
    );

    let mut fields = Map::new();
    fields.insert("log_n".into(), json!(common.log_n));
    fields.insert("parameters".into(), Value::Object(measured.facts));
    fields.insert("backend".into(), json!({ "name": choice.backend, "reason": choice.reason }));
    fields.insert("device".into(), json!(measured.device));
    fields.insert("threads".into(), json!(threads));
    fields.insert("commit".into(), json!(commit));
    fields.insert("date".into(), json!(date));
    fields.insert("reps".into(), json!(common.reps));
    fields.insert("seconds".into(), json!({ "median": median, "min": min, "max": max }));
    fields.insert("throughput".into(), json!({ "per_second": rate, "unit": unit }));
    fields.insert("checked".into(), json!(true));
    Report { exit: Exit::Ok, human, fields }
}

/// The middle one, or the mean of the two in the middle.
fn median(sorted: &[Duration]) -> f64 {
    let half = sorted.len() / 2;
    let middle = if sorted.len() % 2 == 1 { half..half + 1 } else { half.saturating_sub(1)..half + 1 };
    let middle = sorted.get(middle).unwrap_or_default();
    middle.iter().map(Duration::as_secs_f64).sum::<f64>() / middle.len().max(1) as f64
}

/// "12.3 ms"
pub(super) fn show(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} us", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.3} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        let of = |ms: &[u64]| median(&ms.iter().map(|ms| Duration::from_millis(*ms)).collect::<Vec<_>>());
        assert_eq!(of(&[]), 0.0);
        assert_eq!(of(&[5]), 0.005);
        assert!((of(&[1, 3]) - 0.002).abs() < 1e-12);
        assert_eq!(of(&[1, 2, 50]), 0.002);
    }
}
