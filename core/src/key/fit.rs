//! Whether a key, a circuit and a witness belong together.

use super::{ProvingKey, Variables};
use crate::backend::QuotientForm;
use crate::circuit::Matrices;

/// Two things that should belong together and do not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misfit {
    /// The key is for another circuit.
    #[error("{key} does not fit the circuit: {what}: the key has {in_key}, the circuit {in_circuit}")]
    Circuit {
        /// The key's name.
        key: String,
        /// What was counted.
        what: &'static str,
        /// In the key.
        in_key: u64,
        /// In the circuit.
        in_circuit: u64,
    },
    /// The key contradicts itself.
    #[error("{key}: {what}: expected {expected}, found {found}")]
    Key {
        /// The key's name.
        key: String,
        /// What was counted.
        what: &'static str,
        /// What the rest of the key asks for.
        expected: u64,
        /// What there is.
        found: u64,
    },
    /// The witness is for another circuit.
    #[error("the witness has {found} values, the circuit has {expected} variables")]
    Witness {
        /// m.
        expected: usize,
        /// Length of the witness.
        found: usize,
    },
    /// A packed witness contradicts itself.
    #[error("packed witness: {what}: expected {expected}, found {found}")]
    Packed {
        /// What was counted.
        what: &'static str,
        /// What the rest of it asks for.
        expected: usize,
        /// What there is.
        found: usize,
    },
    /// The first value of a witness is the constant 1.
    #[error("value 0 of the witness is not the constant 1")]
    NotOne,
    /// The domain is beyond what the field allows.
    #[error("a domain of 2^{log_n} is too large: the coset needs a root of unity of order 2^{}, the field has them to 2^32", .log_n + 1)]
    Domain {
        /// log2 of the domain.
        log_n: u32,
    },
}

/// Whether `key` was made for the circuit of `matrices`, as far as counts tell: public inputs, auxiliary variables, bases per query,
/// domain.
pub fn fit_circuit(key: &ProvingKey, matrices: &Matrices) -> Result<(), Misfit> {
    consistent(key)?;
    let compare = |what: &'static str, in_key: usize, in_circuit: usize| {
        if in_key == in_circuit {
            return Ok(());
        }
        let (in_key, in_circuit) = (in_key as u64, in_circuit as u64);
        Err(Misfit::Circuit { key: key.source.to_string(), what, in_key, in_circuit })
    };
    // The constant 1 is no public input to whoever reads the message.
    compare("public inputs", key.inputs.saturating_sub(1), matrices.inputs.saturating_sub(1))?;
    compare("auxiliary variables", key.aux, matrices.aux)?;
    compare("size of the domain", 1 << key.quotient.log_n, 1 << log_domain(key, matrices))?;
    let from_density = [&key.a.variables, &key.b1.variables, &key.b2.variables].map(is_from_density);
    if from_density.contains(&true) {
        let densities = matrices.densities();
        let counts = [densities.a.len(), densities.b.len(), densities.b.len()];
        let names = ["bases of A", "bases of B in G1", "bases of B in G2"];
        let lens = [key.a.points.len(), key.b1.points.len(), key.b2.points.len()];
        for i in (0..3).filter(|&i| from_density[i]) {
            compare(names[i], lens[i], counts[i])?;
        }
    }
    Ok(())
}

/// Whether a witness of `len` values belongs to the circuit.
pub fn fit_witness(matrices: &Matrices, len: usize) -> Result<(), Misfit> {
    let expected = matrices.variables();
    if len == expected { Ok(()) } else { Err(Misfit::Witness { expected, found: len }) }
}

fn is_from_density(variables: &Variables) -> bool {
    matches!(variables, Variables::FromDensity)
}

/// snarkjs's smallest domain is 2, bellman's 1.
fn log_domain(key: &ProvingKey, matrices: &Matrices) -> u32 {
    match key.quotient.form {
        QuotientForm::Monomial => matrices.log_domain(),
        QuotientForm::OddCoset => matrices.log_domain().max(1),
    }
}

/// What the key says about itself must agree before it is compared with anything, and before the sizes are used.
fn consistent(key: &ProvingKey) -> Result<(), Misfit> {
    if key.quotient.log_n >= crate::curve::Root::MAX_LOG_N {
        return Err(Misfit::Domain { log_n: key.quotient.log_n });
    }
    let expect = |what: &'static str, expected: usize, found: usize| {
        if expected == found {
            return Ok(());
        }
        let (expected, found) = (expected as u64, found as u64);
        Err(Misfit::Key { key: key.source.to_string(), what, expected, found })
    };
    expect("IC points", key.inputs, key.vk.ic.len())?;
    expect("points of the H query", key.quotient.len(), key.h.len())?;
    let queries = [
        ("points of the L query", &key.l.variables, key.l.points.len()),
        ("points of the A query", &key.a.variables, key.a.points.len()),
        ("points of the B query in G1", &key.b1.variables, key.b1.points.len()),
        ("points of the B query in G2", &key.b2.variables, key.b2.points.len()),
    ];
    for (what, variables, found) in queries {
        if let Variables::Range(range) = variables {
            expect(what, range.len(), found)?;
            let last = range.end as usize;
            if last > key.variables() {
                expect("last variable of a query", key.variables(), last)?;
            }
        }
    }
    if is_from_density(&key.l.variables) {
        expect("points of the L query", key.aux, key.l.points.len())?;
    }
    Ok(())
}
