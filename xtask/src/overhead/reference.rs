//! The reference: a bare loop of system calls in C, compiled here, run in a process of its own.

use super::options::{Options, Verdict};
use super::pairs::Sample;
use anyhow::{Context as _, Result, ensure};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The loop of the repository.
const SOURCE: &str = "xtask/reference/rawloop.c";

/// The compiled loop.
pub(super) struct Reference {
    /// Holds it; removed at the end.
    _build: tempfile::TempDir,
    program: PathBuf,
}

/// What one run printed.
pub(super) struct Printed(String);

impl Reference {
    /// Compiles the loop; `None`, with the reason in `verdict`, where there is no C compiler.
    ///
    /// # Errors
    /// When it cannot be compiled.
    pub(super) fn build(
        options: &Options,
        what: &str,
        verdict: &mut Verdict,
    ) -> Result<Option<Self>> {
        let own = || crate::tidy::root().join(SOURCE);
        let source = options.reference.clone().unwrap_or_else(own);
        let build = tempfile::Builder::new().prefix("fsarena-overhead-").tempdir()?;
        let program = build.path().join("reference");
        let status = Command::new("cc").arg("-O2").arg("-o").args([&program, &source]).status();
        let status = match status {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                verdict.not_run(what, "no C compiler (cc) for the reference loop");
                return Ok(None);
            }
            status => status.context("cc")?,
        };
        ensure!(status.success(), "cc -O2 failed: {status}");
        Ok(Some(Self { _build: build, program }))
    }

    /// Starts it on `dir`.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn start(&self, args: &str, dir: &Path) -> Result<Child> {
        Command::new(&self.program)
            .args(args.split(' '))
            .arg(dir)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("the reference")
    }

    /// Runs it on `dir`.
    ///
    /// # Errors
    /// When it fails.
    pub(super) fn run(&self, args: &str, dir: &Path) -> Result<Printed> {
        Printed::wait_for(self.start(args, dir)?)
    }
}

impl Printed {
    /// Waits for `child`.
    ///
    /// # Errors
    /// When it failed.
    pub(super) fn wait_for(child: Child) -> Result<Self> {
        let output = child.wait_with_output()?;
        ensure!(output.status.success(), "the reference failed: {}", output.status);
        Ok(Self(String::from_utf8(output.stdout).context("the reference's output")?))
    }

    /// The line of `phase`: tag, phase, ops, seconds, ops/s, us/op, user, sys.
    ///
    /// # Errors
    /// When there is none, or not with numbers.
    pub(super) fn sample(&self, phase: &str) -> Result<Sample> {
        let line = self
            .0
            .lines()
            .map(|line| line.split('\t').collect::<Vec<_>>())
            .find(|fields| fields.get(1) == Some(&phase))
            .with_context(|| format!("the reference printed no line for {phase}"))?;
        let field = |index: usize| -> Result<f64> {
            let text =
                line.get(index).with_context(|| format!("{phase}: field {index} is missing"))?;
            text.parse().with_context(|| format!("{phase}: field {index} is {text}"))
        };
        let (ops, seconds) = (field(2)?, field(3)?);
        Ok(Sample {
            ns_per_op: seconds / ops * 1e9,
            cpu_ns_per_op: (field(6)? + field(7)?) / ops * 1e9,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_reference_are_read() {
        let text = "raw\tmkdir\t100\t0.0002\t1\t1\t0\t0\n\
                    raw\tstat\t50000\t0.040000\t1250000.0\t0.800\t0.008\t0.032\n";
        let printed = Printed(text.to_owned());
        let sample = printed.sample("stat").unwrap();
        assert!((sample.ns_per_op - 800.0).abs() < 1e-6);
        assert!((sample.cpu_ns_per_op - 800.0).abs() < 1e-6);
        assert!(printed.sample("read").is_err());
    }
}
