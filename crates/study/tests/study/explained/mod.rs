//! What differences are due to, and what disturbs them: factors and watchers over seeded values.

mod factors;
mod noise;
mod trials;
mod watch;
