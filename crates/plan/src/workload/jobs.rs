//! The phases of real work: words and tables, and what each of them is done with.
//!
//! First the phases are read as they are written, then it is followed what is there before each:
//! what a phase works on has to be there, in the form that it needs. Names of what is made may not
//! meet.

use super::head::{phase_nodes, some_timed};
use super::source::{has_file, is_own};
use crate::JsonSchema;
use crate::artifacts::{Artifact, Artifacts};
use crate::error::{At, PlanError, Span};
use crate::tree::{Node, Table};
#[cfg(feature = "schema")]
use crate::values::table_of;
use crate::values::{Get as _, List, PhaseName, Read, Within, Word};
use fsarena_corpus::own::TopLevel;
use fsarena_model::braces;
use fsarena_model::job::{By, Command, Compression, DATA, Job, JobKind, Source, SourcePlace};
use fsarena_model::phase::{Phase, Workload};
#[cfg(feature = "schema")]
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// What can be done.
pub(super) const WORDS: [&str; 8] =
    ["copy", "delete", "untar", "archive", "flac", "ogg", "compile", "command"];
/// What some file systems have in their root.
const LOST_AND_FOUND: &str = "lost+found";
/// Most compilers at once.
const MAX_JOBS: u64 = 1024;
/// Longest command of a shell: far below what the kernel takes as one argument (128 KiB).
const MAX_COMMAND_BYTES: usize = 64 << 10;

/// A phase as it is written; what it works on is not looked for yet.
pub(super) struct Draft {
    place: Span,
    name: String,
    /// Of `untar` and `archive` the compression in it is that of `compression`, or the default.
    kind: JobKind,
    compression: Option<At<Compression>>,
    by: By,
    of: Option<At<String>>,
    timed: bool,
}

/// Reads the phases.
pub(super) fn read(node: &Node<'_>) -> Result<Vec<Draft>, PlanError> {
    let drafts = phase_nodes(node)?.iter().map(draft).collect::<Result<Vec<_>, _>>()?;
    some_timed(node, drafts.iter().map(|draft| draft.timed))?;
    Ok(drafts)
}

/// The phases of a built-in workload, to be done with another dataset.
pub(super) fn of_base(base: &Workload, place: &Span) -> Vec<Draft> {
    let draft = |phase: &Phase| {
        let job = phase.job.clone()?;
        let compression = match job.kind {
            JobKind::Archive { compression } => Some(At::new(compression, place)),
            _ => None,
        };
        Some(Draft {
            place: place.clone(),
            name: phase.name.clone(),
            kind: job.kind,
            compression,
            by: job.by,
            of: Some(At::new(job.of, place)),
            timed: phase.timed,
        })
    };
    base.phases.iter().filter_map(draft).collect()
}

/// A phase as a table; which keys it takes, its op says.
#[derive(Default, Deserialize, JsonSchema)]
struct Keys {
    /// What is done.
    #[schemars(schema_with = "op_schema")]
    op: Option<At<String>>,
    /// Unique in the workload; what the phase makes has this name. Where absent: the op.
    #[schemars(example = &"copy-again")]
    name: Option<Read<PhaseName>>,
    /// What it works on: data, or the name of an earlier phase that made something.
    #[schemars(example = &"data")]
    of: Option<At<String>>,
    /// Who does it: the usual program, or the engine.
    #[schemars(example = &"engine")]
    by: Option<At<Word<By>>>,
    /// false: done, but not measured.
    timed: Option<bool>,
    /// Of untar and archive.
    #[schemars(example = &"gzip")]
    compression: Option<At<Word<Compression>>>,
    /// Of compile: compilers at once.
    #[schemars(example = 2)]
    jobs: Option<Within<1, MAX_JOBS>>,
    /// Of a command: what is timed; {mnt} and {data} are filled in.
    #[schemars(example = &"grep -r foo {data} > {mnt}/out")]
    run: Option<At<String>>,
    /// Of a command: run before it, not timed.
    prepare: Option<At<String>>,
    /// Of a command: run after it, not timed.
    cleanup: Option<At<String>>,
    /// Of a command: names of programs that have to be there.
    #[schemars(example = &"grep")]
    programs: Option<List<At<String>>>,
}

#[cfg(feature = "schema")]
fn op_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": WORDS })
}

/// The schema of a phase as a table.
#[cfg(feature = "schema")]
pub(super) fn schema(generator: &mut SchemaGenerator) -> Schema {
    table_of(&[generator.subschema_for::<Keys>()])
}

fn draft(node: &Node<'_>) -> Result<Draft, PlanError> {
    let place = node.place.clone();
    let Some(table) = node.as_table() else {
        let name: String = node.read()?;
        let kind = kind(&name, &place, Keys::default(), node)?;
        let (compression, by, of, timed) = (None, By::Program, None, true);
        return Ok(Draft { place, name, kind, compression, by, of, timed });
    };
    let mut keys: Keys = table.read()?;
    let Some(op) = keys.op.take() else { return Err(table.missing("op", "op = \"copy\"")) };
    let name = keys.name.take().map_or_else(|| op.value.clone(), |name| name.0);
    let compression = keys.compression.take().map(|at| At::new(at.value.0, &at.place));
    let (by, of, timed) = (keys.by.take(), keys.of.take(), keys.timed.unwrap_or(true));
    let kind = kind(&op.value, &op.place, keys, node)?;
    table.only(keys_of(&kind))?;
    let able = matches!(kind, JobKind::Copy | JobKind::Delete | JobKind::Untar { .. });
    if let Some(by) = by.as_ref().filter(|by| by.value.0 == By::Engine && !able) {
        let what = format!("the engine has no `{}`", op.value);
        let remedy = "it does copy, delete and untar; leave `by` out";
        return Err(PlanError::new(&by.place, what, remedy));
    }
    let by = by.map_or(By::Program, |by| by.value.0);
    Ok(Draft { place, name, kind, compression, by, of, timed })
}

/// Keys of a phase of a kind.
fn keys_of(kind: &JobKind) -> &'static [&'static str] {
    match kind {
        JobKind::Copy | JobKind::Delete => &["op", "name", "of", "by", "timed"],
        JobKind::Untar { .. } | JobKind::Archive { .. } => {
            &["op", "name", "of", "by", "timed", "compression"]
        }
        JobKind::Flac | JobKind::Ogg => &["op", "name", "of", "by", "timed"],
        JobKind::Compile { .. } => &["op", "name", "of", "by", "timed", "jobs"],
        JobKind::Command(_) => &["op", "name", "timed", "run", "prepare", "cleanup", "programs"],
    }
}

/// What is done; a table brings what a word cannot say.
fn kind(op: &str, place: &Span, keys: Keys, node: &Node<'_>) -> Result<JobKind, PlanError> {
    let compression = Compression::Gzip;
    Ok(match op {
        "copy" => JobKind::Copy,
        "delete" => JobKind::Delete,
        "untar" => JobKind::Untar { compression },
        "archive" => JobKind::Archive { compression },
        "flac" => JobKind::Flac,
        "ogg" => JobKind::Ogg,
        "compile" => JobKind::Compile { jobs: keys.jobs.map_or(1, |jobs| jobs.get()) },
        "command" => JobKind::Command(command(keys, node)?),
        other if fsarena_model::op::Op::ALL.iter().any(|op| op.name() == other) => {
            let what = format!("{other:?} is done by the engine on files of its own");
            let remedy = "leave `dataset` out and say `files` and `size`, in a workload of its own";
            return Err(PlanError::new(place, what, remedy));
        }
        other => return Err(PlanError::unknown(place, "phase", other, &WORDS)),
    })
}

fn command(keys: Keys, node: &Node<'_>) -> Result<Command, PlanError> {
    let Some(run) = keys.run else {
        let what = "a command as a word does not say what is run";
        let word = || node.error(what, "write { op = \"command\", run = \"…\" }");
        let missing = |table: Table<'_>| table.missing("run", "run = \"grep -r foo {data}\"");
        return Err(node.as_table().map_or_else(word, missing));
    };
    let hook = |at: Option<At<String>>| at.map(filled_in).transpose();
    let programs = keys.programs.into_iter().flat_map(|programs| programs.0);
    Ok(Command {
        run: filled_in(run)?,
        programs: programs.map(program).collect::<Result<_, _>>()?,
        prepare: hook(keys.prepare)?,
        cleanup: hook(keys.cleanup)?,
    })
}

/// The name of a program: looked up in the usual directories, so it is no path.
fn program(At { value: name, place }: At<String>) -> Result<String, PlanError> {
    let odd = |c: char| c == '/' || c.is_whitespace() || c.is_control();
    if name.is_empty() || name.starts_with('-') || name.contains(odd) {
        let what = format!("{name:?} is no name of a program");
        return Err(PlanError::new(&place, what, "write it like grep"));
    }
    Ok(name)
}

/// A command, all of whose braces will be filled in.
fn filled_in(At { value: command, place }: At<String>) -> Result<String, PlanError> {
    if command.trim().is_empty() {
        return Err(PlanError::new(&place, "an empty command", "leave the key out"));
    }
    if command.len() > MAX_COMMAND_BYTES || command.contains('\0') {
        let what = "a command that no shell takes as one argument";
        return Err(PlanError::new(&place, what, "put it into a script and run that"));
    }
    braces::check_command(&command).map_err(|unfilled| {
        let remedy =
            "use {mnt} or {data}; ${NAME} is a variable of the shell, {{ and }} are braces";
        PlanError::new(&place, format!("{} is not filled in", unfilled.word), remedy)
    })?;
    Ok(command)
}

/// Gives every phase what it works on, and the source its form: an archive where it is unpacked.
/// `top` is what is directly in the user's own, where that is known.
pub(super) fn resolve(
    drafts: &[Draft],
    source: &mut Source,
    top: Option<TopLevel>,
) -> Result<Vec<Phase>, PlanError> {
    if !is_own(source) {
        source.archive = source_compression(drafts)?;
    }
    let source = &*source;
    let mut artifacts = Artifacts::new(source);
    let mut phases: Vec<Phase> = Vec::new();
    for draft in drafts {
        let of = input_name(draft, &artifacts, &phases)?;
        let input = find_input(draft, &of, &artifacts, &phases)?;
        let job =
            Job { kind: resolve_kind(draft, input, source, top)?, by: draft.by, of: of.value };
        check_input_kept(draft, &job, source)?;
        let phase = Phase { timed: draft.timed, ..Phase::of_job(&draft.name, job) };
        check_names_differ(draft, &phase, &phases, source)?;
        artifacts.after(&phase);
        phases.push(phase);
    }
    Ok(phases)
}

/// How a made source has to be packed: as the first phase that unpacks it says.
fn source_compression(drafts: &[Draft]) -> Result<Option<Compression>, PlanError> {
    let mut packed: Option<Compression> = None;
    for draft in drafts {
        let of_data = draft.of.as_ref().is_none_or(|of| of.value == DATA);
        if !of_data || !matches!(draft.kind, JobKind::Untar { .. }) {
            continue;
        }
        let wanted = draft.compression.as_ref().map(|kind| kind.value);
        match (packed, wanted) {
            (None, wanted) => packed = Some(wanted.unwrap_or(Compression::Gzip)),
            (Some(first), Some(other)) if first != other => {
                let place = draft.compression.as_ref().map_or(&draft.place, |kind| &kind.place);
                let what = format!(
                    "the data is packed with {} already, and here with {}",
                    first.name(),
                    other.name()
                );
                return Err(PlanError::new(place, what, "make two workloads of it"));
            }
            _ => {}
        }
    }
    Ok(packed)
}

/// The name of what a phase works on: as written, or by default.
fn input_name(
    draft: &Draft,
    artifacts: &Artifacts<'_>,
    phases: &[Phase],
) -> Result<At<String>, PlanError> {
    if let Some(of) = &draft.of {
        return Ok(of.clone());
    }
    let tree = |artifact: &&Artifact| artifact.archive.is_none();
    let first = || artifacts.data().filter(tree).or_else(|| artifacts.made().find(tree));
    let found = match draft.kind {
        JobKind::Command(_) => return Ok(At::new(DATA.to_owned(), &draft.place)),
        JobKind::Untar { .. } => artifacts.data(),
        JobKind::Delete => artifacts.made().next_back().or(artifacts.data()),
        JobKind::Flac | JobKind::Ogg | JobKind::Compile { .. } => {
            let source = |artifact: &&Artifact| tree(artifact) && artifact.is_source;
            let data = artifacts.data().filter(source);
            data.or_else(|| artifacts.made().find(source)).or_else(first)
        }
        JobKind::Copy | JobKind::Archive { .. } => first(),
    };
    let name = found.map(|artifact| artifact.name.clone()).ok_or_else(|| {
        let deleted = phases.iter().any(is_delete);
        let (what, remedy) = match draft.kind {
            JobKind::Delete | JobKind::Untar { .. } => {
                ("nothing is there any more", "end before it")
            }
            _ if deleted => ("no tree is there any more", "put it before the deletion"),
            JobKind::Copy => (
                "the data is an archive",
                "put an `untar` before it, or copy the archive itself: \
                 { op = \"copy\", of = \"data\" }",
            ),
            _ => ("the data is an archive", "put an `untar` before it"),
        };
        PlanError::new(&draft.place, format!("phase {:?}: {what}", draft.name), remedy)
    })?;
    Ok(At::new(name, &draft.place))
}

fn is_delete(phase: &Phase) -> bool {
    phase.job.as_ref().is_some_and(|job| job.kind == JobKind::Delete)
}

/// What a phase works on, which has to be there. A command takes what it finds.
fn find_input<'h>(
    draft: &Draft,
    of: &At<String>,
    artifacts: &'h Artifacts<'_>,
    phases: &[Phase],
) -> Result<Option<&'h Artifact>, PlanError> {
    let name = &of.value;
    match (&draft.kind, artifacts.get(name)) {
        (JobKind::Command(_), Some(_)) => return Ok(None),
        (JobKind::Command(command), None) if !names_data(command) => return Ok(None),
        (_, Some(artifact)) => return Ok(Some(artifact)),
        (_, None) => {}
    }
    let gone =
        |phase: &&Phase| is_delete(phase) && phase.job.as_ref().is_some_and(|j| j.of == *name);
    if let Some(phase) = phases.iter().find(gone) {
        let what = format!("{name:?} is not there any more: {:?} deletes it", phase.name);
        return Err(PlanError::new(&of.place, what, "put this phase before the deletion"));
    }
    if phases.iter().any(|phase| phase.name == *name) {
        let what = format!("phase {name:?} leaves nothing to work on");
        let remedy = "name `data`, or a phase that copies, unpacks, packs, encodes or builds";
        return Err(PlanError::new(&of.place, what, remedy));
    }
    let made: Vec<&str> = artifacts.made().map(|artifact| artifact.name.as_str()).collect();
    let known: Vec<&str> = artifacts.data().map(|_| DATA).into_iter().chain(made).collect();
    Err(PlanError::unknown(&of.place, "earlier phase", name, &known))
}

/// What is done, with the compression of what it is done with.
fn resolve_kind(
    draft: &Draft,
    input: Option<&Artifact>,
    source: &Source,
    top: Option<TopLevel>,
) -> Result<JobKind, PlanError> {
    let Some(input) = input else { return Ok(draft.kind.clone()) };
    let place = draft.of.as_ref().map_or(&draft.place, |of| &of.place);
    let phase = &draft.name;
    let tree = |word: &str| match input.archive {
        None => Ok(()),
        Some(_) => {
            let what = format!("phase {phase:?}: {:?} is an archive", input.name);
            Err(PlanError::new(place, what, format!("{word} needs a tree: unpack it before")))
        }
    };
    match &draft.kind {
        JobKind::Untar { .. } => {
            let Some(packed) = input.archive else {
                let what = format!("phase {phase:?}: {:?} is a tree", input.name);
                return Err(PlanError::new(place, what, "untar needs an archive"));
            };
            if let Some(written) = draft.compression.as_ref().filter(|kind| kind.value != packed) {
                let what = format!(
                    "compression {:?}, and {:?} is packed with {:?}",
                    written.value.name(),
                    input.name,
                    packed.name()
                );
                return Err(PlanError::new(&written.place, what, "leave `compression` out"));
            }
            return Ok(JobKind::Untar { compression: packed });
        }
        JobKind::Archive { .. } => {
            tree("archive")?;
            let written = draft.compression.as_ref().map(|kind| kind.value);
            let compression = written.unwrap_or(Compression::Gzip);
            return Ok(JobKind::Archive { compression });
        }
        JobKind::Flac | JobKind::Ogg => {
            tree("encoding")?;
            let made = || has_file(source, |path| path.ends_with(".wav") && !path.contains('/'));
            let wav = top.map(|top| top.wavs > 0).or_else(made);
            if !input.is_source || wav == Some(false) {
                let what = format!("phase {phase:?}: {:?} holds no wav files", input.name);
                let remedy =
                    "use dataset = \"wav-5\", or a tree of yours with *.wav directly in it";
                return Err(PlanError::new(place, what, remedy));
            }
        }
        JobKind::Compile { .. } => {
            tree("compile")?;
            let made = || has_file(source, |path| path == "Makefile");
            let makefile = top.map(|top| top.has_makefile).or_else(made);
            if !input.is_source || makefile == Some(false) {
                let what = format!("phase {phase:?}: {:?} has no Makefile", input.name);
                let remedy = "use dataset = \"c-tree\", or a tree of yours with a Makefile that \
                              puts what it makes into $(OUT)";
                return Err(PlanError::new(place, what, remedy));
            }
        }
        JobKind::Copy | JobKind::Delete | JobKind::Command(_) => {}
    }
    Ok(draft.kind.clone())
}

/// Refuses what would change a source that is needed again, or is the user's.
fn check_input_kept(draft: &Draft, job: &Job, source: &Source) -> Result<(), PlanError> {
    if source.place == SourcePlace::Same || job.of != DATA {
        return Ok(());
    }
    let untouched = is_own(source) && source.place == SourcePlace::Other;
    let reason = match &job.kind {
        JobKind::Delete => "deletes the data",
        JobKind::Compile { .. } if is_own(source) => "may write into the data",
        JobKind::Command(command) if untouched && names_data(command) => "may change the data",
        _ => return Ok(()),
    };
    let place = draft.of.as_ref().map_or(&draft.place, |of| &of.place);
    let (whose, remedy) = if untouched {
        ("is yours and stays where it is", "say source = \"same\": then it works on a copy")
    } else {
        ("is outside the file system under test and every trial needs it", "say source = \"same\"")
    };
    let what = format!("phase {:?} {reason}, which {whose}", draft.name);
    Err(PlanError::new(place, what, remedy))
}

fn names_data(command: &Command) -> bool {
    let hooks = command.prepare.iter().chain(&command.cleanup);
    hooks.chain([&command.run]).any(|text| braces::words(text).any(|word| word == "{data}"))
}

/// Refuses two artifacts of one name.
fn check_names_differ(
    draft: &Draft,
    phase: &Phase,
    before: &[Phase],
    source: &Source,
) -> Result<(), PlanError> {
    let (name, op) = (&phase.name, phase.job.as_ref().map_or("", |job| job.kind.name()));
    let remedy = format!("name one: {{ op = \"{op}\", name = \"{op}-2\" }}");
    if before.iter().any(|earlier| earlier.name == *name) {
        let what = format!("two phases are named {name:?}");
        return Err(PlanError::new(&draft.place, what, remedy));
    }
    let product = |phase: &Phase| phase.job.as_ref().and_then(|job| job.product(&phase.name));
    let Some(own) = product(phase) else { return Ok(()) };
    let taken = own == DATA
        || own == LOST_AND_FOUND
        || own == source.file_name()
        || before.iter().any(|earlier| product(earlier).as_ref() == Some(&own));
    if taken || *name == DATA {
        let what = format!("phase {name:?} would make {own:?}, which is there already");
        return Err(PlanError::new(&draft.place, what, remedy));
    }
    Ok(())
}
