//! Factors, trends and steady state: numbers of another implementation, and rates of false alarms
//! and of what is found, on seeded noise.
//!
//! Rates are compared with what the exact binomial distribution allows: each bound below is one
//! that a right program misses less than once in a thousand seeds, and the seeds are fixed.

mod factorial;
mod noise;
mod steady;
mod trend;
