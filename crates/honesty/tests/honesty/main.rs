//! What rules of the field, and ours, say on tapes of known noise.

mod replays;
mod schedules;
mod synthetic;
