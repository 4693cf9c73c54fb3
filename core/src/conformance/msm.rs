//! Sums of multiples, through discrete logarithms: sum s_j P_j = (sum s_j k_j) G for P_j = k_j G.

use std::sync::Arc;

use ff::Field;
use group::Group;
use rand_chacha::ChaCha8Rng;

use super::rig::{During, Rig, ensure, refused};
use super::values::{self, Known, below, canonical};
use super::{Failure, Outcome, Subject};
use crate::backend::{Backend, Bases, Buffer, Classes, Device, Msm, PointEncoding, ScalarForm, SharedBytes};
use crate::curve::{Curve, G1, G1Projective, G2, Scalar};
use crate::key::EncodedPoints;

/// The limit for a group: G2 costs about four times as much.
fn limit<C: Curve>(points: usize) -> usize {
    if C::NAME == G2::NAME { points / 4 } else { points }
}

/// Everything that has to come out the same: both forms, with and without classes.
fn examine<B: Backend, C: Curve>(
    rig: &Rig<B>,
    bases: Bases<'_, B::Device, C>,
    scalars: &[Scalar],
    select: Option<&Buffer<B, u32>>,
    expected: C::Projective,
    what: &str,
) -> Outcome {
    let montgomery = rig.upload(scalars)?;
    let integers = rig.upload(&canonical(scalars))?;
    let classes: Classes<B::Device> = rig.backend.classify(&rig.stream, &montgomery)?;
    for classes in [None, Some(&classes)] {
        for (form, scalars) in [(ScalarForm::Montgomery, &montgomery), (ScalarForm::Canonical, &integers)] {
            let with = if classes.is_some() { "with" } else { "without" };
            let what = format!("{} sum of {} {what}, {form:?}, {with} classes", C::NAME, bases.len());
            let op = Msm { bases, scalars, form, select, classes };
            let sum = rig.backend.msm::<C>(&rig.stream, op).during(&what)?.wait().during(&what)?;
            ensure!(sum == expected, "{what}: wrong point");
        }
    }
    Ok(())
}

fn resident<B: Backend, C: Curve>(rig: &Rig<B>, known: &Known<C>, scalars: &[Scalar], what: &str) -> Outcome {
    let bases = rig.upload(&known.points)?;
    examine::<B, C>(rig, Bases::Resident(&bases), scalars, None, known.sum(scalars.iter().copied()), what)
}

fn sizes<B: Backend, C: Curve>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    for n in values::sizes(limit::<C>(rig.limits.points)) {
        let known = Known::<C>::line(&mut rig.rng, n);
        let scalars = values::scalars(&mut rig.rng, n);
        resident(&rig, &known, &scalars, "points")?;
        // More scalars than bases are allowed.
        let more = values::scalars(&mut rig.rng, n + 5);
        let bases = rig.upload(&known.points)?;
        let expected = known.sum(more.iter().copied());
        examine::<B, C>(&rig, Bases::Resident(&bases), &more, None, expected, "points and more scalars")?;
    }
    Ok(())
}

/// 0, 1, 2, 3 and around powers of two
pub fn sizes_in_g1<B: Backend>(subject: &Subject<B>) -> Outcome {
    sizes::<B, G1>(subject)
}

/// 0, 1, 2, 3 and around powers of two
pub fn sizes_in_g2<B: Backend>(subject: &Subject<B>) -> Outcome {
    sizes::<B, G2>(subject)
}

/// How scalars are distributed: the i-th of them.
type Distribution = (&'static str, fn(&mut ChaCha8Rng, usize) -> Scalar);

const DISTRIBUTIONS: [Distribution; 12] = [
    ("zeros", |_, _| Scalar::ZERO),
    ("ones", |_, _| Scalar::ONE),
    ("r - 1", |_, _| -Scalar::ONE),
    ("one scalar", |_, _| Scalar::from(0x1234_5678_9abc_def1).square().square()),
    ("bits", |rng, _| Scalar::from(below(rng, 2) as u64)),
    ("small scalars", |rng, _| Scalar::from(below(rng, 1 << 16) as u64)),
    ("negated small scalars", |rng, _| -Scalar::from(below(rng, 1 << 16) as u64)),
    ("witness of bits, few others", |rng, i| match (i % 75, below(rng, 2)) {
        (0, _) => Scalar::random(rng),
        (1, _) => Scalar::from(below(rng, 1 << 12) as u64),
        (_, bit) => Scalar::from(bit as u64),
    }),
    ("skewed scalars", |rng, i| if i % 10 == 0 { Scalar::random(rng) } else { -Scalar::from(77) }),
    ("powers of two", |_, i| values::power_of_two(i as u64 % 255)),
    ("edges", |_, i| values::edges()[i % values::edges().len()]),
    ("one that is not zero", |_, i| if i == 2 { -Scalar::from(3) } else { Scalar::ZERO }),
];

fn scalars<B: Backend, C: Curve>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    let limit = limit::<C>(rig.limits.points);
    let mut sizes = vec![limit.min(33), limit.min(500), limit];
    sizes.dedup();
    for n in sizes {
        let known = Known::<C>::line(&mut rig.rng, n);
        for (name, draw) in DISTRIBUTIONS {
            let scalars: Vec<Scalar> = (0..n).map(|i| draw(&mut rig.rng, i)).collect();
            resident(&rig, &known, &scalars, &format!("points, scalars: {name}"))?;
        }
    }
    Ok(())
}

/// 0, 1, r - 1, repeated, small, skewed, witness-like
pub fn scalars_in_g1<B: Backend>(subject: &Subject<B>) -> Outcome {
    scalars::<B, G1>(subject)
}

/// 0, 1, r - 1, repeated, small, skewed, witness-like
pub fn scalars_in_g2<B: Backend>(subject: &Subject<B>) -> Outcome {
    scalars::<B, G2>(subject)
}

/// How points are made special.
type Arrangement<C> = (&'static str, fn(&mut Known<C>));

fn arrangements<C: Curve>() -> [Arrangement<C>; 6] {
    fn each<C: Curve>(known: &mut Known<C>, change: impl Fn(&mut Known<C>, usize)) {
        (0..known.points.len()).for_each(|i| change(known, i));
    }
    [
        ("identities", |k| each(k, Known::vanish)),
        ("points, every third the identity", |k| {
            each(k, |k, i| {
                if i % 3 == 1 {
                    k.vanish(i)
                }
            })
        }),
        ("times one point", |k| each(k, |k, i| k.repeat(0, i, false))),
        ("points in equal pairs", |k| {
            each(k, |k, i| {
                if i % 2 == 1 {
                    k.repeat(i - 1, i, false)
                }
            })
        }),
        ("points in opposite pairs", |k| {
            each(k, |k, i| {
                if i % 2 == 1 {
                    k.repeat(i - 1, i, true)
                }
            })
        }),
        ("times P, -P, identity, P", |k| {
            each(k, |k, i| match i % 4 {
                0 | 3 => k.repeat(0, i, false),
                1 => k.repeat(0, i, true),
                _ => k.vanish(i),
            });
        }),
    ]
}

fn points<B: Backend, C: Curve>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    let limit = limit::<C>(rig.limits.points);
    let mut sizes = vec![2, 3, limit.min(33), limit.min(700)];
    sizes.dedup();
    for n in sizes {
        for (name, arrange) in arrangements::<C>() {
            let mut known = Known::<C>::line(&mut rig.rng, n);
            arrange(&mut known);
            // With one scalar for all, equal and opposite points meet in the same bucket; pairs share one too.
            let random = values::scalars(&mut rig.rng, n);
            let pairs: Vec<Scalar> = (0..n).map(|i| random[i & !1]).collect();
            for scalars in [random.clone(), pairs, vec![random[0]; n], vec![Scalar::ONE; n]] {
                resident(&rig, &known, &scalars, name)?;
            }
        }
    }
    Ok(())
}

/// The identity, repeats, P beside -P
pub fn points_in_g1<B: Backend>(subject: &Subject<B>) -> Outcome {
    points::<B, G1>(subject)
}

/// The identity, repeats, P beside -P
pub fn points_in_g2<B: Backend>(subject: &Subject<B>) -> Outcome {
    points::<B, G2>(subject)
}

fn picks<B: Backend, C: Curve>(rig: &mut Rig<B>) -> Outcome {
    for (bases, scalars) in [(0, 4), (1, 1), (33, 200), (40, 7), (limit::<C>(rig.limits.points), 300)] {
        let known = Known::<C>::line(&mut rig.rng, bases);
        let scalars: Vec<Scalar> = (0..scalars).map(|i| DISTRIBUTIONS[7].1(&mut rig.rng, i)).collect();
        let anywhere: Vec<u32> = (0..bases).map(|_| below(&mut rig.rng, scalars.len()) as u32).collect();
        let mut ascending = anywhere.clone();
        ascending.sort_unstable();
        for select in [anywhere, ascending, vec![scalars.len() as u32 - 1; bases]] {
            let expected = known.sum(select.iter().map(|i| scalars[*i as usize]));
            let (points, select) = (rig.upload(&known.points)?, rig.upload(&select)?);
            examine::<B, C>(
                rig,
                Bases::Resident(&points),
                &scalars,
                Some(&select),
                expected,
                "points by index",
            )?;
        }
    }
    Ok(())
}

/// `select` in any order, with repeats, from more and from fewer scalars than bases
pub fn picks_scalars_by_index<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    picks::<B, G1>(&mut rig)?;
    picks::<B, G2>(&mut rig)
}

/// Points in the middle of a file, at an odd address.
pub(super) fn in_a_file<C: Curve>(
    points: &[C::Affine],
    encoding: PointEncoding,
) -> Result<EncodedPoints<C>, Failure> {
    let mut bytes = vec![0xee; 5];
    bytes.extend(values::encode::<C>(points, encoding));
    bytes.extend([0xff; 3]);
    let range = 5..bytes.len() - 3;
    let shared: SharedBytes = Arc::new(bytes);
    EncodedPoints::new(shared, range, encoding).ok_or_else(|| Failure("points outside their file".into()))
}

fn streams<B: Backend, C: Curve>(rig: &mut Rig<B>) -> Outcome {
    for n in values::sizes(limit::<C>(rig.limits.points)) {
        let mut known = Known::<C>::line(&mut rig.rng, n);
        if n > 2 {
            known.vanish(n / 2);
            known.repeat(0, n - 1, true);
        }
        let scalars = values::mixed(&mut rig.rng, n);
        let backwards: Vec<u32> = (0..n as u32).rev().collect();
        let select = rig.upload(&backwards)?;
        for encoding in [PointEncoding::ZcashBigEndian, PointEncoding::Montgomery] {
            let points = in_a_file::<C>(&known.points, encoding)?;
            let what = format!("streamed points, {encoding:?}");
            let expected = known.sum(scalars.iter().copied());
            examine(rig, Bases::Streamed(&points), &scalars, None, expected, &what)?;
            let expected = known.sum(scalars.iter().rev().copied());
            examine(rig, Bases::Streamed(&points), &scalars, Some(&select), expected, &what)?;
        }
    }
    Ok(())
}

/// Bases on the host, both encodings, all sizes, the identity among them
pub fn streams_bases_of_both_encodings<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    streams::<B, G1>(&mut rig)?;
    streams::<B, G2>(&mut rig)
}

/// Sums queued together wait in another order, or not at all; what they read may be changed or dropped meanwhile
pub fn results_wait_in_any_order<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    let n = rig.limits.points.min(400);
    let g1 = Known::<G1>::line(&mut rig.rng, n);
    let g2 = Known::<G2>::line(&mut rig.rng, n / 4);
    let scalars = values::scalars(&mut rig.rng, n);
    let (bases1, bases2, mut s) = (rig.upload(&g1.points)?, rig.upload(&g2.points)?, rig.upload(&scalars)?);
    let form = ScalarForm::Montgomery;
    macro_rules! queue {
        ($curve:ty, $bases:expr) => {{
            let bases = Bases::Resident(&$bases);
            rig.backend
                .msm::<$curve>(&rig.stream, Msm { bases, scalars: &s, form, select: None, classes: None })?
        }};
    }
    let first = queue!(G1, bases1);
    let second = queue!(G2, bases2);
    let unwanted = queue!(G2, bases2);
    rig.device().clear(&rig.stream, &mut s, 0..n)?;
    let third = queue!(G1, bases1);
    drop((s, bases1, bases2, unwanted));

    third.is_ready()?;
    ensure!(
        third.wait()? == G1Projective::identity(),
        "a sum queued after its scalars were cleared must be zero"
    );
    ensure!(
        second.wait()? == g2.sum(scalars.iter().copied()),
        "the second sum must not see what was queued after it"
    );
    ensure!(
        first.wait()? == g1.sum(scalars.iter().copied()),
        "the first sum must not see what was queued after it"
    );
    resident(&rig, &g1, &scalars, "points after a dropped result")
}

/// Too few scalars; as many indices as scalars instead of bases
pub fn refuses_wrong_lengths<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    let known = Known::<G1>::line(&mut rig.rng, 4);
    let points = rig.upload(&known.points)?;
    let on_host = EncodedPoints::<G1>::from_points(&known.points);
    for (scalars, select) in [(3, None), (0, None), (4, Some(3)), (4, Some(5)), (5, Some(5)), (4, Some(0))] {
        let scalars = rig.upload(&vec![Scalar::ONE; scalars])?;
        let select = select.map(|n| rig.upload(&vec![0u32; n])).transpose()?;
        for bases in [Bases::Resident(&points), Bases::Streamed(&on_host)] {
            let op = Msm {
                bases,
                scalars: &scalars,
                form: ScalarForm::Montgomery,
                select: select.as_ref(),
                classes: None,
            };
            refused(
                rig.backend.msm::<G1>(&rig.stream, op),
                "4 bases with too few scalars or another number of indices",
            )?;
        }
    }
    Ok(())
}
