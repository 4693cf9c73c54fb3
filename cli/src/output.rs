//! The only place that prints.
//!
//! A command returns a [`Report`]; here it becomes text on stdout or, with `--json`, one object on stdout. Everything else
//! (notes, warnings, progress, errors) goes to stderr. A reader that went away (broken pipe) is not an error.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use clap::builder::{BoolishValueParser, TypedValueParser};
use serde_json::{Map, Value, json};

use crate::exit::{Exit, Failure};
use crate::progress::Bars;

/// Version of the JSON objects: raised when a field changes its meaning or goes away, not when one is added.
pub const SCHEMA_VERSION: u32 = 1;

/// The result of a command.
#[derive(Debug)]
pub struct Report {
    /// `Ok`, or `Invalid` for an answer that is no.
    pub exit: Exit,
    /// For people; lines end in a newline.
    pub human: String,
    /// For programs; added to the object's common fields.
    pub fields: Map<String, Value>,
}

impl Report {
    /// A result in both forms. `fields` must be an object; anything else becomes its `result` field.
    pub fn new(exit: Exit, human: String, fields: Value) -> Self {
        let fields = match fields {
            Value::Object(map) => map,
            other => Map::from_iter([("result".to_owned(), other)]),
        };
        Self { exit, human, fields }
    }
}

/// Where results and remarks go.
#[derive(Default)]
pub struct Output {
    json: bool,
    quiet: bool,
    bars: Option<Arc<Bars>>,
    warnings: Mutex<Vec<String>>,
}

impl Output {
    /// With `--json` and `--quiet` as given.
    pub fn new(json: bool, quiet: bool) -> Self {
        Self { json, quiet, ..Self::default() }
    }

    /// Remarks that keep clear of progress bars.
    pub fn beside(self, bars: Arc<Bars>) -> Self {
        Self { bars: Some(bars), ..self }
    }

    fn remark(&self, line: &str) {
        match &self.bars {
            Some(bars) => bars.around(|| stderr_line(line)),
            None => stderr_line(line),
        }
    }

    /// Whether remarks are wanted.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Something worth knowing.
    pub fn note(&self, message: impl std::fmt::Display) {
        if !self.quiet {
            self.remark(&format!("cuzk: {message}"));
        }
    }

    /// Something that may be wrong; also lands in the JSON object.
    pub fn warn(&self, message: impl std::fmt::Display) {
        let message = message.to_string();
        self.remark(&format!("cuzk: warning: {message}"));
        if let Ok(mut warnings) = self.warnings.lock() {
            warnings.push(message);
        }
    }

    /// Prints a result or an error and gives the code to end with.
    pub fn finish(&self, command: &str, outcome: Result<Report, Failure>) -> Exit {
        let (exit, text) = match outcome {
            Ok(report) if self.json => (report.exit, self.object(command, report.exit, report.fields)),
            Ok(report) => (report.exit, report.human),
            Err(failure) => {
                stderr_line(&format!("cuzk: error: {}", one_line(&failure.message)));
                let fields = Map::from_iter([("error".to_owned(), json!(one_line(&failure.message)))]);
                let object = self.json.then(|| self.object(command, failure.exit, fields));
                (failure.exit, object.unwrap_or_default())
            }
        };
        match print(&text) {
            Ok(()) => exit,
            Err(error) => {
                stderr_line(&format!("cuzk: error: stdout: {error}"));
                if exit == Exit::Ok { Exit::Io } else { exit }
            }
        }
    }

    fn object(&self, command: &str, exit: Exit, fields: Map<String, Value>) -> String {
        let warnings = self.warnings.lock().map(|w| w.clone()).unwrap_or_default();
        let mut object = Map::new();
        object.insert("schema_version".into(), json!(SCHEMA_VERSION));
        object.insert("command".into(), json!(command));
        object.insert("ok".into(), json!(exit == Exit::Ok));
        object.insert("exit_code".into(), json!(exit.code()));
        object.insert("warnings".into(), json!(warnings));
        object.extend(fields);
        format!("{}\n", Value::Object(object))
    }
}

/// Writes to stdout; a broken pipe counts as written.
fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// What clap has to say: help and version on stdout, usage errors on stderr, and with `json` as the one object too.
pub fn clap_message(error: &clap::Error, json: bool) -> Exit {
    let shown = error.print();
    match (error.use_stderr(), shown) {
        (true, _) => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            let fields = Map::from_iter([("error".to_owned(), json!(first.trim_start_matches("error: ")))]);
            let object = json.then(|| Output::new(true, true).object("cuzk", Exit::Usage, fields));
            // Where stdout is closed the exit code still tells.
            let _ = print(&object.unwrap_or_default());
            Exit::Usage
        }
        (false, Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => Exit::Io,
        (false, _) => Exit::Ok,
    }
}

/// Whether `--json` or its variable asks for JSON, of a command line that cannot be parsed: whoever asked still wants it. What follows
/// `--` are names of files.
pub fn json_wanted(arguments: impl Iterator<Item = OsString>, variable: Option<&OsStr>) -> bool {
    let flag = arguments.take_while(|argument| argument != "--").any(|argument| argument == "--json");
    let parse = |value| BoolishValueParser::new().parse_ref(&clap::Command::new("cuzk"), None, value);
    flag || variable.is_some_and(|value| parse(value).unwrap_or(false))
}

/// Where stderr is closed there is nobody to tell.
fn stderr_line(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// An error is one line, whatever a library or a file name put into it.
fn one_line(message: &str) -> String {
    message.split(['\n', '\r']).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_carry_the_common_fields() {
        let output = Output::new(true, true);
        output.warn("careful");
        let fields = Map::from_iter([("valid".to_owned(), json!(false))]);
        let object: Value = serde_json::from_str(&output.object("verify", Exit::Invalid, fields)).unwrap();
        let expected = json!({"schema_version": 1, "command": "verify", "ok": false, "exit_code": 1, "warnings": ["careful"], "valid": false});
        assert_eq!(object, expected);
    }

    #[test]
    fn errors_are_one_line() {
        assert_eq!(one_line("a\n  b\r\n\nc"), "a b c");
    }
}
