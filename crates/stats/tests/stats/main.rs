//! Statistics against other implementations, and their rates of error on simulated RUNs.

mod blocks;
mod factors;
mod gates;
mod golden;
mod intervals;
mod p_values;
mod pairs;
mod ranking;
mod units;
