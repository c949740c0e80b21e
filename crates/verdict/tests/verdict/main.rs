//! The judge, its looks, what watchers find, which factors explain a difference, and what rules of
//! the field say on tapes of known noise.

mod factors;
mod judge;
mod noise;
mod replays;
mod schedules;
mod synthetic;
mod trials;
mod watchers;
