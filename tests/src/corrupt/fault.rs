//! Which result goes wrong, and how.

/// The operations of a backend. MSMs in the two groups are two: kernels are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// `ntt`
    Ntt,
    /// `pointwise`
    Pointwise,
    /// `spmv`
    Spmv,
    /// `classify`
    Classify,
    /// `expand`
    Expand,
    /// `msm` in G1
    MsmG1,
    /// `msm` in G2
    MsmG2,
    /// `fixed_base`
    FixedBase,
    /// `check_points`
    CheckPoints,
    /// `convert_points`
    ConvertPoints,
    /// `quotient`
    Quotient,
    /// `witness_msms`
    WitnessMsms,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Ntt,
        Self::Pointwise,
        Self::Spmv,
        Self::Classify,
        Self::Expand,
        Self::MsmG1,
        Self::MsmG2,
        Self::FixedBase,
        Self::CheckPoints,
        Self::ConvertPoints,
        Self::Quotient,
        Self::WitnessMsms,
    ];

    /// The name of the backend's method, of the conformance group, and in `dual`'s errors.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ntt => "ntt",
            Self::Pointwise => "pointwise",
            Self::Spmv => "spmv",
            Self::Classify => "classify",
            Self::Expand => "expand",
            Self::MsmG1 | Self::MsmG2 => "msm",
            Self::FixedBase => "fixed_base",
            Self::CheckPoints => "check_points",
            Self::ConvertPoints => "convert_points",
            Self::Quotient => "quotient",
            Self::WitnessMsms => "witness_msms",
        }
    }

    /// The ways in which its result can go wrong.
    pub fn kinds(self) -> &'static [Kind] {
        use Kind::{DroppedBucket, Limb, Order, Sign, Stale};
        match self {
            Self::Ntt | Self::Pointwise | Self::Expand | Self::FixedBase | Self::Quotient => {
                &[Limb, Sign, Order, Stale]
            }
            Self::Spmv | Self::ConvertPoints | Self::WitnessMsms => {
                &[Limb, Sign, Order, DroppedBucket, Stale]
            }
            Self::Classify => &[Limb, Order, DroppedBucket, Stale],
            Self::MsmG1 | Self::MsmG2 => &[Limb, Sign, DroppedBucket, Stale],
            Self::CheckPoints => &[Limb, Order, DroppedBucket, Stale],
        }
    }
}

/// How a result goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One bit of one limb of one element; one index of a report.
    Limb,
    /// One element or sum is negated.
    Sign,
    /// Two elements, sums or findings are in each other's place.
    Order,
    /// Something is left out: a term of a sum, an entry's row, a finding, an element in a count.
    DroppedBucket,
    /// The result was not written: what was there before is still there.
    Stale,
}

/// One result of one operation, wrong in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// Whose result.
    pub operation: Operation,
    /// In which way.
    pub kind: Kind,
    /// Only at this call of the operation, counted from 0; at every one if `None`.
    pub call: Option<usize>,
}

impl Fault {
    /// At every call.
    pub fn new(operation: Operation, kind: Kind) -> Self {
        Self { operation, kind, call: None }
    }

    /// At one call only.
    pub fn at_call(self, call: usize) -> Self {
        Self { call: Some(call), ..self }
    }

    /// Every way in which `operation` can go wrong.
    pub fn of(operation: Operation) -> impl Iterator<Item = Self> {
        operation.kinds().iter().map(move |kind| Self::new(operation, *kind))
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} of {:?}", self.kind, self.operation)?;
        self.call.map_or(Ok(()), |call| write!(f, " at call {call}"))
    }
}
