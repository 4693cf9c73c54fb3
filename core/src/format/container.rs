//! The container that `.r1cs`, `.wtns` and `.zkey` share (iden3's binary format), little-endian throughout:
//! `magic[4] | version u32 | sections u32 | sections x (type u32 | size u64 | payload)`.
//!
//! Sections come in any order and unknown types are passed over, as producers differ. Three things are refused that snarkjs
//! lets pass: a type that occurs twice (which of the two counts differs between readers), bytes after the last section, and
//! sections beyond the end of the file. Each means that the file is not what its producer wrote.

use super::fields::Fields;
use super::{FormatError, Result, Source};

/// More sections than any producer writes (ten in a Groth16 key, eighteen in a fflonk key).
const MAX_SECTIONS: u32 = 256;

/// A parsed table of sections; payloads stay where they are.
#[derive(Debug)]
pub(super) struct Container<'a> {
    file: &'a str,
    sections: Vec<Section<'a>>,
}

#[derive(Debug)]
struct Section<'a> {
    kind: u32,
    offset: usize,
    payload: &'a [u8],
}

impl<'a> Container<'a> {
    /// Reads the table. `versions` are those that are understood.
    pub(super) fn read(
        source: &'a Source,
        magic: &[u8; 4],
        versions: std::ops::RangeInclusive<u32>,
    ) -> Result<Self> {
        let file = source.name();
        let mut fields = Fields::new(file, "container", source.bytes(), 0);
        let found: [u8; 4] = fields.array("magic")?;
        if found != *magic {
            return Err(fields.error_at("magic", 0, text(magic), text(&found)));
        }
        let version = fields.u32_le("version")?;
        if !versions.contains(&version) {
            let (first, last) = versions.into_inner();
            let known = if first == last { first.to_string() } else { format!("{first} to {last}") };
            return Err(fields.error_at("version", 4, known, version));
        }
        let count = fields.u32_le("number of sections")?;
        let most = MAX_SECTIONS.min((fields.left() / 12) as u32);
        if count > most {
            return Err(fields.error_at("number of sections", 8, format!("at most {most}"), count));
        }
        let mut sections: Vec<Section<'a>> = Vec::with_capacity(count as usize);
        for index in 0..count {
            let section = Self::section(&mut fields, index)?;
            if let Some(first) = sections.iter().find(|s| s.kind == section.kind) {
                let place = format!("section {}", section.kind);
                let found = format!("a second one (the first is at byte {})", first.offset);
                return Err(FormatError::content(
                    file,
                    place,
                    section.offset as u64,
                    "one such section",
                    found,
                ));
            }
            sections.push(section);
        }
        fields.end()?;
        Ok(Self { file, sections })
    }

    fn section(fields: &mut Fields<'a>, index: u32) -> Result<Section<'a>> {
        let kind = fields.u32_le(&format!("type of section number {index}"))?;
        let at = fields.offset();
        let size = fields.u64_le(&format!("size of section {kind}"))?;
        let offset = fields.offset();
        let left = fields.left();
        let size = usize::try_from(size).ok().filter(|s| *s <= left).ok_or_else(|| {
            let found = format!("{size} bytes");
            fields.error_at(
                &format!("size of section {kind}"),
                at,
                format!("at most the {left} bytes left"),
                found,
            )
        })?;
        Ok(Section { kind, offset, payload: fields.take(size, "payload")? })
    }

    /// The fields of a section that must be there; `name` says what it holds.
    pub(super) fn require(&self, kind: u32, name: &str) -> Result<Fields<'a>> {
        self.find(kind, name).ok_or_else(|| {
            let present: Vec<String> = self.sections.iter().map(|s| s.kind.to_string()).collect();
            let found = format!(
                "only sections {}",
                if present.is_empty() { "none".into() } else { present.join(", ") }
            );
            FormatError::content(
                self.file,
                format!("section {kind} ({name})"),
                None,
                "one such section",
                found,
            )
        })
    }

    /// The fields of a section that may be missing.
    pub(super) fn find(&self, kind: u32, name: &str) -> Option<Fields<'a>> {
        let section = self.sections.iter().find(|s| s.kind == kind)?;
        Some(Fields::new(self.file, format!("section {kind} ({name})"), section.payload, section.offset))
    }
}

/// Bytes as text where they are text, for messages about magic numbers.
fn text(bytes: &[u8]) -> String {
    let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    match std::str::from_utf8(bytes) {
        Ok(s) if s.chars().all(|c| c.is_ascii_graphic() || c == ' ') => format!("\"{s}\" (0x{hex})"),
        _ => format!("0x{hex}"),
    }
}

/// Writes the head of a container.
pub(super) fn write_head(magic: &[u8; 4], version: u32, sections: u32) -> Vec<u8> {
    let mut out = magic.to_vec();
    out.extend(version.to_le_bytes());
    out.extend(sections.to_le_bytes());
    out
}

/// The head of one section.
pub(super) fn section_head(kind: u32, size: u64) -> [u8; 12] {
    let mut out = [0; 12];
    out[..4].copy_from_slice(&kind.to_le_bytes());
    out[4..].copy_from_slice(&size.to_le_bytes());
    out
}
