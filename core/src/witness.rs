//! Witnesses, dense and packed. z = [1, public inputs, auxiliary]; canonical only in files, Montgomery in memory.

use std::sync::Arc;

use ff::Field;

use crate::curve::Scalar;

/// A full assignment of a circuit's variables.
#[derive(Clone)]
pub enum Witness {
    /// All m field elements.
    Dense(Arc<Vec<Scalar>>),
    /// One bit for every variable of a bit set, and the others.
    Packed(Arc<PackedWitness>),
}

/// A witness whose bits travel as bits: 71 MB instead of 4.2 GB for a 32 GiB PoRep partition.
#[derive(Clone, PartialEq)]
pub struct PackedWitness {
    /// m.
    pub len: usize,
    /// Which variables are in the bit set; shared, for a set proved once from the circuit serves every witness.
    pub set: Arc<BitSet>,
    /// Values of the set's variables.
    pub bits: WitnessBits,
    /// The other variables, ascending.
    pub rest: Vec<Scalar>,
}

/// Values of a bit set's variables.
#[derive(Clone, PartialEq)]
pub enum WitnessBits {
    /// Bit i of the set, in ascending order of variables, is bit i % 64 of word i / 64.
    Dense(Vec<u64>),
    /// Word i holds the bit of the set's i-th variable for up to 64 instances; this one is `lane`.
    Lanes {
        /// One word per variable of the set, shared by the instances.
        words: Arc<Vec<u64>>,
        /// 0 to 63.
        lane: u32,
    },
}

/// A set of variables as a bitmap with ranks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BitSet {
    /// Bit v says whether variable v is a member.
    pub map: Vec<u64>,
    /// ranks\[w\] = members below variable 64 w.
    pub ranks: Vec<u32>,
    /// Members in all.
    pub members: usize,
}

impl BitSet {
    /// From a bitmap.
    pub fn new(map: Vec<u64>) -> Self {
        let mut members = 0u32;
        let ranks = map
            .iter()
            .map(|word| {
                let rank = members;
                members += word.count_ones();
                rank
            })
            .collect();
        Self { map, ranks, members: members as usize }
    }

    /// Whether variable `v` is a member.
    pub fn contains(&self, v: usize) -> bool {
        self.map.get(v / 64).is_some_and(|word| word >> (v % 64) & 1 == 1)
    }
}

impl Witness {
    /// From field elements.
    pub fn dense(z: Vec<Scalar>) -> Self {
        Self::Dense(Arc::new(z))
    }

    /// m.
    pub fn len(&self) -> usize {
        match self {
            Witness::Dense(z) => z.len(),
            Witness::Packed(p) => p.len,
        }
    }

    /// Whether there is nothing, not even the constant 1.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first `inputs` values: the constant 1 and the public inputs.
    pub fn inputs(&self, inputs: usize) -> Vec<Scalar> {
        match self {
            Witness::Dense(z) => z[..inputs.min(z.len())].to_vec(),
            Witness::Packed(p) => p.expand_prefix(inputs.min(p.len)),
        }
    }

    /// The smaller of the two forms, as it should travel to a device.
    pub fn smaller(self) -> Self {
        match self {
            Witness::Dense(z) => {
                let packed = PackedWitness::from_dense(&z);
                if packed.bytes() < z.len() * 32 {
                    Witness::Packed(Arc::new(packed))
                } else {
                    Witness::Dense(z)
                }
            }
            packed => packed,
        }
    }
}

impl PackedWitness {
    /// Reads the bit set off a dense witness: every variable that is 0 or 1 here.
    pub fn from_dense(z: &[Scalar]) -> Self {
        let is_bit = |v: &Scalar| bool::from(v.is_zero()) || *v == Scalar::ONE;
        let map = z
            .chunks(64)
            .map(|chunk| chunk.iter().enumerate().fold(0u64, |w, (i, v)| w | u64::from(is_bit(v)) << i))
            .collect();
        let set = BitSet::new(map);
        let mut bits = vec![0u64; set.members.div_ceil(64)];
        let mut rest = Vec::with_capacity(z.len() - set.members);
        let mut member = 0;
        for (v, value) in z.iter().enumerate() {
            if set.contains(v) {
                bits[member / 64] |= u64::from(*value == Scalar::ONE) << (member % 64);
                member += 1;
            } else {
                rest.push(*value);
            }
        }
        Self { len: z.len(), set: Arc::new(set), bits: WitnessBits::Dense(bits), rest }
    }

    /// The dense form.
    pub fn to_dense(&self) -> Vec<Scalar> {
        self.expand_prefix(self.len)
    }

    /// Bytes that travel: bitmap, bits and the rest.
    pub fn bytes(&self) -> usize {
        let bits = match &self.bits {
            WitnessBits::Dense(words) => words.len(),
            WitnessBits::Lanes { words, .. } => words.len(),
        };
        (self.set.map.len() + bits) * 8 + self.set.ranks.len() * 4 + self.rest.len() * 32
    }

    /// Value of the set's `i`-th variable.
    fn bit(&self, i: usize) -> bool {
        match &self.bits {
            WitnessBits::Dense(words) => words[i / 64] >> (i % 64) & 1 == 1,
            WitnessBits::Lanes { words, lane } => words[i] >> lane & 1 == 1,
        }
    }

    fn expand_prefix(&self, until: usize) -> Vec<Scalar> {
        let (mut member, mut other) = (0, 0);
        (0..until)
            .map(|v| {
                if self.set.contains(v) {
                    member += 1;
                    if self.bit(member - 1) { Scalar::ONE } else { Scalar::ZERO }
                } else {
                    other += 1;
                    self.rest[other - 1]
                }
            })
            .collect()
    }
}

/// Witness values never reach a log: only the shape is shown.
impl std::fmt::Debug for Witness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let form = if matches!(self, Witness::Dense(_)) { "Dense" } else { "Packed" };
        write!(f, "Witness::{form}({} values)", self.len())
    }
}

impl std::fmt::Debug for PackedWitness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PackedWitness({} values, {} bits)", self.len, self.set.members)
    }
}
