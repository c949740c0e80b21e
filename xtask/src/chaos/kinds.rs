//! All kinds of cases. A new one is a file here and a line in the list.

mod cut_device;
mod disk_full;
mod freeze;
mod kill;
mod locked_database;
mod no_terminal;
mod out_of_memory;
mod recovery;
mod two_at_once;

use super::kind::Kind;

/// In the order of tables and help.
pub(super) const KINDS: &[Kind] = &[
    kill::KIND,
    two_at_once::KIND,
    recovery::KIND,
    no_terminal::KIND,
    freeze::KIND,
    disk_full::KIND,
    locked_database::KIND,
    cut_device::KIND,
    out_of_memory::KIND,
];
