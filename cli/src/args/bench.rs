//! `bench`.

use clap::{Args, Subcommand, ValueEnum};
use cuzk_core::backend::{Direction, Order};

use super::common::{BackendArgs, CacheArgs, ComputeArgs};

/// `bench`.
#[derive(Debug, Args)]
pub struct Bench {
    /// Of what.
    #[command(subcommand)]
    pub kind: BenchKind,
}

impl Bench {
    /// As typed.
    pub fn name(&self) -> &'static str {
        match self.kind {
            BenchKind::Field { .. } => "bench field",
            BenchKind::Ntt { .. } => "bench ntt",
            BenchKind::Msm { .. } => "bench msm",
            BenchKind::Spmv { .. } => "bench spmv",
            BenchKind::Prove { .. } => "bench prove",
        }
    }

    /// What every kind takes.
    pub fn common(&self) -> &BenchCommon {
        match &self.kind {
            BenchKind::Field { common }
            | BenchKind::Ntt { common, .. }
            | BenchKind::Msm { common, .. }
            | BenchKind::Spmv { common, .. }
            | BenchKind::Prove { common, .. } => common,
        }
    }
}

/// What is measured.
#[derive(Debug, Subcommand)]
pub enum BenchKind {
    /// Field multiplications: 2^N products per run
    Field {
        /// Common flags.
        #[command(flatten)]
        common: BenchCommon,
    },
    /// A transform of 2^N elements; checked by its inverse
    Ntt {
        /// Order on each side: n natural, r bit-reversed
        #[arg(long, value_enum, default_value = "nn", env = "CUZK_ORDER")]
        order: OrderArg,
        /// Which way
        #[arg(long, value_enum, default_value = "forward", env = "CUZK_DIRECTION")]
        direction: DirectionArg,
        /// Common flags.
        #[command(flatten)]
        common: BenchCommon,
    },
    /// A multi-scalar multiplication of 2^N points; checked against known discrete logarithms
    Msm {
        /// Group
        #[arg(long, value_enum, default_value = "g1", env = "CUZK_GROUP")]
        group: GroupArg,
        /// Distribution of the scalars
        #[arg(long, value_enum, default_value = "random", env = "CUZK_SCALARS")]
        scalars: ScalarsArg,
        /// Where the points are: on the device, or streamed from the host as a key file holds them
        #[arg(long, value_enum, default_value = "resident", env = "CUZK_BASES")]
        bases: BasesArg,
        /// Common flags.
        #[command(flatten)]
        common: BenchCommon,
    },
    /// A sparse matrix of 2^N rows times a vector; checked against one done by hand
    Spmv {
        /// Entries of the whole matrix [default: 3 per row]
        #[arg(long, value_name = "N", env = "CUZK_NNZ", value_parser = clap::value_parser!(u32).range(1..=1 << 31))]
        nnz: Option<u32>,
        /// Distribution of the vector
        #[arg(long, value_enum, default_value = "random", env = "CUZK_SCALARS")]
        scalars: ScalarsArg,
        /// Common flags.
        #[command(flatten)]
        common: BenchCommon,
    },
    /// A whole proof of a made-up circuit with a domain of 2^N, key resident; every proof is verified
    Prove {
        /// In which form the witness travels
        #[arg(long, value_enum, default_value = "dense", env = "CUZK_WITNESS")]
        witness: WitnessArg,
        /// Distribution of the witness: porep has 98.7 % bits
        #[arg(long, value_enum, default_value = "random", env = "CUZK_SCALARS")]
        scalars: ScalarsArg,
        /// Common flags.
        #[command(flatten)]
        common: BenchCommon,
    },
}

/// What every bench takes.
#[derive(Debug, Clone, Args)]
pub struct BenchCommon {
    /// log2 of the size
    #[arg(long, value_name = "N", env = "CUZK_LOG_N", value_parser = clap::value_parser!(u8).range(0..=31))]
    pub log_n: u8,
    /// Measured runs; one more before them warms up
    #[arg(long, value_name = "N", default_value = "5", env = "CUZK_REPS", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub reps: u16,
    /// Where it runs.
    #[command(flatten)]
    pub backend: BackendArgs,
    /// With what.
    #[command(flatten)]
    pub compute: ComputeArgs,
    /// What is kept.
    #[command(flatten)]
    pub cache: CacheArgs,
}

/// A group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GroupArg {
    /// Over Fp
    G1,
    /// Over Fp2
    G2,
}

/// A distribution of field elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScalarsArg {
    /// Uniform
    Random,
    /// All 0
    Zero,
    /// All 1
    One,
    /// All the same full-size number
    Equal,
    /// 98.7 % bits, the others uniform: a Filecoin PoRep witness
    Porep,
}

/// Orders of a transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OrderArg {
    /// Natural to natural
    Nn,
    /// Natural to bit-reversed
    Nr,
    /// Bit-reversed to natural
    Rn,
}

impl OrderArg {
    /// Order of what comes in and of what goes out.
    pub fn sides(self) -> (Order, Order) {
        match self {
            OrderArg::Nn => (Order::Natural, Order::Natural),
            OrderArg::Nr => (Order::Natural, Order::BitReversed),
            OrderArg::Rn => (Order::BitReversed, Order::Natural),
        }
    }
}

/// Direction of a transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DirectionArg {
    /// Coefficients to evaluations
    Forward,
    /// Evaluations to coefficients
    Inverse,
    /// Forward on a coset
    Coset,
    /// Inverse on a coset
    CosetInverse,
}

impl DirectionArg {
    /// The direction, and whether it is on a coset.
    pub fn parts(self) -> (Direction, bool) {
        match self {
            DirectionArg::Forward => (Direction::Forward, false),
            DirectionArg::Inverse => (Direction::Inverse, false),
            DirectionArg::Coset => (Direction::Forward, true),
            DirectionArg::CosetInverse => (Direction::Inverse, true),
        }
    }
}

/// How a witness travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WitnessArg {
    /// Every variable as a field element
    Dense,
    /// Bits as bits
    Packed,
}

/// Where an MSM's points are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BasesArg {
    /// On the device
    Resident,
    /// On the host
    Streamed,
}
