//! Ctrl-C and SIGTERM: the first asks the running work to stop at its next operation boundary, the second ends the process.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use cuzk_core::progress::CancelToken;

use crate::exit::Exit;

static ASKED: AtomicBool = AtomicBool::new(false);
static TOKEN: OnceLock<CancelToken> = OnceLock::new();

/// Watches for signals from now on; gives the token they cancel. Without a handler (the system refused one) the default action
/// of the signal stands, which ends the process too.
pub fn watch() -> CancelToken {
    let token = TOKEN.get_or_init(CancelToken::default).clone();
    let handed = token.clone();
    let _ = ctrlc::set_handler(move || {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(Exit::Interrupted.code().into());
        }
        handed.cancel();
    });
    token
}

/// Whether a signal came.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
