//! fio job files as workloads: what a job file asks for, whether it stays inside a trial, and what
//! fio says of its work.
//!
//! A job file is read ([`JobFile::parse`]), checked against everything that would reach outside the
//! trial, cut into phases ([`JobFile::phases`]), weighed ([`JobFile::needed_bytes`]), and written
//! anew for one phase ([`JobFile::for_phase`]); the JSON that fio prints becomes figures
//! ([`Outcome::parse`]). What reaches fio is only ever what this crate wrote, never the text that
//! it was given: two programs that read one text differently are how checks are got around.
//!
//! | module | what |
//! |---|---|
//! | `syntax` | lines and sections |
//! | `refused` | the table of what is refused, and why |
//! | `paths` | names of files that stay below the root |
//! | `amount` | numbers with fio's units |
//! | `job` | sections with their globals, phases, notices |
//! | `space` | bytes that the files of a job file take |
//! | `rewrite` | the job file and the arguments for one phase; the scaled text |
//! | `output` | fio's JSON |
//! | `outcome` | what a run of fio comes to, in the words of the model |
//!
//! Pure functions on text: no process is started and no file is touched. Sources: the HOWTO
//! (fio.readthedocs.io) and the behaviour of fio 3.33.

mod amount;
mod job;
mod outcome;
mod output;
mod paths;
mod refused;
mod rewrite;
mod space;
mod syntax;

pub use job::{JobFile, JobPhase};
pub use outcome::{JobReport, Outcome, OutputError, Report};
pub use rewrite::{PhaseRun, version_of};
pub use syntax::FioError;
