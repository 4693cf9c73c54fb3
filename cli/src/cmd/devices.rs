//! `cuzk devices`.

use std::fmt::Write;

use cuzk_core::backend::DeviceKind;
use serde_json::json;

use crate::exit::{Exit, Result};
use crate::output::Report;
use crate::{Context, backends};

/// Every backend with its devices, or with the reason why it has none.
pub fn run(context: &Context) -> Result<Report> {
    let mut human = String::new();
    let mut list = Vec::new();
    for (name, found) in backends::devices(&context.registry) {
        match found {
            Ok(devices) => {
                for info in devices {
                    let facts: String =
                        info.facts.iter().map(|(key, value)| format!(", {key} {value}")).collect();
                    let (kind, units) = (kind(info.kind), info.units);
                    // A string cannot fail to be written to.
                    let _ = writeln!(
                        human,
                        "{name:<6} {}  {} ({kind}, {units} units{facts})",
                        info.index, info.name
                    );
                    list.push(json!({ "backend": name, "available": true, "device": info }));
                }
            }
            Err(error) => {
                let _ = writeln!(human, "{name:<6} -  {error}");
                list.push(json!({ "backend": name, "available": false, "reason": error.to_string() }));
            }
        }
    }
    Ok(Report::new(Exit::Ok, human, json!({ "backends": list })))
}

fn kind(kind: DeviceKind) -> &'static str {
    match kind {
        DeviceKind::Cpu => "processor",
        DeviceKind::DiscreteGpu => "GPU with its own memory",
        DeviceKind::IntegratedGpu => "GPU in shared memory",
        DeviceKind::SoftwareGpu => "GPU interface run by the processor",
    }
}
