//! The four sums over a witness.

use std::sync::Arc;

use super::msm::in_a_file;
use super::rig::{During, Rig, ensure, refused};
use super::values::{self, Known, below};
use super::{Failure, Outcome, Subject};
use crate::backend::{
    Backend, DeviceKey, DeviceMatrix, DeviceQuery, KeyBases, PointEncoding, Quotient, QuotientForm,
    WitnessMsms,
};
use crate::curve::{Curve, G1, G2, Root, Scalar};

/// A query with known logarithms.
struct Query<C: Curve> {
    known: Known<C>,
    variables: Vec<u32>,
}

impl<C: Curve> Query<C> {
    fn expected(&self, z: &[Scalar]) -> C::Projective {
        self.known.sum(self.variables.iter().map(|v| z[*v as usize]))
    }

    fn load<B: Backend>(
        &self,
        rig: &Rig<B>,
        streamed: Option<PointEncoding>,
    ) -> Result<DeviceQuery<B::Device, C>, Failure> {
        let bases = match streamed {
            None => KeyBases::Resident(Arc::new(rig.upload(&self.known.points)?)),
            Some(encoding) => KeyBases::Streamed(in_a_file::<C>(&self.known.points, encoding)?),
        };
        Ok(DeviceQuery { bases, variables: Arc::new(rig.upload(&self.variables)?) })
    }
}

/// Variables from..until, without about one in `holes`; one base is the identity and one repeats.
fn query<B: Backend, C: Curve>(rig: &mut Rig<B>, from: u32, until: u32, holes: usize) -> Query<C> {
    let variables: Vec<u32> =
        (from..until).filter(|_| holes == 0 || below(&mut rig.rng, holes) != 0).collect();
    let mut known = Known::line(&mut rig.rng, variables.len());
    if variables.len() > 4 {
        known.vanish(2);
        known.repeat(1, 3, false);
    }
    Query { known, variables }
}

struct Key {
    l: Query<G1>,
    a: Query<G1>,
    b1: Query<G1>,
    b2: Query<G2>,
}

impl Key {
    fn new<B: Backend>(rig: &mut Rig<B>, m: usize) -> Self {
        let (inputs, m) = (m.min(3) as u32, m as u32);
        let b1 = query(rig, 0, m, 2);
        let mut b2: Query<G2> = query(rig, 0, m, 0);
        b2.known = Known::line(&mut rig.rng, b1.variables.len());
        b2.variables.clone_from(&b1.variables);
        Self { l: query(rig, inputs, m, 0), a: query(rig, 0, m, 5), b1, b2 }
    }

    fn load<B: Backend>(
        &self,
        rig: &Rig<B>,
        m: usize,
        streamed: Option<PointEncoding>,
    ) -> Result<DeviceKey<B::Device>, Failure> {
        let dictionary = Arc::new(rig.upload::<Scalar>(&[])?);
        let empty = || DeviceMatrix { rows: 0, cols: m, dictionary: dictionary.clone(), blocks: Vec::new() };
        Ok(DeviceKey {
            quotient: Quotient { log_n: 0, root: Root::Seven, form: QuotientForm::Monomial },
            variables: m,
            a_matrix: empty(),
            b_matrix: empty(),
            h: KeyBases::Resident(Arc::new(rig.upload(&[])?)),
            l: self.l.load(rig, streamed)?,
            a: self.a.load(rig, streamed)?,
            b1: self.b1.load(rig, streamed)?,
            b2: self.b2.load(rig, streamed)?,
        })
    }

    fn examine(&self, sums: WitnessMsms, z: &[Scalar], what: &str) -> Outcome {
        // In another order than they were queued.
        let (b2, a) = (sums.b2.wait().during(what)?, sums.a.wait().during(what)?);
        let (l, b1) = (sums.l.wait().during(what)?, sums.b1.wait().during(what)?);
        ensure!(l == self.l.expected(z), "{what}: l is wrong");
        ensure!(a == self.a.expected(z), "{what}: a is wrong");
        ensure!(b1 == self.b1.expected(z), "{what}: b1 is wrong");
        ensure!(b2 == self.b2.expected(z), "{what}: b2 is wrong");
        Ok(())
    }
}

/// Mostly bits, some small, some full: z_0 = 1.
fn witness<B: Backend>(rig: &mut Rig<B>, m: usize, full_every: usize) -> Vec<Scalar> {
    let random = values::mixed(&mut rig.rng, m);
    let pick =
        |i: usize| if i.is_multiple_of(full_every) { random[i] } else { Scalar::from(i as u64 / 3 % 2) };
    (0..m).map(|i| if i == 0 { Scalar::from(1) } else { pick(i) }).collect()
}

fn sums<B: Backend>(subject: &Subject<B>, streamed: Option<PointEncoding>) -> Outcome {
    let mut rig = subject.rig()?;
    let limit = rig.limits.points.min(1100);
    for m in [1, 2, 3, 5, 64, limit / 2, limit] {
        let key = Key::new(&mut rig, m);
        let on_device = key.load(&rig, m, streamed)?;
        for full_every in [1, 7, 50] {
            let z = witness(&mut rig, m, full_every);
            let buffer = rig.upload(&z)?;
            let what = format!("{m} variables, every {full_every}. of full size, streamed {streamed:?}");
            let sums = rig.backend.witness_msms(&rig.stream, &buffer, &on_device).during(&what)?;
            key.examine(sums, &z, &what)?;
        }
    }
    Ok(())
}

/// Resident bases, witnesses of bits and of full scalars
pub fn sums_over_the_witness<B: Backend>(subject: &Subject<B>) -> Outcome {
    sums(subject, None)
}

/// The same from the host
pub fn streamed_bases<B: Backend>(subject: &Subject<B>) -> Outcome {
    sums(subject, Some(PointEncoding::ZcashBigEndian))?;
    sums(subject, Some(PointEncoding::Montgomery))
}

/// z of another length than the key's
pub fn refuses_wrong_lengths<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    let key = Key::new(&mut rig, 6).load(&rig, 6, None)?;
    for len in [0, 5, 7] {
        let z = rig.upload(&vec![Scalar::from(1); len])?;
        refused(
            rig.backend.witness_msms(&rig.stream, &z, &key),
            format_args!("{len} values for 6 variables"),
        )?;
    }
    Ok(())
}
