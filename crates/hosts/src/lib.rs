//! Other machines, reached by the user's own ssh: which ones are meant, how a command is started
//! there, and what its end means.
//!
//! Ranks that a launcher has started come by themselves: they dial the runner ([`Rendezvous`]) and
//! both sides prove that they know one secret.
//!
//! Nothing is started here: [`Ssh::command_line`] is for whoever has to end it. Keys, users, ports
//! and jump hosts are a matter of ssh_config(5); a password is never asked for.

pub mod allocation;
mod answer;
mod connected;
mod descriptor;
mod dial;
mod ending;
pub mod handshake;
mod list;
mod proof;
mod quoting;
mod rendezvous;
pub mod script;
mod secret;
mod ssh;
mod trusted_ssh;

pub use answer::{Answer, Answers};
pub use connected::ConnectedRanks;
pub use descriptor::{RequestError, request_connection};
pub use dial::{DialError, Order, RankSide};
pub use ending::Ending;
pub use list::{HOSTS_MAX, Host, HostList, HostListError};
pub use quoting::quoted;
pub use rendezvous::{Event, Listening, REQUESTS, Rendezvous, listen};
pub use secret::{Secret, SecretError};
pub use ssh::{Ssh, SshError};
pub use trusted_ssh::TrustedSsh;
