//! External programs: found, started without a shell, captured, limited in time and output, and
//! ended with all they have started; namespaces in which mounts and daemons end with a process.
//!
//! This is the place where external tools are started. It must not know what a program is for.
#![expect(unsafe_code, reason = "what happens between fork and exec")]

pub mod child;
pub mod cmd;
pub mod orphans;
