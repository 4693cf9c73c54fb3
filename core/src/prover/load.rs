//! Keys, matrices and witnesses to the device.

use std::ops::Range;
use std::sync::Arc;

use super::plan::{CHUNK_BYTES, QUERIES};
use super::{Placement, Plan, ProveError};
use crate::backend::{
    Backend, Buffer, Device, DeviceBlock, DeviceCodes, DeviceKey, DeviceKind, DeviceMatrix, DeviceQuery,
    Expand, KeyBases, PackedBits, PointEncoding, PointReport, Result as BackendResult, Stream,
};
use crate::circuit::{Block, Codes, Matrices, Matrix};
use crate::curve::{Curve, G1, Scalar};
use crate::key::{EncodedPoints, Misfit, ProvingKey, Query, Variables, fit_circuit};
use crate::progress::{Control, Stage};
use crate::witness::{PackedWitness, Witness, WitnessBits};

/// Brings a key and its circuit to the device as `plan` says. The key is refused where it does not fit the circuit.
///
/// That the points lie in their subgroups is not checked here: pass a key from a source that is not trusted through
/// [`check_key`](crate::key::check_key) first. Sums of other points with a witness can tell parts of it to whoever made the key.
///
/// Progress is reported as [`Stage::LoadKey`], in points.
pub fn load_key<B: Backend>(
    backend: &B,
    key: &ProvingKey,
    matrices: &Matrices,
    plan: &Plan,
    control: &Control,
) -> Result<DeviceKey<B::Device>, ProveError> {
    fit_circuit(key, matrices)?;
    let total =
        [key.h.len(), key.l.points.len(), key.a.points.len(), key.b1.points.len(), key.b2.points.len()];
    control.stage(Stage::LoadKey, total.iter().sum::<usize>() as u64, || {
        load(backend, key, matrices, plan, control)
    })
}

fn load<B: Backend>(
    backend: &B,
    key: &ProvingKey,
    matrices: &Matrices,
    plan: &Plan,
    control: &Control,
) -> Result<DeviceKey<B::Device>, ProveError> {
    let device = backend.device();
    let stream = device.stream("load key")?;
    let dictionary = Arc::new(device.upload_new(&stream, "dictionary", &matrices.dictionary)?);
    let cols = matrices.variables();
    let a_matrix = matrix::<B>(device, &stream, &matrices.a, cols, &dictionary)?;
    let b_matrix = matrix::<B>(device, &stream, &matrices.b, cols, &dictionary)?;
    let densities = std::cell::LazyCell::new(|| matrices.densities());
    let mut loader = Loader { backend, stream, control, source: &key.source, done: 0 };
    let [h, l, a, b1, b2] = plan.bases;
    let l_variables = key.inputs as u32..cols as u32;
    let h = loader.points::<G1>(0, &key.h, h, None)?;
    let (l, _) = loader.query(1, &key.l, l, || l_variables.collect(), None)?;
    let (a, _) = loader.query(2, &key.a, a, || densities.a.clone(), None)?;
    let (b1, shared) = loader.query(3, &key.b1, b1, || densities.b.clone(), None)?;
    let (b2, _) = loader.query(4, &key.b2, b2, || densities.b.clone(), Some(&shared))?;
    device.finish(&loader.stream)?;
    Ok(DeviceKey { quotient: key.quotient, variables: cols, a_matrix, b_matrix, h, l, a, b1, b2 })
}

fn matrix<B: Backend>(
    device: &B::Device,
    stream: &Stream<B>,
    matrix: &Matrix,
    cols: usize,
    dictionary: &Arc<Buffer<B, Scalar>>,
) -> BackendResult<DeviceMatrix<B::Device>> {
    let blocks = matrix.blocks.iter().map(|b| block::<B>(device, stream, b)).collect::<BackendResult<_>>()?;
    Ok(DeviceMatrix { rows: matrix.rows(), cols, dictionary: dictionary.clone(), blocks })
}

fn block<B: Backend>(
    device: &B::Device,
    stream: &Stream<B>,
    block: &Block,
) -> BackendResult<DeviceBlock<B::Device>> {
    let codes = match &block.codes {
        Codes::Narrow(codes) => DeviceCodes::Narrow(device.upload_new(stream, "codes", codes)?.into()),
        Codes::Wide(codes) => DeviceCodes::Wide(device.upload_new(stream, "codes", codes)?.into()),
    };
    Ok(DeviceBlock {
        rows: block.rows(),
        repeat: block.repeat,
        shifts: block.shifts.clone(),
        row_ptr: device.upload_new(stream, "row pointers", &block.row_ptr)?.into(),
        cols: device.upload_new(stream, "columns", &block.cols)?.into(),
        codes,
    })
}

/// A list of variables on the host and on the device, for the query that may share it.
type VariableList<B> = (Vec<u32>, Arc<Buffer<B, u32>>);
type QueryAndList<B, C> = (DeviceQuery<<B as Backend>::Device, C>, VariableList<B>);

struct Loader<'a, B: Backend> {
    backend: &'a B,
    stream: Stream<B>,
    control: &'a Control,
    source: &'a str,
    done: u64,
}

impl<B: Backend> Loader<'_, B> {
    /// A query with the variables of its bases. Identities of a resident query of a `.zkey`, or of a key exported from one, are left out: they are half of it for common
    /// circuits, take memory and time, and add nothing.
    fn query<C: Curve>(
        &mut self,
        index: usize,
        query: &Query<C>,
        placement: Placement,
        from_density: impl FnOnce() -> Vec<u32>,
        shared: Option<&VariableList<B>>,
    ) -> Result<QueryAndList<B, C>, ProveError> {
        let (variables, kept) = match &query.variables {
            Variables::FromDensity => (from_density(), None),
            Variables::Range(range) => match (placement, query.points.encoding()) {
                (Placement::Resident, PointEncoding::Montgomery | PointEncoding::ZcashZeroIdentity) => {
                    let kept = without_identities(&query.points);
                    (kept.iter().map(|i| range.start + i).collect(), Some(kept))
                }
                _ => (range.clone().collect(), None),
            },
        };
        let bases = self.points(index, &query.points, placement, kept.as_deref())?;
        let list = match shared {
            Some((same, buffer)) if *same == variables => (variables, buffer.clone()),
            _ => {
                let buffer = self.backend.device().upload_new(&self.stream, "variables", &variables)?;
                (variables, Arc::new(buffer))
            }
        };
        Ok((DeviceQuery { bases, variables: list.1.clone() }, list))
    }

    /// The points where the plan puts them; `kept` picks some of them.
    fn points<C: Curve>(
        &mut self,
        index: usize,
        points: &EncodedPoints<C>,
        placement: Placement,
        kept: Option<&[u32]>,
    ) -> Result<KeyBases<B::Device, C>, ProveError> {
        if placement == Placement::Streamed {
            return Ok(KeyBases::Streamed(points.clone()));
        }
        let device = self.backend.device();
        let len = kept.map_or(points.len(), <[u32]>::len);
        let chunk = (CHUNK_BYTES as usize / C::BYTES).min(len);
        let mut out = device.alloc::<C::Affine>(QUERIES[index], len)?;
        let mut start = 0;
        while start < len {
            let range = start..(start + chunk).min(len);
            if self.control.cancel.is_cancelled() {
                return Err(ProveError::Cancelled);
            }
            let bytes = match kept {
                None => std::borrow::Cow::Borrowed(points.chunk(range.clone())),
                Some(kept) => gather(points, &kept[range.clone()]).into(),
            };
            let report = self.convert::<C>(&bytes, points.encoding(), range.clone(), &mut out)?;
            self.refuse_bad(index, &report, |i| kept.map_or(start + i, |kept| kept[start + i] as usize))?;
            self.done += range.len() as u64;
            self.control.advance(Stage::LoadKey, self.done);
            start = range.end;
        }
        Ok(KeyBases::Resident(out.into()))
    }

    fn convert<C: Curve>(
        &self,
        bytes: &[u8],
        encoding: PointEncoding,
        range: Range<usize>,
        out: &mut Buffer<B, C::Affine>,
    ) -> BackendResult<PointReport> {
        use crate::backend::DeviceBuffer;
        let device = self.backend.device();
        let encoded = device.upload_new(&self.stream, "encoded points", bytes)?;
        if range.len() == out.len() {
            return self.backend.convert_points::<C>(&self.stream, &encoded, encoding, out)?.wait();
        }
        let mut decoded = device.alloc::<C::Affine>("decoded points", range.len())?;
        let report = self.backend.convert_points::<C>(&self.stream, &encoded, encoding, &mut decoded)?;
        device.copy(&self.stream, &decoded, 0..range.len(), out, range.start)?;
        report.wait()
    }

    fn refuse_bad(
        &self,
        query: usize,
        report: &PointReport,
        index: impl Fn(usize) -> usize,
    ) -> Result<(), ProveError> {
        let bad = [
            (
                report.malformed,
                "not a point: a coordinate is not below the modulus, or the flag bits make no sense",
            ),
            (report.off_curve, "not on the curve"),
            (report.outside_subgroup, "outside the subgroup of order r"),
        ];
        match bad.into_iter().find_map(|(at, reason)| at.map(|at| (at, reason))) {
            None => Ok(()),
            Some((at, reason)) => Err(ProveError::KeyPoint {
                key: self.source.to_string(),
                query: QUERIES[query],
                index: index(at),
                reason,
            }),
        }
    }
}

/// Indices of the points that are not the identity, which is zeros but for the flag that zcash's encoding has for it.
fn without_identities<C: Curve>(points: &EncodedPoints<C>) -> Vec<u32> {
    let flag = match points.encoding() {
        PointEncoding::Montgomery => 0,
        PointEncoding::ZcashBigEndian | PointEncoding::ZcashZeroIdentity => 0x40,
    };
    let identity = |point: &[u8]| {
        let (first, rest) = point.split_first().unwrap_or((&0, &[]));
        (*first == 0 || *first == flag) && rest.iter().all(|b| *b == 0)
    };
    let chunks = points.bytes().chunks_exact(C::BYTES);
    chunks.enumerate().filter(|(_, point)| !identity(point)).map(|(i, _)| i as u32).collect()
}

fn gather<C: Curve>(points: &EncodedPoints<C>, kept: &[u32]) -> Vec<u8> {
    let mut out = Vec::with_capacity(kept.len() * C::BYTES);
    for &i in kept {
        out.extend_from_slice(points.chunk(i as usize..i as usize + 1));
    }
    out
}

/// Whether a witness has the right length, begins with 1, and (packed) is consistent, so that nothing reads outside of it.
pub(super) fn check_witness(witness: &Witness, variables: usize) -> Result<(), Misfit> {
    if witness.len() != variables {
        return Err(Misfit::Witness { expected: variables, found: witness.len() });
    }
    if let Witness::Packed(packed) = witness {
        check_packed(packed)?;
    }
    match witness.inputs(1).first() {
        Some(one) if *one == <Scalar as ff::Field>::ONE => Ok(()),
        _ => Err(Misfit::NotOne),
    }
}

fn check_packed(packed: &PackedWitness) -> Result<(), Misfit> {
    let expect = |what: &'static str, expected: usize, found: usize| {
        if expected == found { Ok(()) } else { Err(Misfit::Packed { what, expected, found }) }
    };
    let set = &packed.set;
    expect("words of the bit set", packed.len.div_ceil(64), set.map.len())?;
    expect("ranks of the bit set", set.map.len(), set.ranks.len())?;
    let mut members = 0u64;
    for (word, rank) in set.map.iter().zip(&set.ranks) {
        expect("rank of a word of the bit set", members as usize, *rank as usize)?;
        members += u64::from(word.count_ones());
    }
    expect("members of the bit set", members as usize, set.members)?;
    let spare = packed.len % 64;
    let beyond = set.map.last().filter(|_| spare != 0).map_or(0, |last| last >> spare);
    expect("members beyond the witness", 0, beyond.count_ones() as usize)?;
    expect("values that are no bits", packed.len - set.members, packed.rest.len())?;
    match &packed.bits {
        WitnessBits::Dense(words) => expect("words of bits", set.members.div_ceil(64), words.len()),
        WitnessBits::Lanes { words, lane } => {
            expect("words of lanes", set.members, words.len())?;
            if *lane < 64 {
                Ok(())
            } else {
                Err(Misfit::Packed { what: "lane", expected: 63, found: *lane as usize })
            }
        }
    }
}

/// The form in which a witness goes to a device with memory of its own: packed where that is at most a quarter of the dense one, which
/// is what the memory plan counts. To the host's own memory it goes as it is.
fn travelling(witness: &Witness, kind: DeviceKind) -> Witness {
    if let (Witness::Dense(z), DeviceKind::DiscreteGpu) = (witness, kind) {
        let packed = PackedWitness::from_dense(z);
        if packed.bytes() <= z.len() * size_of::<Scalar>() / 4 {
            return Witness::Packed(Arc::new(packed));
        }
    }
    witness.clone()
}

/// z on the device in dense form. The witness has been checked.
pub(super) fn witness<B: Backend>(
    backend: &B,
    stream: &Stream<B>,
    witness: &Witness,
) -> BackendResult<Buffer<B, Scalar>> {
    let device = backend.device();
    match &travelling(witness, device.info().kind) {
        Witness::Dense(z) => device.upload_new(stream, "witness", z),
        Witness::Packed(packed) => {
            let mut z = device.alloc("witness", packed.len)?;
            let set = device.upload_new(stream, "bit set", &packed.set.map)?;
            let ranks = device.upload_new(stream, "ranks", &packed.set.ranks)?;
            let rest = device.upload_new(stream, "other values", &packed.rest)?;
            let words = match &packed.bits {
                WitnessBits::Dense(words) => device.upload_new(stream, "bits", words)?,
                WitnessBits::Lanes { words, .. } => device.upload_new(stream, "bits", words)?,
            };
            let bits = match &packed.bits {
                WitnessBits::Dense(_) => PackedBits::Dense(&words),
                WitnessBits::Lanes { lane, .. } => PackedBits::Lanes { words: &words, lane: *lane },
            };
            backend.expand(stream, Expand { set: &set, ranks: &ranks, bits, rest: &rest }, &mut z)?;
            Ok(z)
        }
    }
}
