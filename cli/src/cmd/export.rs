//! `cuzk export vk`.

use std::path::Path;

use cuzk_core::format::{json as snarkjs, vk};
use serde_json::json;

use super::files;
use crate::Context;
use crate::args::{Export, ExportKind};
use crate::atomic::{Content, Outputs};
use crate::exit::{Exit, Failure, Result};
use crate::output::Report;

/// Writes the verifying key of a proving key.
pub fn run(context: &Context, args: &Export) -> Result<Report> {
    let ExportKind::Vk { key, out } = &args.kind;
    let json_form = match extension(out).as_deref() {
        Some("vk") => false,
        Some("json") => true,
        _ => return Err(Failure::usage(format!("{}: the name must end in .vk or .json", out.display()))),
    };
    let outputs = Outputs::prepare(&[out], &[key])?;
    let key_name = key.display();
    let key = files::read(context, key, vk::read_any)?;
    files::warn_forgeable(context, &key_name.to_string(), key.is_forgeable());
    let content: Content<'_> = match json_form {
        true => Box::new(|mut file| snarkjs::write_vk(&mut file, &key)),
        false => Box::new(|mut file| vk::write(&mut file, &key)),
    };
    outputs.commit(vec![content])?;
    let inputs = key.ic.len().saturating_sub(1);
    let human = format!("{}: verifying key of {inputs} public inputs\n", out.display());
    let fields = json!({ "file": out.display().to_string(), "format": if json_form { "snarkjs" } else { "bellman" }, "public_inputs": inputs });
    Ok(Report::new(Exit::Ok, human, fields))
}

/// In lower case.
pub(super) fn extension(path: &Path) -> Option<String> {
    path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase())
}
