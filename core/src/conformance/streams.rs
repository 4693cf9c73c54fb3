//! Order within a stream and between streams, and the device from several threads.

use ff::Field;

use super::rig::{During, Rig, ensure, same};
use super::values::{self, Known};
use super::{Failure, Outcome, Subject};
use crate::backend::{Backend, Bases, Device, Direction, Event, Msm, Ntt, Pointwise, ScalarForm};
use crate::curve::{G1, Root, Scalar};

/// Work on one stream that waits for an event sees what another stream did before it
pub fn events_order_them<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    let log_n = rig.limits.log_n;
    let input = values::scalars(&mut rig.rng, 1 << log_n);
    let device = rig.device();
    let other = device.stream("conformance second")?;
    let start = device.record(&rig.stream)?;
    let mut io = rig.upload(&input)?;
    // There and back on one stream, twice the result on the other, a third of that on the first again.
    let forward = Ntt::new(log_n, Direction::Forward, Root::Seven);
    rig.backend.ntt(&rig.stream, &mut io, &forward)?;
    rig.backend.ntt(&rig.stream, &mut io, &Ntt { direction: Direction::Inverse, ..forward })?;
    let transformed = device.record(&rig.stream)?;
    device.wait_event(&other, &transformed)?;
    rig.backend.pointwise(&other, &mut io, Pointwise::Scale(Scalar::from(2)))?;
    let doubled = device.record(&other)?;
    device.wait_event(&rig.stream, &doubled)?;
    rig.backend.pointwise(&rig.stream, &mut io, Pointwise::Scale(Scalar::from(3)))?;
    let expected: Vec<Scalar> = input.iter().map(|x| x * Scalar::from(6)).collect();
    rig.expect(&io, &expected, "work handed from stream to stream")?;

    doubled.wait().during("waiting for an event")?;
    for event in [&start, &transformed, &doubled] {
        ensure!(event.is_complete()?, "an event before completed work must be complete");
    }
    device.elapsed(&start, &transformed).during("elapsed").map(drop)
}

fn busy<B: Backend>(rig: &Rig<B>, seed: u64, rounds: usize) -> Outcome {
    let stream = rig.device().stream("conformance thread")?;
    let mut rng = values::rng();
    let known = Known::<G1>::line(&mut rng, 30);
    for round in 0..rounds {
        let factor = Scalar::from(seed + round as u64).square();
        let values = vec![factor; 64];
        let mut io = rig.device().upload_new(&stream, "conformance thread", &values)?;
        rig.backend.pointwise(&stream, &mut io, Pointwise::Scale(factor))?;
        let points = rig.device().upload_new(&stream, "conformance thread", &known.points)?;
        let op = Msm {
            bases: Bases::Resident(&points),
            scalars: &io,
            form: ScalarForm::Montgomery,
            select: None,
            classes: None,
        };
        let sum = rig.backend.msm::<G1>(&stream, op)?.wait()?;
        let product = factor * factor;
        ensure!(sum == known.sum(vec![product; 30]), "a thread got another thread's sum");
        same(&rig.device().download_all(&stream, &io)?, &[product; 64], "a thread's product")?;
    }
    Ok(())
}

/// A device may be used from several threads at once
pub fn work_from_two_threads<B: Backend>(subject: &Subject<B>) -> Outcome {
    let rig = subject.rig()?;
    std::thread::scope(|scope| {
        let threads = [3, 1_000_003].map(|seed| {
            let rig = &rig;
            scope.spawn(move || busy(rig, seed, 20))
        });
        for thread in threads {
            thread.join().map_err(|_| Failure("a thread panicked".into()))??;
        }
        Ok(())
    })
}

/// A buffer's memory outlives it until queued work is done
pub fn buffers_dropped_while_in_use<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    let n = rig.limits.elements;
    let (x, y) = (values::scalars(&mut rig.rng, n), values::scalars(&mut rig.rng, n));
    let mut io = rig.upload(&x)?;
    for _ in 0..10 {
        let rhs = rig.upload(&y)?;
        rig.backend.pointwise(&rig.stream, &mut io, Pointwise::Add(&rhs))?;
        drop(rhs);
        // What is allocated next may get the same memory, and must not get it too early.
        drop(rig.upload(&x)?);
    }
    let expected: Vec<Scalar> = x.iter().zip(&y).map(|(x, y)| x + y * Scalar::from(10)).collect();
    rig.expect(&io, &expected, "a sum over dropped buffers")
}
