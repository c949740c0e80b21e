//! The command line: quantities, levels of factors, options of `fsarena run`, `--wipe`.

use super::descriptions::AnyRules;
use crate::target::{PLAIN, Target, choice, chosen, texts};
use fsarena_devices::vet::WipeConsent;
use fsarena_model::factor;
use fsarena_model::units::{Bytes, Nanos, nanos_text, parse_share, size_text};
use fsarena_plan::{Overrides, expand, from_options, parse, to_toml};
use fsarena_report::PaperWidth;
use std::collections::BTreeSet;

pub(super) const QUANTITY: Target = Target {
    name: "quantity",
    reads: "sizes, durations, shares and widths of options and files",
    seeds: || texts(["64M", "1.5 GiB", "1_000 kB", "300 s", "100ms", "5%", "0.05", "85mm", "2 µs"]),
    run: quantity,
    ..PLAIN
};

pub(super) const LEVEL: Target = Target {
    name: "level",
    reads: "levels of factors, as in a file and in options",
    seeds: levels,
    run: level,
    ..PLAIN
};

pub(super) const RUN_OPTIONS: Target = Target {
    name: "run-options",
    reads: "the options of `fsarena run` that make an experiment: --fs, --on, --workload, …",
    shares: 2,
    seeds: || {
        texts([
            "ext4,xfs\nloop:2G\nsmall-files\n5\n5%\n30m\next4\nsmall-files:create",
            "ext4:data=writeback:mkfs.block_size=1024,btrfs:compress=zstd:3\nram:512M,zram:1G",
            "ext4\nvirtual:8G:model=hdd-2007:kernel=6.1\nbig-file\n4..12\n0.1\n1h\n\n*:*:p99",
            "\n/srv/a,/srv/b",
            "xfs\n/dev/vdb\nx.fio\n\n\n\n\nx:*:time:returned",
            "ufs1\nvdisk:1G:model=ssd-sata",
            "ext4,xfs\nloop:1G\nrandom-io:bs=4K,64K:iodepth=1..16,small-files:numjobs=1,2",
            "ext4\nloop:1G\nbig-file:size=64M..256M:bs=1M\n3\n\n\n\nbig-file:*\n\n10 ms",
        ])
    },
    run: run_options,
    ..PLAIN
};

pub(super) const WIPE: Target = Target {
    name: "wipe",
    reads: "--wipe DEVICE[=SIGNATURE…]",
    seeds: || texts(["/dev/sdb", "/dev/sdb=ext4+gpt", "/dev/disk/by-id/a=b/c=dos", "/dev/x y=_-."]),
    run: wipe,
    ..PLAIN
};

fn quantity(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    match text.parse::<Bytes>() {
        Ok(Bytes(size)) => {
            assert_eq!(size_text(size).parse(), Ok(Bytes(size)), "{text:?}");
            let shown = Bytes(size).to_string();
            let near = shown.parse::<Bytes>();
            // Three digits of it, where it is no whole number of a unit; the last ones round up to
            // 2^64.
            let is_near = near.is_ok_and(|near| near.0.abs_diff(size) <= size / 100);
            let is_last = size > u64::MAX - (1 << 40);
            assert!(is_near || is_last || shown.contains('.'), "{text:?} is shown as {shown}");
        }
        Err(error) => has_remedy(&error.to_string(), &error.what_and_remedy()),
    }
    match text.parse::<Nanos>() {
        Ok(Nanos(ns)) => {
            assert_eq!(nanos_text(ns).parse(), Ok(Nanos(ns)), "{text:?}");
            assert!(!Nanos(ns).to_string().is_empty());
        }
        Err(error) => has_remedy(&error.to_string(), &error.what_and_remedy()),
    }
    if let Ok(share) = parse_share(&text) {
        assert!((0.0..=10.0).contains(&share), "{text:?} is {share}");
    }
    let _ = text.parse::<PaperWidth>();
}

/// An error quotes what was written, so that nothing of it is shown as it is, and says what to do.
fn has_remedy(whole: &str, (what, remedy): &(String, String)) {
    assert!(!what.is_empty() && !remedy.is_empty(), "{whole}");
    assert!(!whole.contains(char::is_control), "{whole:?}");
}

fn levels() -> Vec<Vec<u8>> {
    let texts =
        ["default", "none", "64M", "30ms", "on", "cold", "zstd:3", "mq-deadline", "1500 us"];
    let all = factor::all().into_iter().enumerate();
    all.flat_map(|(number, factor)| {
        let own = [factor.default_level()];
        let known = texts.iter().copied();
        own.into_iter().chain(known).map(move |text| chosen(number, text))
    })
    .collect()
}

/// What a factor takes is written in one way, which it takes again.
fn level(input: &[u8]) {
    let Some((number, text)) = choice(input) else { return };
    let all = factor::all();
    let factor = &all[number % all.len()];
    if let Ok(canonical) = factor.parse(&text) {
        let again = factor.parse(&canonical);
        let is_same = matches!(&again, Ok(again) if *again == canonical);
        assert!(is_same, "{}: {text:?}: {canonical:?}", factor.key());
    }
}

/// An experiment that options describe is written as a file and read the same; a refusal names its
/// option.
fn run_options(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let mut lines = text.split('\n').map(str::to_owned);
    let mut next = || lines.next().filter(|line| !line.is_empty());
    let mut overrides = Overrides {
        fs: next(),
        on: next().into_iter().collect(),
        workloads: next(),
        runs: next(),
        margin: next(),
        budget: next(),
        baseline: next(),
        ask: next(),
        headline: next(),
        sample_period: next(),
        kernel: next(),
        ..Overrides::default()
    };
    let files: Vec<String> = overrides.fio_paths().into_iter().map(str::to_owned).collect();
    let job = "[x]\nrw=read\nsize=1m\n";
    overrides.fio_files = files.into_iter().map(|path| (path, job.to_owned())).collect();
    for (line, factor) in lines.zip(factor::all()).take(factor::all().len()) {
        overrides.levels.insert(factor.key(), line);
    }
    match from_options(&overrides) {
        Ok(experiment) => {
            let written = to_toml(&experiment);
            match parse(&written, "again.toml") {
                Ok(again) => assert_eq!(to_toml(&again), written, "{text:?}"),
                // What asks after a workload that is not there is refused with the plan.
                Err(error) => {
                    let plan = expand(&experiment, &overrides, &AnyRules);
                    assert!(plan.is_err(), "{text:?}: {error}\n{written}");
                }
            }
        }
        Err(error) => {
            let error = error.to_string();
            let has_place = error.starts_with("--") || files_named(&overrides, &error);
            assert!(has_place, "{text:?}: {error}");
        }
    }
}

/// Whether an error is about a job file.
fn files_named(overrides: &Overrides, error: &str) -> bool {
    overrides.fio_files.iter().any(|(path, _)| error.starts_with(path.as_str()))
}

/// A consent is printed as the option that gives the same consent again.
fn wipe(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    match WipeConsent::parse(&text) {
        Ok(consent) => {
            assert!(consent.device.is_absolute(), "{text:?}");
            let names: BTreeSet<String> = consent.signatures.iter().cloned().collect();
            assert_eq!(names.len(), consent.signatures.len(), "{text:?}");
            let device = consent.device.to_string_lossy();
            let again = match names.is_empty() {
                true => device.into_owned(),
                false => format!("{device}={}", consent.signatures.join("+")),
            };
            // A device whose name ends in what looks like signatures is given with some.
            if !names.is_empty() {
                assert_eq!(WipeConsent::parse(&again).as_ref(), Ok(&consent), "{text:?}");
            }
            let option = WipeConsent::option(&consent.device, &names);
            assert!(option.starts_with("--wipe "), "{option:?}");
        }
        Err(error) => {
            let error = error.to_string();
            assert!(error.starts_with("--wipe ") && error.contains("; "), "{error}");
            assert!(!error.contains(char::is_control), "{error:?}");
        }
    }
}
