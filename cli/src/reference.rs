//! docs/cli.md, made from the parser; a test compares the two.

use std::fmt::Write;

use clap::{Arg, Command};

use crate::exit::TABLE;

/// The reference of all commands in Markdown.
pub fn markdown(root: &Command) -> String {
    let mut root = root.clone();
    root.build();
    let mut out = String::from(
        "# The command line\n\nMade by `cuzk generate reference`; a test keeps it so. Every flag has a twin in the \
         environment; the flag wins.\n`--json` puts one object with `schema_version` on stdout, everything else goes to stderr.\n",
    );
    let rows: Vec<(&str, &str)> =
        TABLE.lines().skip(1).filter_map(|line| line.trim().split_once(' ')).collect();
    out.push_str("\n## Exit codes\n\n| code | meaning |\n|---|---|\n");
    for (code, meaning) in rows {
        line(&mut out, format_args!("| {code} | {} |", meaning.trim()));
    }
    let globals: Vec<&Arg> = root.get_arguments().filter(|a| a.is_global_set() && shown(a)).collect();
    out.push_str("\n## Flags of every command\n\n");
    table(&mut out, &globals);
    section(&mut out, &root, &mut Vec::new());
    out
}

/// A command that does something itself gets a section; the others only lead to it.
fn section(out: &mut String, command: &Command, path: &mut Vec<String>) {
    path.push(command.get_name().to_owned());
    if command.has_subcommands() {
        for sub in command.get_subcommands().filter(|s| s.get_name() != "help") {
            section(out, sub, path);
        }
    } else {
        let mut usage = command.clone();
        let usage = usage.render_usage().to_string();
        let about =
            command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
        line(out, format_args!("\n## {}\n\n{}\n", path.join(" "), about.trim()));
        line(out, format_args!("```\n{}\n```\n", usage.trim_start_matches("Usage: ").trim()));
        let arguments: Vec<&Arg> =
            command.get_arguments().filter(|a| !a.is_global_set() && shown(a)).collect();
        table(out, &arguments);
    }
    path.pop();
}

fn shown(arg: &Arg) -> bool {
    !arg.is_hide_set() && arg.get_id() != "help" && arg.get_id() != "version"
}

fn table(out: &mut String, arguments: &[&Arg]) {
    if arguments.is_empty() {
        return;
    }
    out.push_str("| argument | meaning | environment |\n|---|---|---|\n");
    for arg in arguments {
        let names: Vec<String> =
            arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect();
        let values = if arg.get_action().takes_values() { names.join(" ") } else { String::new() };
        let name = match arg.get_long() {
            Some(long) => format!("--{long} {values}").trim().to_owned(),
            None => values,
        };
        let env = arg.get_env().map(|e| format!("`{}`", e.to_string_lossy())).unwrap_or_default();
        line(out, format_args!("| `{}` | {} | {env} |", escape(&name), escape(&meaning(arg))));
    }
}

/// Help, possible values and default in one line.
fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let paragraphs = help.split("\n\n").map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut text = paragraphs.collect::<Vec<_>>().join(". ");
    if arg.get_action().takes_values() {
        let values: Vec<String> = arg.get_possible_values().iter().map(|v| v.get_name().to_owned()).collect();
        if !values.is_empty() {
            // A string cannot fail to be written to.
            let _ = write!(text, " ({})", values.join(", "));
        }
        if let [default] = arg.get_default_values() {
            let _ = write!(text, " [default: {}]", default.to_string_lossy());
        }
    }
    text
}

fn escape(text: &str) -> String {
    text.replace('|', "\\|")
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // A string cannot fail to be written to.
    let _ = writeln!(out, "{text}");
}
