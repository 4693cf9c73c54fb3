use ff::{Field, PrimeField};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use super::*;

const SEED: u64 = 0x6e74_7421;

fn random(n: usize) -> Vec<Scalar> {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    (0..n).map(|_| Scalar::random(&mut rng)).collect()
}

fn reorder(x: &[Scalar], order: Order, log_n: u32) -> Vec<Scalar> {
    (0..x.len()).map(|i| x[if order == Order::Natural { i } else { reversed(i, log_n) }]).collect()
}

/// Values at g w^k by Horner's rule.
fn naive(x: &[Scalar], w: Scalar, g: Scalar) -> Vec<Scalar> {
    let mut at = g;
    (0..x.len())
        .map(|_| {
            let value = x.iter().rev().fold(Scalar::ZERO, |v, c| v * at + c);
            at *= w;
            value
        })
        .collect()
}

fn every_op(log_n: u32) -> impl Iterator<Item = Ntt> {
    let orders = [Order::Natural, Order::BitReversed];
    let directions = [Direction::Forward, Direction::Inverse];
    let roots = [Root::Five, Root::Seven];
    let shifts = [None, Some(Scalar::from(7)), Some(-Scalar::ONE)];
    roots.into_iter().flat_map(move |root| {
        directions.into_iter().flat_map(move |direction| {
            shifts.into_iter().flat_map(move |coset| {
                orders.into_iter().flat_map(move |input| {
                    orders.into_iter().map(move |output| Ntt { log_n, direction, coset, root, input, output })
                })
            })
        })
    })
}

#[test]
fn agrees_with_horner() {
    for log_n in [0, 1, 2, 3, 5, 6, 9] {
        let x = random(1 << log_n);
        for op in every_op(log_n) {
            let values = naive(&x, op.root.of_unity(log_n).unwrap(), op.coset.unwrap_or(Scalar::ONE));
            let (from, to) = if op.direction == Direction::Forward { (&x, &values) } else { (&values, &x) };
            let mut io = reorder(from, op.input, log_n);
            ntt(&mut io, &op).unwrap();
            assert!(io == reorder(to, op.output, log_n), "{op:?}, seed {SEED:#x}");
        }
    }
}

/// Sizes with outer levels and tiles: one value by Horner, and back.
#[test]
fn large_sizes_agree_at_a_point_and_return() {
    for log_n in [10, 11, 12, 13, 15] {
        let x = random(1 << log_n);
        for op in every_op(log_n).filter(|op| op.direction == Direction::Forward) {
            let mut io = reorder(&x, op.input, log_n);
            ntt(&mut io, &op).unwrap();
            let k = (1usize << log_n) * 5 / 7;
            let at =
                op.coset.unwrap_or(Scalar::ONE) * op.root.of_unity(log_n).unwrap().pow_vartime([k as u64]);
            let value = x.iter().rev().fold(Scalar::ZERO, |v, c| v * at + c);
            assert!(reorder(&io, op.output, log_n)[k] == value, "{op:?}, seed {SEED:#x}");
            let back = Ntt { direction: Direction::Inverse, input: op.output, output: op.input, ..op };
            ntt(&mut io, &back).unwrap();
            assert!(io == reorder(&x, op.input, log_n), "{back:?}, seed {SEED:#x}");
        }
    }
}

/// Above the tables' range, where factors are made on the fly.
#[test]
fn untabled_levels() {
    let log_n = twiddles::TABLED + 1;
    let x = random(1 << log_n);
    let mut io = x.clone();
    let op = Ntt::new(log_n, Direction::Forward, Root::Five).ordered(Order::Natural, Order::BitReversed);
    ntt(&mut io, &op).unwrap();
    let k = 123_457;
    let at = Root::Five.of_unity(log_n).unwrap().pow_vartime([k as u64]);
    assert!(io[reversed(k, log_n)] == x.iter().rev().fold(Scalar::ZERO, |v, c| v * at + c));
    let back = Ntt::new(log_n, Direction::Inverse, Root::Five).ordered(Order::BitReversed, Order::Natural);
    ntt(&mut io, &back).unwrap();
    assert!(io == x);
}

#[test]
fn bad_parameters_are_refused() {
    let mut x = random(8);
    let op = Ntt::new(3, Direction::Inverse, Root::Seven);
    let refused = |x: &mut [Scalar], op: &Ntt| matches!(ntt(x, op), Err(BackendError::Invalid { .. }));
    assert!(refused(&mut x, &op.on_coset(Scalar::ZERO)));
    assert!(refused(&mut x, &Ntt { log_n: 33, ..op }));
    assert!(refused(&mut x, &Ntt { log_n: u32::MAX, ..op }));
    assert!(refused(&mut x, &Ntt { log_n: 2, ..op }));
    assert!(refused(&mut [], &op));
    assert_eq!(Scalar::S, Root::MAX_LOG_N);
}
