//! `cuzk generate`: completions, man pages, reference.

use std::fs;
use std::path::Path;

use clap::{Command, CommandFactory};
use serde_json::json;

use crate::args::{Cli, Generate, GenerateKind};
use crate::exit::{Exit, Failure, Result};
use crate::output::Report;

/// The text is the result; with `--json` it is the field `text`.
pub fn run(args: &Generate) -> Result<Report> {
    let mut command = Cli::command();
    let text = match &args.kind {
        GenerateKind::Completions { shell } => {
            let mut out = Vec::new();
            clap_complete::generate(*shell, &mut command, "cuzk", &mut out);
            String::from_utf8_lossy(&out).into_owned()
        }
        GenerateKind::Man { dir: Some(dir) } => return pages(&mut command, dir),
        GenerateKind::Man { dir: None } => page(&command)?,
        GenerateKind::Reference => crate::reference::markdown(&command),
    };
    Ok(Report::new(Exit::Ok, text.clone(), json!({ "text": text })))
}

fn page(command: &Command) -> Result<String> {
    let mut out = Vec::new();
    let rendered = clap_mangen::Man::new(command.clone()).render(&mut out);
    rendered.map_err(|e| Failure::internal(format!("man page: {e}")))?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn pages(command: &mut Command, dir: &Path) -> Result<Report> {
    fs::create_dir_all(dir).map_err(|e| Failure::io(dir, &e))?;
    command.build();
    let mut written = Vec::new();
    write_pages(command, dir, &mut written)?;
    let human = written.iter().map(|path| format!("{path}\n")).collect();
    Ok(Report::new(Exit::Ok, human, json!({ "files": written })))
}

/// The page of a command and of everything below it.
fn write_pages(command: &Command, dir: &Path, written: &mut Vec<String>) -> Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let path = dir.join(format!("{name}.1"));
    let text = page(command)?;
    fs::write(&path, text).map_err(|e| Failure::io(&path, &e))?;
    written.push(path.display().to_string());
    command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help")
        .try_for_each(|sub| write_pages(sub, dir, written))
}
