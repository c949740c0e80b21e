//! Errors of the medium: a write of the work fails, and the work goes on. Does an application get
//! to know that its write is lost?
//!
//! [`plan`] draws writes out of the log of the same work without faults; whoever carries it out
//! again on a disk on which they fail has a [`record`] of what each op was told; [`judge`] holds
//! that, and what is on the disk afterwards, against what was acknowledged; [`figures`] are made of
//! many cases.
//!
//! The disk says that the write failed, what was there before is there still, and reads go on. That
//! is no crash: at the end all is there that had completed, so whatever is missing was lost by the
//! one write. An op that returned 0 has to be there. One that failed has been told, and may be
//! there or not, in each sector.

mod expected;
pub mod figures;
pub mod judge;
pub mod plan;
pub mod record;
