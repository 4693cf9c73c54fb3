//! The memory plan: what lies on the device, what is streamed, how many partitions are in flight. Decided once per device and
//! circuit, from what is free, and never guessed again in the middle of a proof.

use crate::backend::{Backend, Device, Quotient};
use crate::circuit::{Matrices, Matrix};
use crate::curve::{G1, G2};
use crate::key::ProvingKey;

/// Bytes of each of the two buffers (encoded and decoded) through which bases are loaded.
pub(super) const CHUNK_BYTES: u64 = 64 << 20;
const SCALAR: u64 = 32;
/// Bytes per base of each query.
const POINT: [u64; 5] = [96, 96, 96, 96, 192];

/// The sizes of a key and its circuit, as far as memory depends on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyShape {
    /// Domain and form.
    pub quotient: Quotient,
    /// m.
    pub variables: u64,
    /// Bases of H, L, A, B in G1, B in G2.
    pub bases: [u64; 5],
    /// Bytes of the matrices A and B with their dictionary.
    pub matrices: u64,
}

impl KeyShape {
    /// Of a key and the circuit it was made for.
    pub fn new(key: &ProvingKey, matrices: &Matrices) -> Self {
        let bases =
            [key.h.len(), key.l.points.len(), key.a.points.len(), key.b1.points.len(), key.b2.points.len()];
        let dictionary = matrices.dictionary.len() as u64 * SCALAR;
        Self {
            quotient: key.quotient,
            variables: key.variables() as u64,
            bases: bases.map(|n| n as u64),
            matrices: matrix_bytes(&matrices.a) + matrix_bytes(&matrices.b) + dictionary,
        }
    }

    fn query_bytes(&self, i: usize) -> u64 {
        self.bases[i] * POINT[i]
    }

    fn halved(self) -> Option<Self> {
        let log_n = self.quotient.log_n.checked_sub(1)?;
        Some(Self {
            quotient: Quotient { log_n, ..self.quotient },
            variables: self.variables.div_ceil(2),
            bases: self.bases.map(|n| n.div_ceil(2)),
            matrices: self.matrices.div_ceil(2),
        })
    }
}

fn matrix_bytes(matrix: &Matrix) -> u64 {
    let block = |b: &crate::circuit::Block| {
        let code = if matches!(b.codes, crate::circuit::Codes::Narrow(_)) { 2 } else { 4 };
        b.row_ptr.len() as u64 * 4 + b.cols.len() as u64 * (4 + code)
    };
    matrix.blocks.iter().map(block).sum()
}

/// Where the bases of one query are during a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// On the device, converted once.
    Resident,
    /// On the host as the file holds them, sent at every proof.
    Streamed,
}

/// A line of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Item {
    /// What it is.
    pub label: &'static str,
    /// How much of the device it takes.
    pub bytes: u64,
}

/// What the caller insists on; the default leaves everything to the planner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanRequest {
    /// All queries here or there.
    pub bases: Option<Placement>,
    /// Partitions on the device at a time, 1 or 2.
    pub in_flight: Option<usize>,
}

/// A plan that fits.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Plan {
    /// Everything that takes device memory.
    pub items: Vec<Item>,
    /// Placement of H, L, A, B in G1, B in G2.
    pub bases: [Placement; 5],
    /// Partitions whose witness is on the device at a time: 2 overlap upload and computation.
    pub in_flight: usize,
    /// What the device had to give, in bytes.
    pub available: u64,
}

/// Names of the queries, in the order of [`Plan::bases`].
pub(super) const QUERIES: [&str; 5] = ["H query", "L query", "A query", "B query in G1", "B query in G2"];

/// What is on the device only while a proof is made.
const WORKING: [&str; 5] = ["witness", "packed witness", "quotient", "classes", "msm"];

/// The device cannot hold what the plan asks for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "does not fit the device: {sum}, {available} bytes are available; the largest plan that would fit: {largest}"
)]
pub struct PlanError {
    /// The items and their sum, in bytes.
    pub sum: String,
    /// What the device has to give.
    pub available: u64,
    /// What would fit.
    pub largest: String,
}

impl Plan {
    /// The plan that streams least, and among those the one that overlaps most, within what the device has to give now.
    pub fn new<B: Backend>(backend: &B, shape: &KeyShape, request: PlanRequest) -> Result<Self, PlanError> {
        Self::beside(backend, shape, request, 0)
    }

    /// The same, leaving `reserved` bytes to others that do not use them now.
    pub(super) fn beside<B: Backend>(
        backend: &B,
        shape: &KeyShape,
        request: PlanRequest,
        reserved: u64,
    ) -> Result<Self, PlanError> {
        let available = backend.device().memory().available().saturating_sub(reserved);
        let scratch = |shape: &KeyShape| MsmMemory::of(backend, shape);
        Planner { available, scratch: &scratch }.plan(shape, request)
    }

    /// Bytes in all.
    pub fn total(&self) -> u64 {
        self.items.iter().map(|item| item.bytes).sum()
    }

    /// Bytes that are taken only while a proof is made.
    pub fn working(&self) -> u64 {
        self.items.iter().filter(|item| WORKING.contains(&item.label)).map(|item| item.bytes).sum()
    }

    /// "a 1 + b 2 = 3 bytes"
    pub fn sum(&self) -> String {
        let terms: Vec<String> = self.items.iter().map(|i| format!("{} {}", i.label, i.bytes)).collect();
        format!("{} = {} bytes", terms.join(" + "), self.total())
    }

    /// In words: what is resident, what is streamed, how many partitions are in flight.
    pub fn describe(&self) -> String {
        let streamed: Vec<&str> =
            (0..5).filter(|&i| self.bases[i] == Placement::Streamed).map(|i| QUERIES[i]).collect();
        let bases = match streamed.len() {
            0 => "all bases resident".to_string(),
            5 => "all bases streamed".to_string(),
            _ => format!("{} streamed, the other bases resident", streamed.join(", ")),
        };
        format!("{bases}, {} in flight, {} bytes", self.in_flight, self.total())
    }

    fn with(
        shape: &KeyShape,
        msm: &MsmMemory,
        available: u64,
        bases: [Placement; 5],
        in_flight: usize,
    ) -> Self {
        let n = 1u64 << shape.quotient.log_n;
        let m = shape.variables;
        let resident = |i: &usize| bases[*i] == Placement::Resident;
        let msm = (0..5).map(|i| if resident(&i) { msm.resident[i] } else { msm.streamed[i] }).max();
        // Items of a proof under way, and before them those of a loaded key.
        let working = [
            SCALAR * m * in_flight as u64,
            // A packed witness next to its dense form; it is packed only where that is at most a quarter.
            SCALAR * m / 4,
            3 * SCALAR * n,
            m + 16,
            msm.unwrap_or(0),
        ];
        let working: [Item; 5] = std::array::from_fn(|i| Item { label: WORKING[i], bytes: working[i] });
        let mut items = vec![
            Item { label: "matrices", bytes: shape.matrices },
            // Which variable each base belongs to; the two lists of B are one where they are the same.
            Item { label: "variables", bytes: 4 * shape.bases[1..].iter().sum::<u64>() },
        ];
        items
            .extend((0..5).filter(resident).map(|i| Item { label: QUERIES[i], bytes: shape.query_bytes(i) }));
        items.extend(working);
        // A key is loaded in the space that its proofs will take, as far as that goes.
        let chunk = (0..5).filter(resident).map(|i| shape.query_bytes(i).min(CHUNK_BYTES)).max().unwrap_or(0);
        let space = working.iter().map(|item| item.bytes).sum();
        items.push(Item { label: "loading", bytes: (2 * chunk).saturating_sub(space) });
        Self { items, bases, in_flight, available }
    }

    fn streamed_bytes(&self, shape: &KeyShape) -> u64 {
        (0..5).filter(|&i| self.bases[i] == Placement::Streamed).map(|i| shape.query_bytes(i)).sum()
    }
}

/// What a backend's multi-scalar multiplications take for each query.
struct MsmMemory {
    resident: [u64; 5],
    streamed: [u64; 5],
}

impl MsmMemory {
    fn of<B: Backend>(backend: &B, shape: &KeyShape) -> Self {
        let of = |streamed| {
            std::array::from_fn(|i| match i {
                4 => backend.msm_memory::<G2>(shape.bases[i] as usize, streamed),
                _ => backend.msm_memory::<G1>(shape.bases[i] as usize, streamed),
            })
        };
        Self { resident: of(false), streamed: of(true) }
    }
}

/// The search for a plan within `available` bytes.
struct Planner<'a> {
    available: u64,
    scratch: &'a dyn Fn(&KeyShape) -> MsmMemory,
}

impl Planner<'_> {
    fn plan(&self, shape: &KeyShape, request: PlanRequest) -> Result<Plan, PlanError> {
        self.best(shape, request).ok_or_else(|| {
            let largest = match self.best(shape, PlanRequest::default()) {
                Some(plan) => plan.describe(),
                None => self.largest_domain(shape),
            };
            // The smallest of the admitted plans: what cannot be had for less.
            let smallest = self.candidates(shape, request).into_iter().min_by_key(Plan::total);
            let sum = smallest.map_or_else(|| "no such plan".into(), |plan| plan.sum());
            PlanError { sum, available: self.available, largest }
        })
    }

    /// All plans that the request admits: each query here or there, one or two partitions.
    fn candidates(&self, shape: &KeyShape, request: PlanRequest) -> Vec<Plan> {
        let msm = (self.scratch)(shape);
        let mut plans = Vec::new();
        for mask in 0..32u32 {
            let placement =
                |i: usize| if mask >> i & 1 == 1 { Placement::Streamed } else { Placement::Resident };
            let bases: [Placement; 5] = std::array::from_fn(placement);
            if !request.bases.is_none_or(|wanted| bases.iter().all(|b| *b == wanted)) {
                continue;
            }
            for in_flight in [2, 1].into_iter().filter(|f| request.in_flight.is_none_or(|w| w == *f)) {
                plans.push(Plan::with(shape, &msm, self.available, bases, in_flight));
            }
        }
        plans
    }

    fn best(&self, shape: &KeyShape, request: PlanRequest) -> Option<Plan> {
        let fitting =
            self.candidates(shape, request).into_iter().filter(|plan| plan.total() <= self.available);
        fitting.min_by_key(|plan| (plan.streamed_bytes(shape), std::cmp::Reverse(plan.in_flight)))
    }

    /// For a device that cannot hold this circuit at all: the size of circuit it could.
    fn largest_domain(&self, shape: &KeyShape) -> String {
        let smaller = std::iter::successors(shape.halved(), |s| s.halved());
        let fitting = smaller
            .filter_map(|s| self.best(&s, PlanRequest::default()).map(|plan| (s.quotient.log_n, plan)))
            .next();
        match fitting {
            Some((log_n, plan)) => format!("a like circuit of domain 2^{log_n}, {}", plan.describe()),
            None => "none for any circuit".to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::QuotientForm;
    use crate::curve::Root;

    fn shape(log_n: u32) -> KeyShape {
        let n = 1u64 << log_n;
        KeyShape {
            quotient: Quotient { log_n, root: Root::Seven, form: QuotientForm::Monomial },
            variables: n,
            bases: [n - 1, n, n, n / 4, n / 4],
            matrices: 20 * n,
        }
    }

    fn plan(shape: &KeyShape, available: u64, request: PlanRequest) -> Result<Plan, PlanError> {
        let scratch = |s: &KeyShape| MsmMemory {
            resident: s.bases.map(|n| 16 * n),
            streamed: s.bases.map(|n| (16 * n).min(64 << 20)),
        };
        Planner { available, scratch: &scratch }.plan(shape, request)
    }

    #[test]
    fn everything_resident_where_there_is_room() {
        let plan = plan(&shape(20), 1 << 40, PlanRequest::default()).unwrap();
        assert_eq!(plan.bases, [Placement::Resident; 5]);
        assert_eq!(plan.in_flight, 2);
        assert_eq!(plan.items.iter().map(|i| i.bytes).sum::<u64>(), plan.total());
        assert!(plan.sum().ends_with(&format!("= {} bytes", plan.total())));
    }

    #[test]
    fn streams_as_little_as_the_room_asks_for() {
        let full = plan(&shape(24), 1 << 40, PlanRequest::default()).unwrap().total();
        let mut streamed = 0;
        for percent in (1..=100).rev() {
            let available = full / 100 * percent;
            let Ok(found) = plan(&shape(24), available, PlanRequest::default()) else { break };
            assert!(found.total() <= available);
            let now = found.streamed_bytes(&shape(24));
            assert!(now >= streamed, "less room must not stream less: {percent} %");
            streamed = now;
        }
        assert!(streamed > 0, "nothing was ever streamed");
    }

    #[test]
    fn refusals_hold_the_sum_and_what_would_fit() {
        let error = plan(&shape(24), 1 << 30, PlanRequest::default()).unwrap_err();
        assert!(error.sum.contains("quotient") && error.available == 1 << 30);
        assert!(error.largest.contains("domain 2^2"), "{error}");
        let resident = PlanRequest { bases: Some(Placement::Resident), in_flight: None };
        let error = plan(&shape(24), 4 << 30, resident).unwrap_err();
        assert!(error.largest.contains("streamed"), "{error}");
    }
}
