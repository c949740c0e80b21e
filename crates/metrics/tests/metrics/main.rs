//! Counters of made-up and of this kernel, sampled; `no_allocation` counts a process's own.

mod kernels;
mod sampling;
