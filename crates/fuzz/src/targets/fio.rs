//! Files of other programs that measure: fio's job files and output, results of fio and hyperfine.

use crate::shown::{StoredRun, show};
use crate::target::{PLAIN, Target, texts};
use fsarena_foreign::fio::{JobFile, Outcome, Report, version_of};
use fsarena_foreign::import::{
    Given, ImportError, Imported, Terms, bonnie, fio, hyperfine, ior, mdtest, phoronix,
};
use fsarena_model::header_rules;
use std::fs;
use std::path::Path;

pub(super) const FIO_JOB: Target = Target {
    name: "fio-job",
    reads: "fio job files",
    seeds: || {
        texts([
            "[global]\nsize=1m\nbs=4k\n[seq]\nrw=read\n[w]\nstonewall\nrw=randwrite\nnumjobs=2\n",
            "[w]\nrw=write\ndirectory=d\nfilename=f:g\n[r]\nstonewall\nfilename=d/f\nwait_for=w\n",
            "; a comment\n[a]\nrw=randrw\nsize=10%\nnrfiles=8\nfilesize=4k-64k\nruntime=5\n",
            "[x]\nfilename=/dev/sda\n[y]\nexec_prerun=id\n",
            "[a]\nsize=1gib\nkb_base=1000\nio_size=0x200\nfilename_format=$jobname.$filenum\n",
        ])
    },
    run: fio_job,
    ..PLAIN
};

pub(super) const FIO_OUTPUT: Target = Target {
    name: "fio-output",
    reads: "what fio prints while it is measured",
    seeds: || fixtures(""),
    run: fio_output,
    ..PLAIN
};

pub(super) const IMPORT_FIO: Target = Target {
    name: "import-fio",
    reads: "files of `fio --output-format=json` that are imported",
    shares: 2,
    seeds: || fixtures("import").into_iter().filter(|text| !has(text, b"\"results\"")).collect(),
    run: |input| import(input, fio),
    ..PLAIN
};

pub(super) const IMPORT_HYPERFINE: Target = Target {
    name: "import-hyperfine",
    reads: "files of `hyperfine --export-json` that are imported",
    seeds: || fixtures("import").into_iter().filter(|text| has(text, b"\"results\"")).collect(),
    run: |input| import(input, hyperfine),
    ..PLAIN
};

pub(super) const IMPORT_IOR: Target = Target {
    name: "import-ior",
    reads: "output of IOR that is imported",
    seeds: || fixtures("import").into_iter().filter(|text| has(text, b"bw(MiB/s)")).collect(),
    run: |input| import(input, ior),
    ..PLAIN
};

pub(super) const IMPORT_MDTEST: Target = Target {
    name: "import-mdtest",
    reads: "output of mdtest that is imported",
    seeds: || fixtures("import").into_iter().filter(|text| has(text, b"SUMMARY rate")).collect(),
    run: |input| import(input, mdtest),
    ..PLAIN
};

pub(super) const IMPORT_BONNIE: Target = Target {
    name: "import-bonnie",
    reads: "CSV of bonnie++ that is imported",
    seeds: || fixtures("import").into_iter().filter(|text| text.starts_with(b"1.98,")).collect(),
    run: |input| import(input, bonnie),
    ..PLAIN
};

pub(super) const IMPORT_PHORONIX: Target = Target {
    name: "import-phoronix",
    reads: "results of the Phoronix Test Suite that are imported",
    seeds: || fixtures("import").into_iter().filter(|text| has(text, b"<Phoronix")).collect(),
    run: |input| import(input, phoronix),
    ..PLAIN
};

fn has(text: &[u8], words: &[u8]) -> bool {
    text.windows(words.len()).any(|window| window == words)
}

/// Files that the programs wrote, as the tests of `fsarena-foreign` have them, short ones alone.
fn fixtures(dir: &str) -> Vec<Vec<u8>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../foreign/tests/fixtures").join(dir);
    let mut paths: Vec<_> =
        fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.is_file());
    paths.sort();
    let texts = paths.iter().filter_map(|path| fs::read(path).ok());
    texts.filter(|text| text.len() < PLAIN.most_bytes).collect()
}

/// What reaches fio is written anew, and is again a job file that stays inside the trial.
fn fio_job(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let _ = version_of(&text);
    let jobs = match JobFile::parse(&text, "x.fio") {
        Ok(jobs) => jobs,
        Err(error) => {
            let error = error.to_string();
            assert!(error.starts_with("x.fio:") && error.contains("; "), "{error}");
            return;
        }
    };
    let _ = (jobs.needed_bytes(), jobs.notices());
    for phase in jobs.phases() {
        for lay_out in [false, true] {
            let Some(run) = jobs.for_phase(&phase.name, lay_out, 7 << 33) else { continue };
            // The last line of a lay-out is ours, and nobody else may write it.
            let written = run.job_file.replace("create_only=1\n", "");
            let again = JobFile::parse(&written, "again.fio");
            let again = again.unwrap_or_else(|error| panic!("{error}\n{}", run.job_file));
            assert_eq!(again.phases().len(), 1, "{}", run.job_file);
            for line in run.job_file.lines() {
                let Some((key, value)) = line.split_once('=') else { continue };
                let is_path = matches!(key, "filename" | "filename_format" | "directory");
                let leads_out = value.split([':', '/']).any(|part| part == "..");
                assert!(!is_path || !(value.starts_with('/') || leads_out), "{line}");
            }
        }
    }
    if let Ok(scaled) = jobs.scaled(0.5) {
        assert_eq!(scaled.phases().len(), jobs.phases().len());
    }
}

fn fio_output(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let (stdout, stderr) = text.split_once("\n--\n").unwrap_or((&text, ""));
    match Outcome::parse(stdout, stderr) {
        Ok(outcome) => {
            assert!(outcome.written_bytes.unwrap_or(0) <= outcome.asked_bytes);
            for histogram in [&outcome.latency, &outcome.write_latency].into_iter().flatten() {
                let quantiles = [0.0, 0.5, 0.99, 1.0].map(|share| histogram.quantile_ns(share));
                assert!(quantiles.is_sorted(), "{quantiles:?}");
            }
        }
        // It quotes little of what is not ours.
        Err(error) => assert!(error.to_string().len() < 2000, "{error}"),
    }
    let _ = Report::parse_all(&text);
}

/// What is imported is a RUN like others: its plan keeps the rules, and it is shown.
fn import(input: &[u8], reader: fn(&[Given], &Terms) -> Result<Imported, ImportError>) {
    let text = String::from_utf8_lossy(input);
    let mut parts = text.split("\n--\n");
    let mut files = Vec::new();
    for label in ["ext4", "xfs", "xfs"] {
        let Some(text) = parts.next() else { break };
        let label = Some(label.to_owned());
        files.push(Given { label, path: "given.json".into(), text: text.to_owned() });
    }
    let terms = Terms {
        uid: "0123456789abcdef".to_owned(),
        now_unix_ns: 1_767_225_600_000_000_000,
        program_version: "0.1.0".to_owned(),
        arguments: vec!["import".to_owned()],
        margin: 0.05,
    };
    let Imported { header, records } = match reader(&files, &terms) {
        Ok(imported) => imported,
        Err(error) => {
            let error = error.to_string();
            let has_place = error.starts_with("given.json: ") || error.contains("import fewer");
            assert!(has_place, "{error}");
            return;
        }
    };
    if let Err(rule) = header_rules::check(&header) {
        panic!("{rule}");
    }
    assert_eq!(header.plan.schedule.len(), records.len());
    let (sessions, crashes, stop, looks) = (Vec::new(), Vec::new(), None, Vec::new());
    show(&StoredRun { header, sessions, records, crashes, stop, looks });
}
