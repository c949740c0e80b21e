//! `fsarena dataset`: the datasets for real work listed, shown and written, and data of the
//! user surveyed.

mod write;

use crate::args::DatasetArgs;
use crate::context::{self, Usage, exit};
use anyhow::{Context as _, Result};
use fsarena_corpus::own::{self, Own};
use fsarena_corpus::{CorpusError, Description, Tree};
use fsarena_model::job::{Compression, Contents};
use fsarena_report::{ClassLine, DatasetLine, ShownDataset};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

/// What the argument names.
enum DatasetSource {
    /// A built-in dataset, or a file that describes one.
    Described(Box<Description>),
    /// The user's own.
    Own(Own),
}

/// Lists the datasets, shows one, or writes it.
pub fn run(args: &DatasetArgs) -> Result<ExitCode> {
    match execute(args) {
        Err(error) if matches!(error.downcast_ref(), Some(CorpusError::Stopped)) => {
            say!("stopped; nothing was written");
            Ok(ExitCode::from(exit::INTERRUPTED))
        }
        // A file that is written wrongly, as with experiments.
        Err(error) if matches!(error.downcast_ref(), Some(CorpusError::Description { .. })) => {
            Err(Usage(error.to_string()).into())
        }
        Err(error) => Err(error),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}

fn execute(args: &DatasetArgs) -> Result<()> {
    let Some(what) = &args.what else { return list(args) };
    match find_source(what)? {
        DatasetSource::Own(own) => show_own(args, what, &own),
        DatasetSource::Described(description) => {
            let description = match args.scale {
                Some(scale) => description.scaled(scale),
                None => *description,
            };
            show_described(args, &description)
        }
    }
}

/// All that is built in.
fn list(args: &DatasetArgs) -> Result<()> {
    if let Some(option) = option_for_one(args) {
        refuse!("{option} is for one dataset; name it");
    }
    let known = fsarena_corpus::names().into_iter().filter_map(fsarena_corpus::builtin);
    let lines: Vec<DatasetLine> = known.map(|description| line_of(&description)).collect();
    if args.json {
        return context::print_json(&fsarena_report::json::document(
            "datasets", "datasets", &lines,
        ));
    }
    context::print(&fsarena_report::datasets_table(&lines, context::width(), context::style()))?;
    say!("and small-N, N files of 256 B; MB are 10^6 bytes");
    Ok(())
}

/// The first option given that only makes sense with a described dataset.
fn option_for_one(args: &DatasetArgs) -> Option<&'static str> {
    let given = [
        (args.to.is_some(), "--to"),
        (args.archive.is_some(), "--archive"),
        (args.scale.is_some(), "--scale"),
        (args.toml, "--toml"),
        (args.digest, "--digest"),
    ];
    given.into_iter().find(|(given, _)| *given).map(|(_, option)| option)
}

fn line_of(description: &Description) -> DatasetLine {
    DatasetLine {
        name: description.name().to_owned(),
        title: description.title().to_owned(),
        contents: description.tree().contents(),
    }
}

/// A built-in name goes before a path; `./NAME` is always a path.
fn find_source(what: &Path) -> Result<DatasetSource> {
    if let Some(description) = what.to_str().and_then(fsarena_corpus::builtin) {
        return Ok(DatasetSource::Described(Box::new(description)));
    }
    if what.symlink_metadata().is_err() {
        let known = fsarena_corpus::names().join(", ");
        refuse!(
            "{}: no such dataset, directory, archive or description; built in: {known}, small-N",
            what.display()
        );
    }
    if what.extension().is_some_and(|ending| ending == "toml") {
        let file = what.display().to_string();
        let text = context::description_text(what).with_context(|| file.clone())?;
        return Ok(DatasetSource::Described(Box::new(Description::parse(&text, &file)?)));
    }
    let interrupts = context::count_interrupts()?;
    let stop = || interrupts.load(Ordering::SeqCst) > 0;
    Ok(DatasetSource::Own(own::survey(what, &stop)?))
}

fn show_own(args: &DatasetArgs, what: &Path, own: &Own) -> Result<()> {
    let path = what.display();
    if let Some(option) = option_for_one(args) {
        refuse!("{option} is for datasets that are described; {path} is taken as it is");
    }
    let (kind, compression, contents): (String, Option<Compression>, &Contents) = match own {
        Own::Tree(contents) => ("a directory".to_owned(), None, contents),
        Own::Archive(Compression::None, contents) => {
            ("an archive, not compressed".to_owned(), Some(Compression::None), contents)
        }
        Own::Archive(compression, contents) => {
            (format!("an archive ({})", compression.name()), Some(*compression), contents)
        }
    };
    if args.json {
        return context::print_json(&fsarena_report::json::document(
            "dataset",
            "dataset",
            &ShownDataset::Own {
                path: path.to_string(),
                archive: compression,
                contents: *contents,
            },
        ));
    }
    let figures = fsarena_report::contents_text(contents);
    context::print(&format!("{path}: {kind}\n\n{figures}"))
}

fn show_described(args: &DatasetArgs, description: &Description) -> Result<()> {
    if args.to.is_some() || args.archive.is_some() {
        write::write_targets(args, description)?;
        if !(args.toml || args.digest || args.json) {
            return Ok(());
        }
    }
    let tree = description.tree();
    let digest = args.digest.then(|| tree.digest());
    if args.json {
        return context::print_json(&fsarena_report::json::document(
            "dataset",
            "dataset",
            &ShownDataset::Described {
                name: description.name().to_owned(),
                title: description.title().to_owned(),
                notes: description.notes().to_vec(),
                scale: description.scale(),
                contents: tree.contents(),
                classes: classes(&tree),
                toml: args.toml.then(|| description.to_toml()),
                sha256: digest,
            },
        ));
    }
    if args.toml {
        context::print(&description.to_toml())?;
    }
    if let Some(digest) = digest {
        context::print(&format!("{digest}  {}", description.name()))?;
    }
    if args.toml || args.digest {
        return Ok(());
    }
    let (width, style) = (context::width(), context::style());
    let line = line_of(description);
    let (classes, notes) = (classes(&tree), description.notes());
    context::print(&fsarena_report::dataset_text(&line, &classes, notes, width, style))
}

/// The classes of a tree, in the order of its description.
fn classes(tree: &Tree) -> Vec<ClassLine> {
    let line = |class: fsarena_corpus::ClassFigures| ClassLine {
        name: class.name,
        contents: class.contents.to_string(),
        files: class.files,
        bytes: class.bytes,
        smallest_bytes: class.smallest_bytes,
        median_bytes: class.median_bytes,
        largest_bytes: class.largest_bytes,
    };
    tree.classes().into_iter().map(line).collect()
}
