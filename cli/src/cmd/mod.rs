//! One module per command: arguments in, a report out.

pub mod bench;
pub mod check;
pub mod devices;
pub mod export;
pub mod generate;
pub mod inspect;
pub mod prove;
pub mod setup;
pub mod verify;

mod files;
mod fits;
