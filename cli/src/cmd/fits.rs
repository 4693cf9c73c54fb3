//! Whether two files belong together, as far as their contents tell.

use cuzk_core::circuit::Matrices;
use cuzk_core::curve::Scalar;
use cuzk_core::format::sniff::{self, Kind};
use cuzk_core::format::{Source, json as snarkjs, params, r1cs, vk, wtns, zkey};
use cuzk_core::key::{self, Misfit, ProvingKey, VerifyingKey};
use serde_json::{Value, json};

use crate::exit::Result;

/// The answer.
#[derive(Debug)]
pub(super) enum Fit {
    /// Yes, and what was compared.
    Yes(&'static str),
    /// No, and why.
    No(String),
    /// The two have nothing in common that could be compared.
    Unknown,
}

impl Fit {
    pub(super) fn sentence(&self) -> String {
        match self {
            Fit::Yes(what) => format!("the two fit each other: {what}"),
            Fit::No(why) => format!("the two do NOT fit each other: {why}"),
            Fit::Unknown => "nothing tells whether the two fit each other".to_owned(),
        }
    }

    pub(super) fn json(&self) -> Value {
        match self {
            Fit::Yes(what) => json!({ "fits": true, "compared": what }),
            Fit::No(why) => json!({ "fits": false, "reason": why }),
            Fit::Unknown => json!({ "fits": null }),
        }
    }

    fn of(what: &'static str, outcome: Result<(), Misfit>) -> Self {
        outcome.map_or_else(|misfit| Fit::No(misfit.to_string()), |()| Fit::Yes(what))
    }

    fn counts(what: &'static str, left: usize, right: usize) -> Self {
        if left == right { Fit::Yes(what) } else { Fit::No(format!("{what}: {left} and {right}")) }
    }
}

/// A file, as far as fitting goes.
enum Part {
    Circuit(Matrices),
    Key(Box<ProvingKey>),
    Vk(Box<VerifyingKey>),
    Witness(Vec<Scalar>),
    Public(Vec<Scalar>),
    Proof,
}

fn read(source: &Source) -> Result<Part> {
    Ok(match sniff::kind(source)? {
        Kind::R1cs => Part::Circuit(r1cs::read(source)?.matrices),
        Kind::Zkey => Part::Key(Box::new(zkey::read(source)?.key)),
        Kind::Params => Part::Key(Box::new(params::read(source, None)?)),
        Kind::Vk | Kind::VerificationKeyJson => Part::Vk(Box::new(vk::read_any(source)?)),
        Kind::Wtns => Part::Witness(wtns::read(source)?),
        Kind::PublicJson => Part::Public(snarkjs::read_public(source)?),
        _ => Part::Proof,
    })
}

/// Compares two files, in either order.
pub(super) fn fits(a: &Source, b: &Source) -> Result<Fit> {
    let (a, b) = (read(a)?, read(b)?);
    let fit = compare(&a, &b);
    Ok(if matches!(fit, Fit::Unknown) { compare(&b, &a) } else { fit })
}

/// One order of each pair.
fn compare(a: &Part, b: &Part) -> Fit {
    const VALUES: &str = "number of witness values";
    const PUBLIC: &str = "number of public inputs";
    match (a, b) {
        (Part::Circuit(circuit), Part::Witness(z)) => Fit::of(VALUES, key::fit_witness(circuit, z.len())),
        (Part::Circuit(circuit), Part::Public(public)) => {
            Fit::counts(PUBLIC, circuit.inputs - 1, public.len())
        }
        (Part::Circuit(circuit), Part::Vk(vk)) => Fit::counts(PUBLIC, circuit.inputs - 1, inputs(vk)),
        (Part::Key(key), Part::Circuit(circuit)) => {
            Fit::of("inputs, auxiliary variables, densities, domain", key::fit_circuit(key, circuit))
        }
        (Part::Key(key), Part::Witness(z)) => Fit::counts(VALUES, key.variables(), z.len()),
        (Part::Key(key), Part::Vk(vk)) => same_vk(&key.vk, vk),
        (Part::Key(a), Part::Key(b)) => same_vk(&a.vk, &b.vk),
        (Part::Key(key), Part::Public(public)) => Fit::counts(PUBLIC, key.inputs - 1, public.len()),
        (Part::Vk(a), Part::Vk(b)) => same_vk(a, b),
        (Part::Vk(vk), Part::Public(public)) => Fit::counts(PUBLIC, inputs(vk), public.len()),
        (Part::Witness(z), Part::Public(public)) => match z.get(1..=public.len()) {
            Some(values) if values == public => Fit::Yes("the public values"),
            _ => Fit::No("the witness has other public values".to_owned()),
        },
        _ => Fit::Unknown,
    }
}

/// Without the constant 1.
fn inputs(vk: &VerifyingKey) -> usize {
    vk.ic.len().saturating_sub(1)
}

/// In what verification uses: verification_key.json does not have the rest.
fn same_vk(a: &VerifyingKey, b: &VerifyingKey) -> Fit {
    let same =
        (a.alpha_g1, a.beta_g2, a.gamma_g2, a.delta_g2) == (b.alpha_g1, b.beta_g2, b.gamma_g2, b.delta_g2);
    if same && a.ic == b.ic {
        Fit::Yes("the verifying key")
    } else {
        Fit::No("they have different verifying keys".to_owned())
    }
}
