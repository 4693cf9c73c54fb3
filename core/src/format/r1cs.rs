//! `.r1cs`: a circom circuit. Section 1 is the header, section 2 the constraints, 3 labels (not needed), 4 and 5 custom gates.
//!
//! A constraint is three linear combinations A, B, C with <A, z> <B, z> = <C, z>; each is `terms u32 | terms x (wire u32 |
//! coefficient[32])`, little-endian, canonical. circom sorts wires and merges terms; others need not, so repeated wires are added up
//! here, as snarkjs's setup and prover do.

use super::container::Container;
use super::fields::Fields;
use super::modulus::{self, scalar_modulus};
use super::scalars::{self, Coefficients};
use super::{FormatError, Result, Source};
use crate::circuit::{Entry, Matrices, MatricesBuilder};
use crate::curve::Scalar;

pub(super) const MAGIC: &[u8; 4] = b"r1cs";

/// What section 1 says. Wires are the constant 1, public outputs, public inputs, then private ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct R1csHeader {
    /// Length of z.
    pub wires: u32,
    /// Public outputs.
    pub pub_out: u32,
    /// Public inputs.
    pub pub_in: u32,
    /// Private inputs as declared: simplification may have removed some of them from the wires.
    pub prv_in: u32,
    /// Labels.
    pub labels: u64,
    /// Constraints.
    pub constraints: u32,
}

impl R1csHeader {
    /// The constant 1, public outputs and public inputs.
    pub fn inputs(&self) -> usize {
        1 + self.pub_out as usize + self.pub_in as usize
    }
}

/// A circuit read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct R1cs {
    /// The header.
    pub header: R1csHeader,
    /// A (input rows included), B and C.
    pub matrices: Matrices,
    /// Uses of custom gates. Groth16 ignores them: a circuit that has any proves less than its source says.
    pub custom_gates: usize,
}

/// Reads a circuit.
///
/// # Errors
/// Versions other than 1, another field, counts that the sections do not bear out, a wire or coefficient out of range.
pub fn read(source: &Source) -> Result<R1cs> {
    let container = Container::read(source, MAGIC, 1..=1)?;
    let header = header(&container)?;
    bound_wires(source, &header)?;
    let custom_gates = custom_gates(&container)?;
    let mut fields = container.require(2, "constraints")?;
    let at_most = fields.left() / 12;
    if header.constraints as usize > at_most {
        let found = format!("{} in section 1", header.constraints);
        return Err(fields.error(
            "number of constraints",
            format!("at most {at_most} in {} bytes", fields.left()),
            found,
        ));
    }
    let too_many =
        |e: crate::circuit::MatricesError| FormatError::content(source.name(), "section 2", None, e, "more");
    let mut builder = MatricesBuilder::default();
    let mut coefficients = Coefficients::new(<Scalar as ff::Field>::ONE);
    let mut terms = Vec::new();
    for row in 0..header.constraints {
        for matrix in 0..3 {
            let at = Place { row, matrix };
            combination(&mut fields, at, header.wires, &mut coefficients, &mut builder, &mut terms)?;
            builder.push_coded_row(matrix, &mut terms).map_err(too_many)?;
        }
    }
    fields.end()?;
    let inputs = header.inputs();
    let matrices = builder.finish(inputs, header.wires as usize - inputs, true).map_err(too_many)?;
    Ok(R1cs { header, matrices, custom_gates })
}

/// Reads section 1 alone.
///
/// # Errors
/// As [`read`], as far as the header goes.
pub fn read_header(source: &Source) -> Result<R1csHeader> {
    header(&Container::read(source, MAGIC, 1..=1)?)
}

fn header(container: &Container<'_>) -> Result<R1csHeader> {
    let mut fields = container.require(1, "header")?;
    modulus::expect(&mut fields, "the scalar field", &scalar_modulus())?;
    let at = fields.offset();
    let header = R1csHeader {
        wires: fields.u32_le("wires")?,
        pub_out: fields.u32_le("public outputs")?,
        pub_in: fields.u32_le("public inputs")?,
        prv_in: fields.u32_le("private inputs")?,
        labels: fields.u64_le("labels")?,
        constraints: fields.u32_le("constraints")?,
    };
    fields.end()?;
    let inputs = 1 + u64::from(header.pub_out) + u64::from(header.pub_in);
    if inputs > u64::from(header.wires) {
        let expected = format!("at least the {inputs} of the constant 1, public outputs and public inputs");
        return Err(fields.error_at("wires", at, expected, header.wires));
    }
    Ok(header)
}

/// Inputs that a file of any size may have: what they cost is small.
const FEW_INPUTS: usize = 4096;

/// A wire takes bytes where it occurs (a term of a constraint, a label), so a count beyond the file's size is a lie, and would make
/// assignments of any length. An input costs memory without occurring anywhere: its row of A is an entry, up to 36 bytes while vectors
/// grow. One for every 8 bytes, which its label takes, keeps that below five times the file.
fn bound_wires(source: &Source, header: &R1csHeader) -> Result<()> {
    let bytes = source.bytes().len();
    let refuse = |place: &str, expected, found: usize| {
        Err(FormatError::content(
            source.name(),
            format!("section 1 (header), {place}"),
            None,
            expected,
            found,
        ))
    };
    if header.wires as usize > bytes {
        let expected = format!("at most one per byte of the file, {bytes}");
        return refuse("wires", expected, header.wires as usize);
    }
    let most = FEW_INPUTS.max(bytes / 8);
    if header.inputs() > most {
        let expected = format!("at most {most} in {bytes} bytes");
        return refuse("public outputs and inputs with the constant 1", expected, header.inputs());
    }
    Ok(())
}

/// Section 5 begins with the number of uses; files without custom templates lack it or leave it at 0.
fn custom_gates(container: &Container<'_>) -> Result<usize> {
    match container.find(5, "custom gate uses") {
        Some(mut fields) if fields.left() > 0 => Ok(fields.u32_le("uses")? as usize),
        _ => Ok(0),
    }
}

/// Where a linear combination stands, for messages.
#[derive(Clone, Copy)]
struct Place {
    row: u32,
    matrix: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "constraint {} {}", self.row, ["A", "B", "C"].get(self.matrix).unwrap_or(&"?"))
    }
}

/// Reads one linear combination into `terms`.
fn combination(
    fields: &mut Fields<'_>,
    place: Place,
    wires: u32,
    coefficients: &mut Coefficients,
    builder: &mut MatricesBuilder,
    terms: &mut Vec<Entry>,
) -> Result<()> {
    const TERM: usize = 36;
    let at = fields.offset();
    let count = match fields.left() {
        0..4 => {
            return Err(fields.error(
                &place.to_string(),
                "a number of terms in 4 bytes",
                format!("{} bytes left", fields.left()),
            ));
        }
        _ => fields.u32_le("terms")? as usize,
    };
    let most = fields.left() / TERM;
    if count > most {
        return Err(fields.error_at(
            &format!("{place}, terms"),
            at,
            format!("at most {most} in the bytes left"),
            count,
        ));
    }
    let start = fields.offset();
    let (entries, _) = fields.take(count * TERM, "terms")?.as_chunks::<TERM>();
    terms.clear();
    for (i, entry) in entries.iter().enumerate() {
        let (wire, value) = split(entry);
        let offset = start + i * TERM;
        if wire >= wires {
            return Err(fields.error_at(
                &format!("{place}, term {i}, wire"),
                offset,
                format!("below {wires}"),
                wire,
            ));
        }
        match coefficients.code(value, builder) {
            Some(Some(code)) => terms.push(Entry { col: wire, code }),
            Some(None) => {}
            None => {
                let (expected, found) = scalars::too_large(value);
                return Err(fields.error_at(
                    &format!("{place}, term {i}, coefficient"),
                    offset + 4,
                    expected,
                    found,
                ));
            }
        }
    }
    Ok(())
}

/// Wire and coefficient of a term.
fn split(entry: &[u8; 36]) -> (u32, &[u8; 32]) {
    let (wire, value) = entry.split_first_chunk::<4>().unwrap_or((&[0; 4], &[]));
    (u32::from_le_bytes(*wire), value.first_chunk().unwrap_or(&[0; 32]))
}
