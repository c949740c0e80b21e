//! Bytes that the files of a job file take, so that a trial can be refused before it runs full.
//!
//! An upper bound: every file of every job at its full size at the same time, a file that several
//! jobs name counted once.

use crate::fio::job::{Job, JobFile};
use crate::fio::paths::DEFAULT_FORMAT;
use crate::fio::syntax::{Fault, FioError, Setting};
use crate::fio::{KbBase, high_bytes};
use std::collections::BTreeMap;

impl JobFile {
    /// Bytes of all files that its jobs make.
    ///
    /// # Errors
    /// Where a job does not say its size, or says it in shares of a device or in an expression.
    pub fn needed_bytes(&self) -> Result<u64, FioError> {
        let mut files: BTreeMap<String, u64> = BTreeMap::new();
        for job in &self.jobs {
            count(job, &mut files).map_err(|fault| fault.in_file(&self.file))?;
        }
        Ok(files.values().fold(0, |sum, bytes| sum.saturating_add(*bytes)))
    }
}

/// Adds the files of a job, each at the largest size that any job gives it.
fn count(job: &Job, files: &mut BTreeMap<String, u64>) -> Result<(), Fault> {
    let made_empty = matches!(job.engine(), "filecreate" | "dircreate" | "dirstat" | "dirdelete");
    if job.has_no_files() || made_empty {
        return Ok(());
    }
    let names = job.files();
    let clones = job.number("numjobs", 1)?;
    let Some(all_bytes) = of_one_clone(job, clones)? else {
        if names.iter().all(|name| files.contains_key(name)) {
            return Ok(());
        }
        let what = format!("[{}] does not say how much it works on", job.name);
        return Err(Fault::new(job.line, what, "add size=, such as size=256m"));
    };
    let format = job.value("filename_format").unwrap_or(DEFAULT_FORMAT);
    let own_files = job.value("filename").is_none() && format.contains("$jobnum");
    let copies = if own_files { clones } else { 1 };
    let each = all_bytes.saturating_mul(copies).div_ceil(names.len() as u64);
    for name in names {
        let bytes = files.entry(name).or_default();
        *bytes = (*bytes).max(each);
    }
    Ok(())
}

/// Bytes of the files of one of a job's clones; `None` where it does not say.
fn of_one_clone(job: &Job, clones: u64) -> Result<Option<u64>, Fault> {
    let base = job.kb_base();
    let number_of_files = match job.value("filename") {
        Some(names) => names.split(':').count() as u64,
        None => job.number("nrfiles", 1)?,
    };
    let size = asked(job, "size", base)?;
    let each = asked(job, "filesize", base)?;
    let by_file = each.map(|each| each.saturating_mul(number_of_files));
    let Some(contents) = size.max(by_file) else { return Ok(None) };
    let offset = asked(job, "offset", base)?.unwrap_or(0);
    let step = asked(job, "offset_increment", base)?.unwrap_or(0);
    let skipped = offset.saturating_add(step.saturating_mul(clones.saturating_sub(1)));
    let mut bytes = contents.saturating_add(skipped.saturating_mul(number_of_files));
    if job.is_on("file_append") {
        bytes = bytes.saturating_mul(job.number("loops", 1)?.saturating_add(1));
    }
    Ok(Some(bytes))
}

/// An amount that a job states.
fn asked(job: &Job, key: &str, base: KbBase) -> Result<Option<u64>, Fault> {
    let Some(setting) = job.get(key) else { return Ok(None) };
    high_bytes(setting.value(), base).map(Some).ok_or_else(|| unknown(setting))
}

fn unknown(setting: &Setting) -> Fault {
    let Setting { key, line, .. } = setting;
    let value = setting.value();
    let what = if value.contains('%') {
        format!("{key}={value} is a share of a size that depends on the device")
    } else {
        format!("{key}={value} is not a whole number of bytes with a unit")
    };
    Fault::new(*line, what, format!("write {key}=256m, for example"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needed(text: &str) -> Result<u64, String> {
        let file = JobFile::parse(text, "x.fio").unwrap_or_else(|error| panic!("{error}"));
        file.needed_bytes().map_err(|error| error.to_string())
    }

    const M: u64 = 1 << 20;

    #[test]
    fn sums_of_files() {
        for (text, bytes) in [
            ("[a]\nsize=4m\n", 4 * M),
            ("[a]\nsize=4m\nnumjobs=3\n[b]\nsize=1m\n", 13 * M),
            ("[a]\nsize=4m\nnumjobs=3\nfilename=f\n", 4 * M),
            ("[a]\nsize=4m\nnumjobs=3\nfilename_format=f.$filenum\n", 4 * M),
            ("[global]\nfilename=f\n[a]\nsize=4m\n[b]\nsize=6m\n", 6 * M),
            ("[a]\nsize=4m\nfilename=f:g\n[b]\nsize=2m\nfilename=g\n", 4 * M),
            ("[a]\nrw=write\nsize=4m\nfilename=f\n[b]\nfilename=f\n", 4 * M),
            ("[a]\nsize=4m\nnrfiles=4\n", 4 * M),
            ("[a]\nsize=4m\nnrfiles=4\nnumjobs=2\n[b]\nfilename=a.1.3\nsize=1m\n", 8 * M),
            ("[a]\nfilesize=1m\nnrfiles=20000\n", 20_000 * M),
            ("[a]\nfilesize=64k-1m\nnrfiles=4\n", 4 * M),
            ("[a]\nfilesize=1m\nsize=64k\n", M),
            ("[a]\nsize=1m\nio_size=9m\n", M),
            ("[a]\nsize=1m\noffset=2m\n", 3 * M),
            ("[a]\nsize=1m\noffset_increment=1m\nnumjobs=3\nfilename=f\n", 3 * M),
            ("[a]\nsize=1m\nfile_append=1\nloops=2\n", 3 * M),
            ("[a]\nsize=1m\nkb_base=1000\n", 1_000_000),
            ("[a]\nioengine=cpuio\n[b]\nioengine=null\nsize=10%\n", 0),
            ("[a]\nioengine=filecreate\nnrfiles=10\nfilesize=4k\n", 0),
        ] {
            assert_eq!(needed(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_known_asks_for_a_size() {
        let told = |text| needed(text).unwrap_err();
        assert!(told("[g]\n[a]\nrw=read\n").starts_with("x.fio:1: [g] does not say"));
        assert!(told("[a]\nsize=50%\n").contains("depends on the device; write size="));
        assert!(told("[a]\nsize=1.5g\n").contains("whole number"), "fio would read 1 byte");
        assert!(told("[a]\nsize=(4*1024)\n").starts_with("x.fio:2: "));
        assert!(told("[a]\nsize=1m\nnumjobs=many\n").contains("numjobs=4"));
    }
}
