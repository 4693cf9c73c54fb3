//! The command line as a library, so that tests reach what the binary does with backends of their own.
//!
//! | looking for | module |
//! |---|---|
//! | flags | [`args`] |
//! | exit codes | [`exit`] |
//! | what is printed, `--json` | [`output`] |
//! | which backends there are, `auto` | [`backends`] |
//! | a command | [`cmd`] |

pub mod args;
pub mod atomic;
pub mod backends;
pub mod cmd;
pub mod exit;
pub mod interrupt;
pub mod output;
pub mod progress;
pub mod reference;
pub mod settings;

use std::path::PathBuf;
use std::sync::Arc;

use cuzk_core::progress::{CancelToken, Control};
use cuzk_core::prover::Registry;

use args::{Cli, Command};
use exit::{Exit, Failure};
use output::{Output, Report};
use progress::Bars;

/// What every command works with.
pub struct Context {
    /// Remarks.
    pub output: Output,
    /// Progress as it is drawn, and the time of each stage.
    pub bars: Arc<Bars>,
    /// Progress and cancellation, for the library.
    pub control: Control,
    /// Backends.
    pub registry: Registry,
    /// Folder of compiled kernels, if there is one.
    pub kernels: Option<PathBuf>,
}

impl Context {
    /// With bars on a terminal.
    pub fn new(output: Output, cancel: CancelToken, registry: Registry) -> Self {
        let bars = Arc::new(Bars::new(output.is_quiet()));
        let control = Control { observer: bars.clone(), cancel };
        let output = output.beside(bars.clone());
        Self { output, bars, control, registry, kernels: None }
    }

    /// Between two steps: stops here if a signal came.
    pub fn go_on(&self) -> exit::Result<()> {
        if self.control.cancel.is_cancelled() {
            return Err(Failure::new(Exit::Cancelled, "cancelled"));
        }
        Ok(())
    }
}

/// Runs a parsed command line and gives the code to end with.
pub fn run(cli: &Cli, cancel: CancelToken) -> Exit {
    let kernels = cli.command.cache().and_then(settings::cache_dir).map(|folder| folder.join("kernels"));
    let output = Output::new(cli.global.json, cli.global.quiet);
    let context =
        Context { kernels: kernels.clone(), ..Context::new(output, cancel, backends::registry(kernels)) };
    let mut outcome = dispatch(&context, &cli.command);
    context.bars.clear();
    if interrupt::asked() && outcome.is_err() {
        outcome = Err(Failure::new(Exit::Interrupted, "interrupted"));
    }
    context.output.finish(cli.command.name(), outcome)
}

fn dispatch(context: &Context, command: &Command) -> exit::Result<Report> {
    match command {
        Command::Prove(args) => cmd::prove::run(context, args),
        Command::Verify(args) => cmd::verify::run(context, args),
        Command::Setup(args) => cmd::setup::run(context, args),
        Command::Check(args) => cmd::check::run(context, args),
        Command::Inspect(args) => cmd::inspect::run(context, args),
        Command::Export(args) => cmd::export::run(context, args),
        Command::Devices(_) => cmd::devices::run(context),
        Command::Bench(args) => cmd::bench::run(context, args),
        Command::Generate(args) => cmd::generate::run(args),
    }
}
