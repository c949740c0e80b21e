//! Other machines, reached by the user's own ssh: which ones are meant, how a command is started
//! there, and what its end means.
//!
//! Nothing is started here: [`Ssh::command_line`] is for whoever has to end it. Keys, users, ports
//! and jump hosts are a matter of ssh_config(5); a password is never asked for.

mod answer;
mod ending;
mod list;
mod quoting;
pub mod script;
mod ssh;

pub use answer::{Answer, Answers};
pub use ending::Ending;
pub use list::{HOSTS_MAX, Host, HostList, HostListError};
pub use quoting::quoted;
pub use ssh::{Ssh, SshError};
