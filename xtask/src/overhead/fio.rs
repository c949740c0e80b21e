//! fio as the other side: its command line, and what its JSON says.

use super::pairs::Sample;
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// Random reads of 4 KiB, each block of a file once.
#[derive(Debug, Clone, Copy)]
pub(super) struct RandomReads<'a> {
    pub(super) file: &'a Path,
    pub(super) file_bytes: u64,
    pub(super) direct: bool,
    pub(super) iodepth: u32,
    /// Whether fio hands over all that is free at once, as our engine does; by itself it enters the
    /// kernel for each I/O.
    pub(super) in_batches: bool,
}

impl RandomReads<'_> {
    /// Arguments: the engine's settings (registered buffers and file), fio's own defaults for
    /// clocks and latencies, which are recorded on both sides.
    pub(super) fn args(&self) -> Vec<String> {
        let mut args: Vec<String> =
            ["--name=randread", "--ioengine=io_uring", "--rw=randread", "--bs=4k"]
                .map(str::to_owned)
                .into();
        args.push(format!("--filename={}", self.file.display()));
        args.push(format!("--size={}", self.file_bytes));
        args.push(format!("--direct={}", u8::from(self.direct)));
        args.push(format!("--iodepth={}", self.iodepth));
        if self.in_batches {
            args.push(format!("--iodepth_batch_submit={}", self.iodepth));
            args.push("--iodepth_batch_complete_min=1".to_owned());
            args.push(format!("--iodepth_batch_complete_max={}", self.iodepth));
        }
        args.extend(["--fixedbufs=1", "--registerfiles=1"].map(str::to_owned));
        args.push("--output-format=json".to_owned());
        args
    }

    /// Runs fio.
    ///
    /// # Errors
    /// When it fails, or read another number of blocks.
    pub(super) fn sample(&self) -> Result<Sample> {
        let output =
            Command::new("fio").args(self.args()).stdin(Stdio::null()).output().context("fio")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "fio: {}: {complaint}{text}", output.status);
        let (ios, sample) = read(&text).with_context(|| format!("fio printed {text}"))?;
        let blocks = self.file_bytes / 4096;
        ensure!(ios == blocks, "fio read {ios} blocks of {blocks}");
        Ok(sample)
    }
}

/// Version line of the fio on the PATH.
pub(super) fn version() -> Option<String> {
    let output = Command::new("fio").arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// I/Os, and the time and processor time of one, by fio's own clock (whole ms).
fn read(text: &str) -> Result<(u64, Sample)> {
    // Notes of fio may come before the JSON.
    let json = text.find("\n{").map_or(text, |at| &text[at..]);
    let all: Value = serde_json::from_str(json.trim()).context("no JSON")?;
    let job = all.pointer("/jobs/0").context("no job")?;
    let number = |at: &str| {
        job.pointer(at).and_then(Value::as_f64).with_context(|| format!("no {at} in the job"))
    };
    ensure!(number("/error")? == 0.0, "the job failed");
    let (ios, runtime_ms) = (number("/read/total_ios")?, number("/read/runtime")?);
    ensure!(ios > 0.0 && runtime_ms > 0.0, "{ios} I/Os in {runtime_ms} ms");
    let ns_per_op = runtime_ms * 1e6 / ios;
    let cpu_percent = number("/usr_cpu")? + number("/sys_cpu")?;
    Ok((ios as u64, Sample { ns_per_op, cpu_ns_per_op: ns_per_op * cpu_percent / 100.0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = r#"{
  "fio version" : "fio-3.33",
  "jobs" : [ {
    "jobname" : "randread", "error" : 0,
    "read" : { "io_bytes" : 67108864, "iops" : 455111.1, "runtime" : 36, "total_ios" : 16384 },
    "usr_cpu" : 25.0, "sys_cpu" : 50.0
  } ]
}"#;

    #[test]
    fn time_is_taken_by_the_clock_of_fio() {
        let (ios, sample) = read(OUTPUT).unwrap();
        assert_eq!(ios, 16384);
        assert!((sample.ns_per_op - 2197.27).abs() < 0.01, "{sample:?}");
        assert!((sample.cpu_ns_per_op - 0.75 * sample.ns_per_op).abs() < 1e-6);
        let with_note = format!("fio: a note\n{OUTPUT}");
        assert_eq!(read(&with_note).unwrap().0, 16384);
    }

    #[test]
    fn output_that_says_nothing_is_an_error() {
        for wrong in
            ["", "{}", r#"{"jobs": []}"#, &OUTPUT.replace("\"error\" : 0", "\"error\" : 5")]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(read(&OUTPUT.replace("36", "0")).is_err());
    }

    #[test]
    fn the_arguments_say_what_is_the_same() {
        let (file, file_bytes) = (Path::new("/x/f"), 8 << 20);
        let reads = RandomReads { file, file_bytes, direct: true, iodepth: 32, in_batches: false };
        let args = reads.args().join(" ");
        assert_eq!(
            args,
            "--name=randread --ioengine=io_uring --rw=randread --bs=4k --filename=/x/f \
             --size=8388608 --direct=1 --iodepth=32 --fixedbufs=1 --registerfiles=1 \
             --output-format=json"
        );
        let args = RandomReads { in_batches: true, ..reads }.args().join(" ");
        assert!(args.contains("--iodepth_batch_submit=32 --iodepth_batch_complete_min=1"));
    }
}
