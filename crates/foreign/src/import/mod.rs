//! Records of other programs as a RUN: the text of their files in, a plan with its records out.
//!
//! What such a RUN cannot say is unknown, not guessed: the machine, the device, the state of the
//! caches, when the data were safe. Compared is therefore `returned`, in one look at all that there
//! is, and every record says that the question was asked after the data were seen and that nothing
//! was interleaved ([`notices`]).
//!
//! Pure: nothing here opens a file, reads a clock or knows the database.

mod arguments;
mod bonnie;
mod build;
mod documents;
mod fio;
mod hyperfine;
mod ior;
mod mdtest;
pub mod notices;
mod phoronix;

pub use bonnie::bonnie;
pub use build::{Given, ImportError, Imported, Terms};
pub use fio::fio;
pub use hyperfine::hyperfine;
pub use ior::ior;
pub use mdtest::mdtest;
pub use phoronix::phoronix;
