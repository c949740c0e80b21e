//! Rules of the field replayed on tapes of known noise, and the slots they take.

mod replays;
mod schedules;
mod synthetic;
