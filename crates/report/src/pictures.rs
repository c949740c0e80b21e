//! Which charts a RUN has, from its views: one function a chart, used by the page and by
//! `--assets` alike. Values come from `fsarena-study`; here they are only put in units and words.

mod accounts;
mod clocks;
mod cycles;
mod heat;
mod labels;
mod latency;
mod levels;
mod price;
mod ratios;
mod times;
mod traces;

pub(crate) use accounts::{account, allocated};
pub(crate) use clocks::clocks;
pub(crate) use cycles::cycles;
pub(crate) use heat::heat;
pub(crate) use labels::{Unit, ends, key, phase_id, phase_id_of, row_key, shortened, workload_id};
pub(crate) use latency::latency;
pub(crate) use levels::levels;
pub(crate) use price::{cpu, written};
pub(crate) use ratios::then_and_now;
pub(crate) use times::{is_reference, question, times, why_absent};
pub(crate) use traces::traces;

#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod specs;
