//! A backend that is wrong on purpose: one result of one operation, in one of a few ways.
//!
//! Tests use it to show that they would notice: [`bites`](mod@crate::bites) for the conformance suite, and the prover's and the command
//! line's own for proofs. Everything but the one result comes from the backend inside.

mod fault;
mod spoil;

pub use fault::{Fault, Kind, Operation};

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use cuzk_core::backend::{
    Backend, BackendError, Bases, Buffer, Classes, Device, DeviceBuffer, DeviceKey, DeviceMatrix, Expand,
    Msm, Ntt, OpenOptions, Pending, PendingResult, PointEncoding, PointReport, Pointwise, Quotient, Result,
    ScalarForm, Stream, WitnessMsms, composite, ready,
};
use cuzk_core::curve::{Curve, Element, G1, G1Projective, Scalar};
use group::Group;

use spoil::{Memory, flipped, spoilt};

/// `B`, but for one fault.
pub struct Corrupt<B: Backend> {
    inner: B,
    fault: Option<Fault>,
    shared: Arc<Shared>,
}

/// What outlives a call: how often the operation was called, how often its result became another, and earlier results.
#[derive(Default)]
struct Shared {
    calls: AtomicUsize,
    spoilt: AtomicUsize,
    memory: Mutex<Memory>,
}

/// Counts the results that were really changed.
#[derive(Clone, Default)]
pub struct Witness(Arc<Shared>);

impl Witness {
    /// How many results are not what they should have been.
    pub fn spoilt(&self) -> usize {
        self.0.spoilt.load(Ordering::Relaxed)
    }
    /// How often the operation was called.
    pub fn calls(&self) -> usize {
        self.0.calls.load(Ordering::Relaxed)
    }
}

impl<B: Backend> Corrupt<B> {
    /// `inner` with a fault, or without one.
    pub fn new(inner: B, fault: Option<Fault>) -> Self {
        Self::watched(inner, fault, &Witness::default())
    }

    /// The same; what happens is counted by `witness`.
    pub fn watched(inner: B, fault: Option<Fault>, witness: &Witness) -> Self {
        Self { inner, fault, shared: witness.0.clone() }
    }

    /// For registries: a factory of such backends from a factory of sound ones.
    pub fn factory(
        open: impl Fn(&OpenOptions) -> Result<B> + Send + Sync + 'static,
        fault: Option<Fault>,
    ) -> impl Fn(&OpenOptions) -> Result<Self> + Send + Sync + 'static {
        move |options| Ok(Self::new(open(options)?, fault))
    }

    /// The kind of fault that this call of `operation` is to have.
    fn strikes(&self, operation: Operation) -> Option<Kind> {
        let fault = self.fault.filter(|fault| fault.operation == operation)?;
        let call = self.shared.calls.fetch_add(1, Ordering::Relaxed);
        (fault.call.is_none_or(|only| only == call)).then_some(fault.kind)
    }

    /// Whether the operation fails as a whole, so that it must not be made of this backend's other operations.
    fn aims_at(&self, operation: Operation) -> bool {
        self.fault.is_none_or(|fault| fault.operation == operation)
    }

    fn count(&self, changed: bool) {
        self.shared.spoilt.fetch_add(usize::from(changed), Ordering::Relaxed);
    }

    /// Replaces the honest content of a buffer.
    fn overwrite<T: Element>(
        &self,
        stream: &Stream<Self>,
        kind: Kind,
        buffer: &mut Buffer<Self, T>,
        before: &[T],
        negate: impl Fn(&T) -> T,
    ) -> Result<()> {
        let honest = self.device().download_all(stream, buffer)?;
        let wrong = spoilt(kind, &honest, before, negate);
        self.count(wrong != honest);
        self.device().upload(stream, &wrong, buffer, 0)
    }

    /// Runs an operation that writes `io`, and spoils it if this call is struck.
    fn on_buffer<T: Element>(
        &self,
        operation: Operation,
        stream: &Stream<Self>,
        io: &mut Buffer<Self, T>,
        negate: impl Fn(&T) -> T,
        run: impl FnOnce(&mut Buffer<Self, T>) -> Result<()>,
    ) -> Result<()> {
        let Some(kind) = self.strikes(operation) else { return run(io) };
        let before = self.device().download_all(stream, io)?;
        run(io)?;
        self.overwrite(stream, kind, io, &before, negate)
    }

    /// A sum that goes wrong when it is waited for. `dropped` is the term that is left out.
    fn spoil_point<C: Curve>(
        &self,
        kind: Kind,
        sum: Pending<C::Projective>,
        dropped: Option<C::Projective>,
    ) -> Pending<C::Projective> {
        let shared = self.shared.clone();
        let change = move |honest: C::Projective| {
            let mut memory = shared.memory.lock().map_err(|_| poisoned())?;
            let previous = memory.exchange(C::NAME, honest).unwrap_or_else(C::Projective::identity);
            let wrong = match kind {
                Kind::Limb => C::Projective::from(flipped(&C::Affine::from(honest))),
                Kind::Sign | Kind::Order => -honest,
                Kind::DroppedBucket => honest - dropped.unwrap_or_else(C::Projective::identity),
                Kind::Stale => previous,
            };
            shared.spoilt.fetch_add(usize::from(wrong != honest), Ordering::Relaxed);
            Ok(wrong)
        };
        Box::new(Changed { inner: sum, change })
    }

    /// The last term of a sum that is not zero.
    fn last_term<C: Curve>(
        &self,
        stream: &Stream<Self>,
        op: &Msm<'_, B::Device, C>,
    ) -> Result<Option<C::Projective>> {
        let device = self.device();
        let points = match op.bases {
            Bases::Resident(buffer) => device.download_all(stream, buffer)?,
            Bases::Streamed(points) => {
                let bytes = device.upload_new(stream, "streamed", points.bytes())?;
                let mut out = device.alloc("decoded", points.len())?;
                self.inner.convert_points::<C>(stream, &bytes, points.encoding(), &mut out)?.wait()?;
                device.download_all(stream, &out)?
            }
        };
        let scalars = spoil::montgomery(device.download_all(stream, op.scalars)?, op.form);
        let select = op.select.map(|select| device.download_all(stream, select)).transpose()?;
        let index = |j: usize| select.as_ref().map_or(j, |select| select[j] as usize);
        let terms = points.iter().enumerate().rev().map(|(j, p)| C::Projective::from(*p) * scalars[index(j)]);
        Ok(terms.into_iter().find(|term| !bool::from(term.is_identity())))
    }

    /// A report that goes wrong when it is waited for.
    fn spoil_report(&self, kind: Kind, report: Pending<PointReport>) -> Pending<PointReport> {
        let shared = self.shared.clone();
        let change = move |honest: PointReport| {
            let mut memory = shared.memory.lock().map_err(|_| poisoned())?;
            let previous = memory.exchange("report", honest).unwrap_or_default();
            let wrong = spoil::report(kind, honest, previous);
            shared.spoilt.fetch_add(usize::from(wrong != honest), Ordering::Relaxed);
            Ok(wrong)
        };
        Box::new(Changed { inner: report, change })
    }
}

fn poisoned() -> BackendError {
    BackendError::Host { what: "remembering results".into(), reason: "a thread panicked".into() }
}

/// A pending result with a change to come.
struct Changed<T, F> {
    inner: Pending<T>,
    change: F,
}

impl<T, F: FnOnce(T) -> Result<T> + Send> PendingResult<T> for Changed<T, F> {
    fn is_ready(&self) -> Result<bool> {
        self.inner.is_ready()
    }
    fn wait(self: Box<Self>) -> Result<T> {
        (self.change)(self.inner.wait()?)
    }
}

impl<B: Backend> Backend for Corrupt<B> {
    type Device = B::Device;

    fn name(&self) -> &str {
        self.inner.name()
    }
    fn device(&self) -> &B::Device {
        self.inner.device()
    }
    fn reopen(&self) -> Result<Self> {
        Ok(Self { inner: self.inner.reopen()?, fault: self.fault, shared: self.shared.clone() })
    }

    fn ntt(&self, stream: &Stream<Self>, io: &mut Buffer<Self, Scalar>, op: &Ntt) -> Result<()> {
        self.on_buffer(Operation::Ntt, stream, io, |x| -x, |io| self.inner.ntt(stream, io, op))
    }

    fn pointwise(
        &self,
        stream: &Stream<Self>,
        io: &mut Buffer<Self, Scalar>,
        op: Pointwise<'_, B::Device>,
    ) -> Result<()> {
        self.on_buffer(Operation::Pointwise, stream, io, |x| -x, |io| self.inner.pointwise(stream, io, op))
    }

    fn spmv(
        &self,
        stream: &Stream<Self>,
        matrix: &DeviceMatrix<B::Device>,
        z: &Buffer<Self, Scalar>,
        out: &mut Buffer<Self, Scalar>,
    ) -> Result<()> {
        self.on_buffer(Operation::Spmv, stream, out, |x| -x, |out| self.inner.spmv(stream, matrix, z, out))
    }

    fn classify(&self, stream: &Stream<Self>, z: &Buffer<Self, Scalar>) -> Result<Classes<B::Device>> {
        let honest = self.inner.classify(stream, z)?;
        let Some(kind) = self.strikes(Operation::Classify) else { return Ok(honest) };
        let codes = self.device().download_all(stream, &honest.codes)?;
        let counts = self.device().download_all(stream, &honest.counts)?;
        let (wrong_codes, wrong_counts) = {
            let mut memory = self.shared.memory.lock().map_err(|_| poisoned())?;
            let previous = memory.exchange("codes", codes.clone()).unwrap_or_default();
            spoil::classes(kind, &codes, &counts, &previous)
        };
        self.count(wrong_codes != codes || wrong_counts != counts);
        Ok(Classes {
            codes: Arc::new(self.device().upload_new(stream, "class codes", &wrong_codes)?),
            counts: Arc::new(self.device().upload_new(stream, "class counts", &wrong_counts)?),
        })
    }

    fn expand(
        &self,
        stream: &Stream<Self>,
        packed: Expand<'_, B::Device>,
        z: &mut Buffer<Self, Scalar>,
    ) -> Result<()> {
        self.on_buffer(Operation::Expand, stream, z, |x| -x, |z| self.inner.expand(stream, packed, z))
    }

    fn msm<C: Curve>(
        &self,
        stream: &Stream<Self>,
        op: Msm<'_, B::Device, C>,
    ) -> Result<Pending<C::Projective>> {
        let operation = if C::NAME == G1::NAME { Operation::MsmG1 } else { Operation::MsmG2 };
        let Some(kind) = self.strikes(operation) else { return self.inner.msm(stream, op) };
        // The terms are looked at only after the backend has accepted the lengths.
        let Msm { bases, scalars, form, select, classes } = op;
        let sum = self.inner.msm::<C>(stream, Msm { bases, scalars, form, select, classes })?;
        let dropped = match kind {
            Kind::DroppedBucket => self.last_term(stream, &op)?,
            _ => None,
        };
        Ok(self.spoil_point::<C>(kind, sum, dropped))
    }

    fn fixed_base<C: Curve>(
        &self,
        stream: &Stream<Self>,
        base: &C::Affine,
        scalars: &Buffer<Self, Scalar>,
        out: &mut Buffer<Self, C::Affine>,
    ) -> Result<()> {
        self.on_buffer(
            Operation::FixedBase,
            stream,
            out,
            |p| -*p,
            |out| self.inner.fixed_base::<C>(stream, base, scalars, out),
        )
    }

    fn check_points<C: Curve>(
        &self,
        stream: &Stream<Self>,
        points: &Buffer<Self, C::Affine>,
    ) -> Result<Pending<PointReport>> {
        let report = self.inner.check_points::<C>(stream, points)?;
        Ok(match self.strikes(Operation::CheckPoints) {
            Some(kind) => self.spoil_report(kind, report),
            None => report,
        })
    }

    fn convert_points<C: Curve>(
        &self,
        stream: &Stream<Self>,
        bytes: &Buffer<Self, u8>,
        encoding: PointEncoding,
        out: &mut Buffer<Self, C::Affine>,
    ) -> Result<Pending<PointReport>> {
        let Some(kind) = self.strikes(Operation::ConvertPoints) else {
            return self.inner.convert_points::<C>(stream, bytes, encoding, out);
        };
        let before = self.device().download_all(stream, out)?;
        let report = self.inner.convert_points::<C>(stream, bytes, encoding, out)?;
        if kind == Kind::DroppedBucket {
            return Ok(self.spoil_report(kind, report));
        }
        let report = report.wait()?;
        self.overwrite(stream, kind, out, &before, |p| -*p)?;
        Ok(ready(report))
    }

    fn quotient(
        &self,
        stream: &Stream<Self>,
        a: Buffer<Self, Scalar>,
        b: Buffer<Self, Scalar>,
        op: &Quotient,
    ) -> Result<Buffer<Self, Scalar>> {
        if !self.aims_at(Operation::Quotient) {
            return composite::quotient(self, stream, a, b, op);
        }
        let mut h = self.inner.quotient(stream, a, b, op)?;
        if let Some(kind) = self.strikes(Operation::Quotient) {
            let honest = self.device().download_all(stream, &h)?;
            let previous = {
                let mut memory = self.shared.memory.lock().map_err(|_| poisoned())?;
                memory.exchange("quotient", honest).unwrap_or_default()
            };
            let mut before = vec![Scalar::zeroed(); h.len()];
            before.iter_mut().zip(previous).for_each(|(b, p)| *b = p);
            self.overwrite(stream, kind, &mut h, &before, |x| -x)?;
        }
        Ok(h)
    }

    fn witness_msms(
        &self,
        stream: &Stream<Self>,
        z: &Buffer<Self, Scalar>,
        key: &DeviceKey<B::Device>,
    ) -> Result<WitnessMsms> {
        if !self.aims_at(Operation::WitnessMsms) {
            return composite::witness_msms(self, stream, z, key);
        }
        let mut sums = self.inner.witness_msms(stream, z, key)?;
        match self.strikes(Operation::WitnessMsms) {
            None => {}
            Some(Kind::Limb) => sums.b2 = self.spoil_point::<cuzk_core::curve::G2>(Kind::Limb, sums.b2, None),
            Some(Kind::Sign) => sums.a = self.spoil_point::<G1>(Kind::Sign, sums.a, None),
            Some(Kind::Order) => self.swap(&mut sums)?,
            Some(Kind::Stale) => sums.l = self.spoil_point::<G1>(Kind::Stale, sums.l, None),
            Some(Kind::DroppedBucket) => {
                let (bases, select) = (key.b1.bases.as_bases(), Some(key.b1.variables.as_ref()));
                let op = Msm { bases, scalars: z, form: ScalarForm::Montgomery, select, classes: None };
                let term = self.last_term::<G1>(stream, &op)?;
                sums.b1 = self.spoil_point::<G1>(Kind::DroppedBucket, sums.b1, term);
            }
        }
        Ok(sums)
    }
}

impl<B: Backend> Corrupt<B> {
    /// l in a's place and a in l's.
    fn swap(&self, sums: &mut WitnessMsms) -> Result<()> {
        let identity = || ready(G1Projective::identity());
        let l = std::mem::replace(&mut sums.l, identity()).wait()?;
        let a = std::mem::replace(&mut sums.a, identity()).wait()?;
        self.count(l != a);
        (sums.l, sums.a) = (ready(a), ready(l));
        Ok(())
    }
}
