//! `/proc/pressure/{cpu,io,memory}`: time in which tasks waited for something (PSI).
//!
//! `some`: at least one task waited. `full`: all runnable tasks waited. Totals are printed in µs
//! (Documentation/accounting/psi.rst). The files exist since 4.20; switched off (`psi=0`), reading
//! them gives `EOPNOTSUPP`; `full` of cpu is printed since 5.13 and is 0 for the whole machine.

use crate::error::{Malformed, MetricError};
use crate::read_file::{ReadFile, Records, expect_number, lines, words};
use crate::source::{Metric, Opened, Registration, Source};
use crate::{Roots, Watch};

pub(crate) const SOURCE: Registration = Registration { metrics: METRICS, open };

const METRICS: &[Metric] = &[
    Metric::counter("psi.cpu.some_ns", "ns", "waited for a processor; /proc/pressure/cpu some"),
    Metric::counter("psi.cpu.full_ns", "ns", "0 for a whole machine; /proc/pressure/cpu full"),
    Metric::counter("psi.io.some_ns", "ns", "a task waited for I/O; /proc/pressure/io some"),
    Metric::counter("psi.io.full_ns", "ns", "all tasks waited for I/O; /proc/pressure/io full"),
    Metric::counter("psi.memory.some_ns", "ns", "waited for memory; /proc/pressure/memory some"),
    Metric::counter("psi.memory.full_ns", "ns", "all waited; /proc/pressure/memory full"),
];

struct Pressure {
    files: [ReadFile; 3],
}

fn open(roots: &Roots, _: &Watch) -> Opened {
    let file = |name| ReadFile::open(roots.proc.join("pressure").join(name), Records::One);
    Ok(Box::new(Pressure { files: [file("cpu")?, file("io")?, file("memory")?] }))
}

impl Source for Pressure {
    fn read(&mut self, values: &mut [Option<u64>]) -> Result<(), MetricError> {
        for (file, values) in self.files.iter_mut().zip(values.chunks_mut(2)) {
            file.parse(|bytes| parse(bytes, values))?;
        }
        Ok(())
    }
}

/// Fills `[some, full]`.
pub(crate) fn parse(bytes: &[u8], values: &mut [Option<u64>]) -> Result<(), Malformed> {
    for (line, text) in lines(bytes) {
        let mut items = words(text);
        let index = match items.next() {
            Some(b"some") => 0,
            Some(b"full") => 1,
            _ => continue,
        };
        let total = items.find_map(|item| item.strip_prefix(b"total="));
        let total = total.ok_or_else(|| Malformed::new(line, "total", text, "total=NUMBER"))?;
        let micros = expect_number(line, "total", total)?;
        values[index] = Some(micros.saturating_mul(1000));
    }
    Ok(())
}
