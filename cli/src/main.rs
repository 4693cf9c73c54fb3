//! The binary `cuzk`: parses, runs, ends with the right code.

use std::process::ExitCode;

use clap::Parser;
use cuzk::args::Cli;
use cuzk::exit::{Exit, Failure};
use cuzk::output::{Output, clap_message, json_wanted};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let json = json_wanted(std::env::args_os(), std::env::var_os("CUZK_JSON").as_deref());
            return clap_message(&error, json).code().into();
        }
    };
    let cancel = cuzk::interrupt::watch();
    let command = cli.command.name();
    let global = cli.global;
    // A panic is a defect. It still ends in one line and the code that says so.
    let ended = std::panic::catch_unwind(|| cuzk::run(&cli, cancel));
    let exit = ended.unwrap_or_else(|_| {
        let failure = Failure::new(Exit::Internal, "internal error: please report the lines above");
        Output::new(global.json, global.quiet).finish(command, Err(failure))
    });
    exit.code().into()
}
