//! `cuzk inspect`.

use std::fmt::Write;

use cuzk_core::format::{Source, sniff};
use cuzk_core::progress::Stage;
use serde_json::{Value, json};

use super::fits;
use crate::Context;
use crate::args::Inspect;
use crate::exit::{Exit, Failure, Result};
use crate::output::Report;

/// What each file is; of two files, whether they fit each other.
pub fn run(context: &Context, args: &Inspect) -> Result<Report> {
    let mut human = String::new();
    let mut list = Vec::new();
    let mut sources = Vec::new();
    for path in &args.files {
        context.go_on()?;
        let source = Source::open(path)?;
        let inspection =
            context.control.stage(Stage::Read, 0, || sniff::inspect(&source, &context.control))?;
        for warning in &inspection.warnings {
            context.output.warn(format!("{}: {warning}", path.display()));
        }
        let inspection = serde_json::to_value(inspection).map_err(|e| Failure::internal(e.to_string()))?;
        describe(&mut human, &inspection, 0);
        list.push(inspection);
        sources.push(source);
    }
    let fit = match sources.as_slice() {
        [a, b] => Some(fits::fits(a, b)?),
        _ => None,
    };
    if let Some(fit) = &fit {
        let _ = writeln!(human, "\n{}", fit.sentence());
    }
    let fields = json!({ "files": list, "fit": fit.as_ref().map(fits::Fit::json) });
    Ok(Report::new(Exit::Ok, human, fields))
}

/// What comes first; the rest follows in alphabetical order.
const FIRST: [&str; 6] = ["file", "format", "curve", "bytes", "sha256", "header"];

/// Names and values, indented by depth.
fn describe(out: &mut String, value: &Value, depth: usize) {
    let Value::Object(map) = value else { return };
    let first = FIRST.iter().filter_map(|name| map.get_key_value(*name));
    let rest = map.iter().filter(|(name, _)| !FIRST.contains(&name.as_str()) && *name != "kind");
    for (name, value) in first.chain(rest).filter(|(_, value)| !value.is_null() && !value.is_array()) {
        let label = name.replace('_', " ");
        let indent = "  ".repeat(depth);
        let _ = match value {
            Value::Object(_) => writeln!(out, "{indent}{label}:"),
            Value::String(text) => writeln!(out, "{indent}{label:<20} {text}"),
            other => writeln!(out, "{indent}{label:<20} {other}"),
        };
        describe(out, value, depth + 1);
    }
}
