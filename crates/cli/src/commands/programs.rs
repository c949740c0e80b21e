//! `fsarena programs`: packages of another width fetched, listed and deleted.

use super::delete::is_confirmed;
use super::{confirm, kernel};
use crate::args::{
    ProgramsAddArgs, ProgramsArgs, ProgramsCommand, ProgramsDeleteArgs, ProgramsListArgs,
};
use crate::context;
use anyhow::{Result, bail};
use fsarena_guests::program_tree::{
    InstalledTree, Manifest, Offer, Package, ProgramCache, missing_here, offer,
};
use fsarena_model::units::Bytes;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

pub fn run(args: &ProgramsArgs) -> Result<()> {
    match &args.what {
        ProgramsCommand::Add(args) => add(args),
        ProgramsCommand::List(args) => list(args),
        ProgramsCommand::Delete(args) => delete(args),
    }
}

/// The cache, which root alone may change.
fn root_cache() -> Result<ProgramCache> {
    if !context::is_root() {
        refuse!("programs of another width need root, as the trials that use them do");
    }
    let cache = context::programs()?;
    cache.check_owner()?;
    Ok(cache)
}

fn add(args: &ProgramsAddArgs) -> Result<()> {
    if let Some(reason) = missing_here() {
        bail!("not run: {reason}");
    }
    let cache = root_cache()?;
    let scratch = context::scratch_dir()?;
    let interrupts = context::count_interrupts()?;
    let stop = || interrupts.load(Ordering::SeqCst) > 0;
    say!("apt fetches its lists of i386 packages (about 15 MB, not kept)");
    let offered = offer(scratch.path(), &stop)?;
    if let Some(complaint) = &offered.complaint {
        say!("mind: apt goes on without some lists: {complaint}");
    }
    confirm_room(&offered, &cache, args.yes)?;
    let work_dir = context::journaled_dir(cache.dir(), "adding")?;
    let fetched = offered.take(&cache, work_dir.path())?;
    if args.json {
        return context::print_json(&fsarena_report::json::document(
            "programs",
            "programs",
            &[program_tree_line(&fetched.tree)],
        ));
    }
    say!("{}", if fetched.was_there { "these packages were there before" } else { "added" });
    context::print(&describe(&fetched.tree))
}

/// Says what would be fetched and how much room that takes, and asks.
fn confirm_room(offered: &Offer<'_>, cache: &ProgramCache, yes: bool) -> Result<()> {
    let (fetched, installed) = (offered.package_bytes(), offered.installed_bytes());
    say!(
        "{} packages: {} are fetched, and {} are unpacked into {}",
        offered.package_count(),
        Bytes(fetched),
        Bytes(installed),
        cache.dir().display()
    );
    let free = free_bytes(&cache.nearest());
    if let Some(free) = free.filter(|free| *free < installed) {
        bail!("there are {} free; free some, or set FSARENA_PROGRAMS_DIR", Bytes(free));
    }
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        refuse!("nothing was fetched: pass --yes to fetch without a terminal");
    }
    if !confirm::is_answered("Fetch them?")? {
        refuse!("nothing was fetched");
    }
    Ok(())
}

fn free_bytes(dir: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(dir).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

fn list(args: &ProgramsListArgs) -> Result<()> {
    let tree = context::programs()?.tree();
    if args.json {
        let all: Vec<ProgramTreeLine<'_>> = tree.iter().map(program_tree_line).collect();
        return context::print_json(&fsarena_report::json::document("programs", "programs", &all));
    }
    match tree {
        Some(tree) => context::print(&describe(&tree)),
        None => {
            say!("no programs of another width are here: fsarena programs add i386");
            Ok(())
        }
    }
}

fn delete(args: &ProgramsDeleteArgs) -> Result<()> {
    let cache = root_cache()?;
    let Some(tree) = cache.tree() else {
        refuse!("there are no programs of i386 in {}", cache.dir().display());
    };
    let bytes: u64 = tree.manifest.packages.iter().map(|it| it.installed_bytes).sum();
    let count = tree.manifest.packages.len();
    if !args.yes && !is_confirmed(&format!("{count} packages of i386 ({})", Bytes(bytes)))? {
        refuse!("nothing was deleted");
    }
    cache.delete(&tree)?;
    say!("{} deleted from {}", Bytes(bytes), cache.dir().display());
    Ok(())
}

/// Programs of another width that are here.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ProgramTreeLine<'t> {
    /// `i386`.
    architecture: &'static str,
    /// Directory of what would be `/usr`.
    path: PathBuf,
    /// Hash of names, versions and hashes of the packages.
    key: &'t str,
    packages: &'t [Package],
}

fn program_tree_line(tree: &InstalledTree) -> ProgramTreeLine<'_> {
    let Manifest { key, packages, .. } = &tree.manifest;
    ProgramTreeLine { architecture: "i386", path: tree.usr(), key, packages }
}

fn describe(tree: &InstalledTree) -> String {
    let packages = &tree.manifest.packages;
    let bytes: u64 = packages.iter().map(|it| it.installed_bytes).sum();
    let added = std::fs::metadata(tree.usr()).and_then(|meta| meta.modified());
    let mut text = format!(
        "i386: {} packages, {}; added {}\n  {}\n  key {}\n",
        packages.len(),
        Bytes(bytes),
        added.map_or_else(|_| "at an unknown time".to_owned(), kernel::age),
        tree.dir.display(),
        tree.manifest.key
    );
    for package in packages {
        let _ = writeln!(text, "  {}", line(package, tree));
    }
    text
}

/// A package in one line; those that no trial loads anything of are marked.
fn line(package: &Package, tree: &InstalledTree) -> String {
    let copyright = || {
        let file = tree.usr().join("share/doc").join(&package.name).join("copyright");
        format!("see {}", file.display())
    };
    let licences = match package.licences.as_slice() {
        [] => copyright(),
        named => named.join(", "),
    };
    format!(
        "{} {} {}{}; sha256 {}; {}",
        package.name,
        package.version,
        Bytes(package.installed_bytes),
        if package.is_loaded { "" } else { ", not loaded by trials" },
        package.sha256,
        licences
    )
}
