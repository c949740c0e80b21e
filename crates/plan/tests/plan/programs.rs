//! Real work as it is written: what a phase works on, what is the user's own, what is written back.

use crate::rules::TestRules;
use fsarena_corpus::own::{Own, TopLevel};
use fsarena_model::job::{By, Compression, Contents, Origin, SourcePlace};
use fsarena_model::op::Op;
use fsarena_model::phase::Workload;
use fsarena_plan::{
    Experiment, Outside, Overrides, PlanError, Surveyed, builtin, expand, from_options, notices,
    parse, parse_from, to_toml,
};
use std::path::Path;

/// A file with one workload.
pub fn text(body: &str) -> String {
    format!(
        "schema = 1\nname = \"t\"\n[factors]\nfs = \"ext4\"\ndevice = \"loop:20G\"\n[[workload]]\n\
         name = \"w\"\n{body}\n"
    )
}

/// The user's own, as tests find it: `tree`, `tree.tar.xz`, the same with wav files (`wavs`), with
/// a Makefile (`sources`) or both, and one that is damaged.
pub fn survey(path: &Path) -> Result<Surveyed, fsarena_corpus::CorpusError> {
    let contents = Contents {
        files: 100,
        dirs: 9,
        symlinks: 2,
        bytes: 1 << 20,
        block_bytes: 2 << 20,
        largest_bytes: 1 << 16,
        longest_path_bytes: 50,
        archive_bytes: None,
    };
    let name = path.file_name().unwrap_or_default().to_str().unwrap_or_default();
    let own = match name {
        "tree" | "" | "wavs" | "sources" => Own::Tree(contents),
        "empty" => Own::Tree(Contents::default()),
        "tree.tar.xz" | "wavs.tar.xz" | "sources.tar.xz" | "both.tar.xz" => {
            Own::Archive(Compression::Xz, Contents { archive_bytes: Some(4 << 20), ..contents })
        }
        _ => {
            return Err(fsarena_corpus::CorpusError::Own {
                path: path.to_owned(),
                what: "it is a socket".to_owned(),
                remedy: "give a directory or an archive".to_owned(),
            });
        }
    };
    let top = TopLevel {
        wavs: if name.starts_with("wavs") || name.starts_with("both") { 3 } else { 0 },
        has_makefile: name.starts_with("sources") || name.starts_with("both"),
    };
    Ok(Surveyed { path: Path::new("/srv/our").join(name), own, top })
}

pub fn read(text: &str) -> Result<Experiment, PlanError> {
    let nothing = |path: &Path| Err(std::io::Error::other(format!("no {}", path.display())));
    parse_from(text, "t.toml", &Outside { read: &nothing, survey: &survey })
}

pub fn work(body: &str) -> Workload {
    match read(&text(body)) {
        Ok(experiment) => experiment.workloads[0].value.clone(),
        Err(error) => panic!("{error}"),
    }
}

/// Each phase with what it works on.
fn jobs(body: &str) -> String {
    let workload = work(body);
    let source = workload.source.expect("a source");
    let mut out = format!("{} {}", source.file_name(), source.place.name());
    for phase in workload.phases {
        assert_eq!((phase.op, phase.bs_bytes, phase.io.is_default()), (Op::Job, 0, true));
        let job = phase.job.expect("a job");
        let product = job.product(&phase.name).unwrap_or_else(|| "nothing".to_owned());
        out.push_str(&format!("; {} {} -> {product}", job.kind.name(), job.of));
    }
    out
}

const SMALL: &str = "dataset = \"small-100\"\nphases = ";

#[test]
fn what_a_phase_works_on_where_it_is_not_said() {
    let small = |phases: &str| jobs(&format!("{SMALL}{phases}"));
    let all = [
        small("[\"copy\", \"delete\", { name = \"d\", op = \"delete\" }]"),
        small(
            "[\"untar\", \"copy\", \"delete\", { name = \"d\", op = \"delete\" }, \
               { name = \"e\", op = \"delete\" }]",
        ),
        small("[{ op = \"untar\", compression = \"bzip2\" }, \"archive\"]"),
        small("[\"archive\", { op = \"untar\", of = \"archive\" }, \"delete\"]"),
        small(
            "[{ op = \"copy\", of = \"data\", by = \"engine\" }, { op = \"untar\", name = \"u\" }]",
        ),
        small(
            "[\"untar\", { name = \"z\", op = \"archive\", compression = \"zstd\" }, \
               { name = \"y\", op = \"untar\", of = \"z\" }, { name = \"x\", op = \"copy\" }]",
        ),
        jobs("dataset = \"wav-5\"\nsource = \"memory\"\nphases = [\"flac\", \"copy\", \"ogg\"]"),
        jobs("dataset = \"c-tree\"\nphases = [\"untar\", { op = \"compile\", jobs = 4 }]"),
        jobs("dataset = { from = \"both.tar.xz\" }\nphases = [\"untar\", \"flac\", \"compile\"]"),
    ];
    insta::assert_snapshot!(all.join("\n"), @r#"
    data same; copy data -> copy; delete copy -> nothing; delete data -> nothing
    data.tar.gz same; untar data -> untar; copy untar -> copy; delete copy -> nothing; delete untar -> nothing; delete data -> nothing
    data.tar.bz2 same; untar data -> untar; archive untar -> archive.tar.gz
    data same; archive data -> archive.tar.gz; untar archive -> untar; delete untar -> nothing
    data.tar.gz same; copy data -> copy; untar data -> u
    data.tar.gz same; untar data -> untar; archive untar -> z.tar.zst; untar z -> y; copy untar -> x
    data memory; flac data -> flac; copy data -> copy; ogg data -> ogg
    data.tar.gz same; untar data -> untar; compile untar -> compile
    data.tar.xz same; untar data -> untar; flac untar -> flac; compile untar -> compile
    "#);
}

#[test]
fn the_compression_of_an_archive_is_known() {
    let kind = |body: &str| {
        let workload = work(body);
        let archive = workload.source.unwrap().archive;
        let jobs = workload.phases.into_iter().map(|phase| phase.job.unwrap().kind);
        (archive, jobs.collect::<Vec<_>>())
    };
    let (archive, jobs) = kind("dataset = { from = \"x/tree.tar.xz\" }\nphases = [\"untar\"]");
    assert_eq!(archive, Some(Compression::Xz));
    assert_eq!(jobs, [fsarena_model::job::JobKind::Untar { compression: Compression::Xz }]);
    let (archive, _) = kind(&format!("{SMALL}[\"untar\"]"));
    assert_eq!(archive, Some(Compression::Gzip));
    let (archive, _) = kind(&format!("{SMALL}[\"copy\"]"));
    assert_eq!(archive, None);
}

#[test]
fn sources_and_their_summaries() {
    let workload =
        work("dataset = { small = 1000, size = \"1 KiB\", dirs = 50 }\nphases = [\"copy\"]");
    let source = workload.source.unwrap();
    assert_eq!((source.contents.files, source.contents.bytes), (1000, 1000 << 10));
    assert_eq!(workload.dataset.files, 1000);
    assert_eq!(workload.dataset.bytes(), 1000 << 10);
    let own = work("dataset = { from = \"tree\" }\nsource = \"other\"\nphases = [\"copy\"]");
    let source = own.source.unwrap();
    assert_eq!((source.name.as_str(), source.place), ("/srv/our/tree", SourcePlace::Other));
    assert_eq!(source.origin, Origin::Own { path: "/srv/our/tree".into() });
}

#[test]
fn a_description_beside_the_file_is_read() {
    let toml = fsarena_corpus::small(10, 100, 1).to_toml();
    let given = |path: &Path| {
        assert_eq!(path, Path::new("my/mine.toml"));
        Ok(toml.clone())
    };
    let body = text("dataset = { file = \"mine.toml\" }\nphases = [\"copy\"]");
    let outside = Outside { read: &given, survey: &survey };
    let experiment = parse_from(&body, "my/x.toml", &outside).unwrap();
    let source = experiment.workloads[0].value.source.clone().unwrap();
    assert_eq!(source.origin, Origin::Made { description: toml.clone() });
    // What is written needs no other file.
    let again = parse(&to_toml(&experiment), "again").unwrap();
    assert_eq!(again.workloads[0].value, experiment.workloads[0].value);
    let broken = |_: &Path| Ok("name = 1\n".to_owned());
    let outside = Outside { read: &broken, survey: &survey };
    let error = parse_from(&body, "my/x.toml", &outside).unwrap_err().to_string();
    assert!(error.starts_with("my/mine.toml:1:1: "), "{error}");
    let outside = Outside { read: &|_| Err(std::io::Error::other("gone")), survey: &survey };
    let error = parse_from(&body, "my/x.toml", &outside).unwrap_err().to_string();
    assert!(error.contains("my/mine.toml cannot be read: gone"), "{error}");
}

#[test]
fn what_is_written_reads_back() {
    let phases = "[{ op = \"untar\", compression = \"bzip2\", by = \"engine\", timed = false }, \
                  \"copy\", \
                  { name = \"a\", op = \"archive\", of = \"copy\", compression = \"zstd\" }, \
                  { op = \"command\", run = \"grep -c \\\"x\\\" {data} > {mnt}/'o'\", \
                  prepare = \"true\", cleanup = \"rm {mnt}/o\", programs = [\"grep\", \"cut\"] }, \
                  { op = \"delete\", of = \"copy\" }]";
    for body in [
        format!("dataset = {{ small = 123, size = 77, dirs = 3 }}\nphases = {phases}"),
        format!("dataset = \"small-300\"\nsource = \"memory\"\nphases = {phases}"),
        "dataset = { from = \"tree.tar.xz\" }\nsource = \"other\"\nphases = [\"untar\"]".to_owned(),
        "dataset = \"c-tree\"\nphases = [{ op = \"compile\", jobs = 3 }]".to_owned(),
    ] {
        let experiment = read(&text(&body)).unwrap();
        let written = to_toml(&experiment);
        let again = read(&written).unwrap_or_else(|error| panic!("{error}\n{written}"));
        assert_eq!(again.workloads[0].value, experiment.workloads[0].value, "{written}");
        assert_eq!(to_toml(&again), written);
    }
}

#[test]
fn the_command_line_takes_real_work_and_its_factors() {
    let overrides = Overrides {
        fs: Some("xfs,ext4".into()),
        on: vec!["loop:4G".into()],
        workloads: Some("copy,delete".into()),
        levels: [("reflink", "never,always".to_owned()), ("cache", "cold-start,cold".to_owned())]
            .into(),
        ..Overrides::default()
    };
    let experiment = from_options(&overrides).unwrap();
    let again = parse(&experiment.text, "again").unwrap();
    assert_eq!(again.factors.levels["reflink"].len(), 2);
    let plan = expand(&experiment, &overrides, &TestRules).unwrap();
    let again = expand(&again, &Overrides::default(), &TestRules).unwrap();
    assert_eq!((&plan.contenders, &plan.workloads), (&again.contenders, &again.workloads));
    insta::assert_snapshot!(crate::rules::labels(&plan), @r#"
    xfs cold-start reflink=never
    xfs cold-start reflink=always
        not run: delete: nothing is copied in it: reflink = "always" changes nothing
    xfs cold reflink=never
    xfs cold reflink=always
        not run: delete: nothing is copied in it: reflink = "always" changes nothing
    ext4 cold-start reflink=never
    ext4 cold-start reflink=always
        not run: files of ext4 cannot share blocks: use xfs or btrfs, or reflink = "auto"
    ext4 cold reflink=never
    ext4 cold reflink=always
        not run: files of ext4 cannot share blocks: use xfs or btrfs, or reflink = "auto"
    "#);
    let bad = Overrides { levels: [("reflink", "no".to_owned())].into(), ..overrides };
    let error = from_options(&bad).unwrap_err().to_string();
    assert_eq!(error, "--reflink: unknown reflink policy \"no\"; known: never, auto, always");
}

#[test]
fn a_builtin_workload_takes_another_dataset() {
    let text = "schema = 1\nname = \"t\"\n[factors]\nfs = \"ext4\"\ndevice = \"loop:20G\"\n\
                [[workload]]\nuse = \"untar\"\nname = \"mine\"\n\
                dataset = { from = \"tree.tar.xz\" }\n\
                [[workload]]\nuse = \"copy\"\nname = \"memory\"\nsource = \"memory\"\n\
                [[workload]]\nuse = \"compile\"\n";
    let experiment = read(text).unwrap();
    let mine = &experiment.workloads[0].value;
    assert_eq!(mine.title, builtin::workload("untar").unwrap().title);
    assert_eq!(mine.source.as_ref().unwrap().archive, Some(Compression::Xz));
    let memory = experiment.workloads[1].value.source.clone().unwrap();
    assert_eq!((memory.name.as_str(), memory.place), ("mixed-830m", SourcePlace::Memory));
    assert_eq!(experiment.workloads[2].value, builtin::workload("compile").unwrap());
}

#[test]
fn the_example_with_data_of_ones_own_is_read() {
    let example = include_str!("../../../../experiments/examples/own-data.toml");
    let experiment = read(example).unwrap();
    let source = experiment.workloads[0].value.source.clone().unwrap();
    assert!(matches!(source.origin, Origin::Own { .. }));
    assert!(expand(&experiment, &Overrides::default(), &TestRules).unwrap().not_run.is_empty());
}

#[test]
fn scale_is_for_what_is_generated() {
    let at = |body: &str, scale: f64| {
        let overrides = Overrides { scale: Some(scale), ..Overrides::default() };
        let plan = expand(&read(&text(body)).unwrap(), &overrides, &TestRules).unwrap();
        plan.workloads[0].clone()
    };
    let small = format!("{SMALL}[\"untar\"]");
    let half = at(&small, 0.5);
    let source = half.source.as_ref().unwrap();
    assert_eq!((source.contents.files, half.dataset.files), (50, 50));
    assert_eq!(source.archive, Some(Compression::Gzip));
    assert_eq!(at(&small, 1.0), work(&small));
    let own = "dataset = { from = \"tree\" }\nphases = [\"copy\"]";
    assert_eq!(at(own, 0.1), work(own));
}

#[test]
fn what_is_to_be_said_of_real_work() {
    let said = |body: &str| -> Vec<String> {
        notices(&work(body), 1.0).into_iter().map(|n| format!("{}: {}", n.code, n.text)).collect()
    };
    let mut all = said(
        "dataset = { from = \"tree\" }\nsource = \"other\"\n\
                        phases = [{ op = \"copy\", by = \"engine\" }]",
    );
    all.extend(said(&format!("source = \"other\"\n{SMALL}[\"copy\"]")));
    insta::assert_snapshot!(all.join("\n"), @r#"
    source-elsewhere: workload "w": the source is on another file system, in /srv/our/tree: reading it is in the figures; it is made cold or warm, as the phase is asked to be, for every contender alike; images of devices on the same disk have it do both
    own-data: workload "w": the tree /srv/our/tree is yours (100 files, 1 MiB); no one else has it, and --scale leaves it as it is
    engine-job: workload "w": the engine does copy, with calls of the same kind as the program's and nothing else
    source-elsewhere: workload "w": the source is on another file system, in the directory of images: reading it is in the figures; it is made cold or warm, as the phase is asked to be, for every contender alike; images of devices lie on the same disk, which does both
    "#);
    assert!(said(&format!("{SMALL}[\"copy\"]")).is_empty());
    let memory = said(&format!("source = \"memory\"\n{SMALL}[\"copy\"]"));
    assert!(memory[0].starts_with("source-in-memory: "), "{memory:?}");
    assert!(memory[0].ends_with("a cold phase is cold but for its source"), "{memory:?}");
    let remarks = said("dataset = \"portage-2010\"\nphases = [\"copy\"]");
    assert!(remarks.iter().any(|text| text.starts_with("dataset-note: ")), "{remarks:?}");
    let overrides = Overrides { scale: Some(0.5), ..Overrides::default() };
    let experiment = read(&text(&format!("{SMALL}[\"copy\"]"))).unwrap();
    let plan = expand(&experiment, &overrides, &TestRules).unwrap();
    let scaled = notices(&plan.workloads[0], plan.scale);
    assert!(scaled[0].text.contains("scaled by 0.5: "), "{scaled:?}");
    // One file of five at least, and they are not of one size.
    let overrides = Overrides { scale: Some(0.05), ..Overrides::default() };
    let experiment = read(&text("dataset = \"wav-5\"\nphases = [\"flac\"]")).unwrap();
    let plan = expand(&experiment, &overrides, &TestRules).unwrap();
    let scaled = notices(&plan.workloads[0], plan.scale);
    assert!(scaled[0].text.contains("scaled by 0.05, which is 0.227 of its bytes: "), "{scaled:?}");
}

/// Only what is the same but for who does it is set next to each other.
#[test]
fn the_example_of_programs_and_engine_differs_in_who_does_the_work_alone() {
    let example = include_str!("../../../../experiments/examples/programs-and-engine.toml");
    let mut workloads = read(example).unwrap().workloads.into_iter().map(|at| at.value);
    let mut pairs = 0;
    while let (Some(programs), Some(mut engine)) = (workloads.next(), workloads.next()) {
        assert_ne!(programs.name, engine.name);
        for phase in &mut engine.phases {
            let job = phase.job.as_mut().unwrap();
            assert_eq!(std::mem::replace(&mut job.by, By::Program), By::Engine);
        }
        assert_eq!((&engine.phases, &engine.source), (&programs.phases, &programs.source));
        pairs += 1;
    }
    assert_eq!(pairs, 2);
}
