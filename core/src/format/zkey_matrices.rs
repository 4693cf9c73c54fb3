//! Section 4 of a `.zkey`: the matrices A and B, entry by entry.
//!
//! Entries may come in any order, so they are sorted by row with two passes: count, then place. The last rows of A belong to the
//! public inputs and the constant 1, one entry 1 each; they are what makes the IC query of every input different from the
//! identity, and they tell how many constraints there are, which no header says.

use std::io::Write;

use ff::PrimeField;

use super::container::section_head;
use super::fields::Fields;
use super::scalars::{self, Coefficients};
use super::zkey::ZKeyHeader;
use super::{FormatError, Result, put};
use crate::circuit::{Entry, Matrices, MatricesBuilder};
use crate::curve::Scalar;

/// matrix, row, wire, value.
const ENTRY: usize = 44;

type RawEntry = [u8; ENTRY];

/// Reads the section. The caller has checked that variables and domain are borne out by the file's size.
pub(super) fn read(fields: &mut Fields<'_>, header: &ZKeyHeader) -> Result<Matrices> {
    let at = fields.offset();
    let count = fields.u32_le("number of entries")?;
    let expected = u64::from(count) * ENTRY as u64;
    if fields.left() as u64 != expected {
        let found = format!("{} bytes ({} entries)", fields.left(), fields.left() / ENTRY);
        return Err(fields.error_at(
            "number of entries",
            at,
            format!("{expected} bytes for {count} entries"),
            found,
        ));
    }
    let start = fields.offset();
    let (entries, _) = fields.take(fields.left(), "entries")?.as_chunks::<ENTRY>();
    let inputs = header.public as usize + 1;
    let starts = row_starts(fields, entries, start, header)?;
    let (sorted, mut builder) = place(fields, entries, start, header, &starts)?;
    let constraints = constraints(fields, &sorted, &starts, &builder, inputs)?;
    let mut terms = Vec::new();
    for (matrix, rows) in [(0, constraints + inputs), (1, constraints)] {
        let first = matrix * header.domain as usize;
        for row in first..first + rows {
            terms.clear();
            terms.extend(
                sorted[starts[row] as usize..starts[row + 1] as usize].iter().filter(|e| e.code != ZERO),
            );
            builder
                .push_coded_row(matrix, &mut terms)
                .map_err(|e| fields.error_at("number of entries", at, e, "more"))?;
        }
    }
    let aux = header.variables as usize - inputs;
    Ok(builder.finish_with_input_rows(constraints, inputs, aux, false))
}

/// Code of a stored zero, which no dictionary has: there are fewer entries than that.
const ZERO: u32 = u32::MAX;

/// Checks matrix, row and wire of every entry; returns where each of the 2 * domain rows (A's, then B's) begins.
fn row_starts(
    fields: &Fields<'_>,
    entries: &[RawEntry],
    start: usize,
    header: &ZKeyHeader,
) -> Result<Vec<u32>> {
    let domain = header.domain as usize;
    let mut starts = vec![0u32; 2 * domain + 1];
    for (i, entry) in entries.iter().enumerate() {
        let [matrix, row, wire] = split(entry).0;
        let wrong = |part: &str, at: usize, limit: u32, found: u32| {
            fields.error_at(
                &format!("entry {i}, {part}"),
                start + i * ENTRY + at,
                format!("below {limit}"),
                found,
            )
        };
        if matrix > 1 {
            return Err(wrong("matrix", 0, 2, matrix));
        }
        if row >= header.domain {
            return Err(wrong("row", 4, header.domain, row));
        }
        if wire >= header.variables {
            return Err(wrong("wire", 8, header.variables, wire));
        }
        starts[matrix as usize * domain + row as usize + 1] += 1;
    }
    let mut total = 0;
    for start in &mut starts {
        total += *start;
        *start = total;
    }
    Ok(starts)
}

/// Entries in the order of their rows, coefficients coded.
fn place(
    fields: &Fields<'_>,
    entries: &[RawEntry],
    start: usize,
    header: &ZKeyHeader,
    starts: &[u32],
) -> Result<(Vec<Entry>, MatricesBuilder)> {
    let mut builder = MatricesBuilder::default();
    // A stored value is coefficient * 2^512 as an integer below r.
    let inverse = ff::Field::invert(&scalars::two_to_512()).unwrap_or(<Scalar as ff::Field>::ZERO);
    let mut coefficients = Coefficients::new(inverse);
    let mut next = starts.to_vec();
    let mut sorted = vec![Entry { col: 0, code: ZERO }; entries.len()];
    for (i, entry) in entries.iter().enumerate() {
        let ([matrix, row, wire], value) = split(entry);
        let Some(code) = coefficients.code(value, &mut builder) else {
            let (expected, found) = scalars::too_large(value);
            let offset = start + i * ENTRY + 12;
            return Err(fields.error_at(&format!("entry {i}, coefficient"), offset, expected, found));
        };
        let to = &mut next[matrix as usize * header.domain as usize + row as usize];
        sorted[*to as usize] = Entry { col: wire, code: code.unwrap_or(ZERO) };
        *to += 1;
    }
    Ok((sorted, builder))
}

/// Finds the input rows at the end of A and returns the number of rows before them.
fn constraints(
    fields: &Fields<'_>,
    sorted: &[Entry],
    starts: &[u32],
    builder: &MatricesBuilder,
    inputs: usize,
) -> Result<usize> {
    let domain = (starts.len() - 1) / 2;
    let row = |row: usize| &sorted[starts[row] as usize..starts[row + 1] as usize];
    let rows_a = (0..domain).rev().find(|r| !row(*r).is_empty()).map_or(0, |r| r + 1);
    let rows_b = (0..domain).rev().find(|r| !row(domain + r).is_empty()).map_or(0, |r| r + 1);
    let wrong = |place: String, expected: String, found: String| Err(fields.error(&place, expected, found));
    let Some(constraints) = rows_a.checked_sub(inputs) else {
        return wrong(
            "rows of A".into(),
            format!("at least the {inputs} of the public inputs"),
            rows_a.to_string(),
        );
    };
    if rows_b > constraints {
        let expected =
            format!("at most {constraints}, as A has {rows_a} rows, {inputs} of them the public inputs'");
        return wrong("rows of B".into(), expected, rows_b.to_string());
    }
    for input in 0..inputs {
        let one = |e: &Entry| {
            e.col as usize == input && builder.coefficient(e.code) == Some(<Scalar as ff::Field>::ONE)
        };
        if !matches!(row(constraints + input), [entry] if one(entry)) {
            let found = format!("{} entries, or another wire or coefficient", row(constraints + input).len());
            let expected = format!("the input row of wire {input}: one entry, coefficient 1");
            return wrong(format!("row {} of A", constraints + input), expected, found);
        }
    }
    Ok(constraints)
}

/// (matrix, row, wire) and the value.
fn split(entry: &RawEntry) -> ([u32; 3], &[u8; 32]) {
    let (head, value) = entry.split_first_chunk::<12>().unwrap_or((&[0; 12], &[]));
    let (words, _) = head.as_chunks::<4>();
    let word = |i: usize| words.get(i).map_or(0, |w| u32::from_le_bytes(*w));
    ([word(0), word(1), word(2)], value.first_chunk().unwrap_or(&[0; 32]))
}

/// Writes the section: row by row, A's terms then B's, the input rows last.
pub(super) fn write(out: &mut impl Write, matrices: &Matrices) -> Result<()> {
    let count = matrices.a.nnz() + matrices.b.nnz();
    let count = u32::try_from(count).map_err(|_| {
        FormatError::content(
            "output",
            "section 4 (coefficients)",
            None,
            format!("at most {} entries", u32::MAX),
            count,
        )
    })?;
    put(out, &section_head(4, 4 + u64::from(count) * ENTRY as u64))?;
    put(out, &count.to_le_bytes())?;
    let factor = scalars::two_to_512();
    let values: Vec<[u8; 32]> = matrices.dictionary.iter().map(|c| (*c * factor).to_repr()).collect();
    let mut b_entries = Vec::with_capacity(matrices.b.nnz() as usize);
    let mut b_starts = vec![0];
    matrices.b.for_each_row(|_, entries| {
        b_entries.extend(entries);
        b_starts.push(b_entries.len());
    });
    let mut outcome = Ok(());
    matrices.a.for_each_row(|row, entries| {
        let b_row =
            b_starts.get(row).zip(b_starts.get(row + 1)).and_then(|(from, to)| b_entries.get(*from..*to));
        let mut bytes = Vec::new();
        for entry in entries {
            append(&mut bytes, 0, row, &entry, &values);
        }
        for entry in b_row.unwrap_or(&[]) {
            append(&mut bytes, 1, row, entry, &values);
        }
        if outcome.is_ok() {
            outcome = put(out, &bytes);
        }
    });
    outcome
}

fn append(bytes: &mut Vec<u8>, matrix: u32, row: usize, entry: &Entry, values: &[[u8; 32]]) {
    bytes.extend(matrix.to_le_bytes());
    bytes.extend((row as u32).to_le_bytes());
    bytes.extend(entry.col.to_le_bytes());
    bytes.extend(values[entry.code as usize]);
}
