//! Any application: a command that works and says what it has made durable, and a check that says
//! what of it is there after a power cut.
//!
//! A unit of work is a line that the command prints; it is acknowledged when the line was read.
//! The check is the application's own judge, so it is held against the uncrashed state first.

mod builtin;
mod description;
mod findings;
mod work;

pub use builtin::{application, application_names};
pub use description::{Application, ApplicationError};
pub use findings::{
    ApplicationFigures, ApplicationFindings, application_figures, judge_application,
};
pub use work::{
    Acknowledged, ApplicationFault, ApplicationSeen, ApplicationWork, CheckRun, Ending, found_units,
};
