//! The judge, its looks, what watchers find and which factors explain a difference.

mod factors;
mod judge;
mod noise;
mod trials;
mod watchers;
