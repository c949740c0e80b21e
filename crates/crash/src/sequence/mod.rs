//! Short sequences of file operations, each on a file system of its own: what is made of all of
//! them within bounds, and what has to be there after a power cut.
//!
//! After Bounded Black-Box testing (Mohan and others, OSDI 2018), whose generator is called ACE: a
//! sequence is one, two or three operations on few files, each followed by fsync of something near
//! or by sync; small ones find most of the known bugs. [`bounds`] counts and makes them,
//! [`program`] puts in what they need before, [`model`] says what each operation does, and
//! [`judge`] holds a tree that was found after a power cut against it. [`litmus`] has the programs
//! of Bornholt and others (ASPLOS 2016), whose question is which part of unsynced work may be seen.
//!
//! What fsync(2) and POSIX promise is kept apart from what Linux file systems do by custom, such
//! as that a new file has its name after fsync of the file alone.

pub mod bounds;
pub mod judge;
pub mod judged;
pub mod litmus;
pub mod model;
pub mod op;
pub mod program;
pub mod states;
pub mod tree;
