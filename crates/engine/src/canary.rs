//! The canary: a fixed amount of work on the processor and of system calls, without I/O, whose
//! length says how fast the machine is at this moment.
//!
//! It runs right before and after a phase, outside of all its clocks. A hypervisor that takes
//! processors away, another program on the same core, and a lower frequency make it longer, and
//! what a file system does does not: so its length can take a part of the noise out of the times.

use crate::clock::monotonic_ns;
use std::hint::black_box;

/// Numbers that are gone through in a round: 128 KiB, more than a first-level cache holds.
const NUMBERS: usize = 16 << 10;
/// System calls of a round.
const CALLS: u32 = 160;
/// Rounds: some 4 ms on the machine this was written on (2.1 GHz, a KVM guest).
const ROUNDS: u32 = 100;

/// Runs it once and says how long it took, ns.
#[must_use]
pub fn canary_ns() -> u64 {
    let mut numbers: Vec<u64> = (0..NUMBERS as u64).collect();
    // Not timed: brings memory and code.
    round(&mut numbers);
    let start_ns = monotonic_ns();
    for _ in 0..ROUNDS {
        round(&mut numbers);
    }
    let elapsed_ns = monotonic_ns().saturating_sub(start_ns);
    black_box(numbers);
    elapsed_ns
}

fn round(numbers: &mut [u64]) {
    let mut sum = 0u64;
    for number in numbers {
        sum = (sum ^ *number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        *number = number.wrapping_add(sum);
    }
    black_box(sum);
    for _ in 0..CALLS {
        // A call that the kernel answers at once and the C library does not remember.
        black_box(rustix::process::getppid());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_its_time_and_no_longer() {
        let least_ns = (0..5).map(|_| canary_ns()).min().unwrap_or(0);
        assert!((200_000..200_000_000).contains(&least_ns), "{least_ns} ns");
    }
}
