//! The binary `cuzk`: parses, runs, ends with the right code.

use std::process::ExitCode;

use clap::Parser;
use cuzk::args::Cli;
use cuzk::exit::{Exit, Failure};
use cuzk::output::{Output, clap_message};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return clap_message(&error).code().into(),
    };
    let cancel = cuzk::interrupt::watch();
    let command = cli.command.name();
    let global = cli.global;
    // Threads of our own stack size would hide nothing: a panic is a defect, reported as one line and code 70.
    let ended = std::panic::catch_unwind(|| cuzk::run(&cli, cancel));
    let exit = ended.unwrap_or_else(|_| {
        let failure = Failure::new(Exit::Internal, "internal error: please report the lines above");
        Output::new(global.json, global.quiet).finish(command, Err(failure))
    });
    exit.code().into()
}
