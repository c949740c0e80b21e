//! `fsarena reference YEAR`: an article's tables, recomputed values, and next to them the latest
//! RUN of its experiment on each machine.

use super::loaded::{Identity, LoadedRun, article_phases};
use super::open;
use crate::args::{ArticleFormat, Beside, ReferenceArgs};
use crate::context;
use anyhow::Result;
use fsarena_model::host::Host;
use fsarena_model::run::RunHeader;
use fsarena_reference::Article;
use fsarena_report::OwnRun;
use fsarena_store::{RunId, RunRow, Store};
use std::cmp::Reverse;
use std::path::Path;

/// Prints the tables of an article, or the list of articles.
pub fn run(args: &ReferenceArgs, db: Option<&Path>) -> Result<()> {
    let Some(year) = args.year else {
        return list(args.json);
    };
    let Some(article) = fsarena_reference::study(year) else {
        let years: Vec<String> =
            fsarena_reference::list().iter().map(|(year, _)| year.to_string()).collect();
        refuse!("no article of {year}; there is: {}", years.join(", "));
    };
    let owned = match args.beside {
        Beside::Nothing => Vec::new(),
        Beside::Latest => own_runs(&article, args.run.as_deref(), db)?,
    };
    let runs: Vec<OwnRun<'_>> = owned.iter().map(LoadedRun::own_run).collect();
    let phases = article_phases(&article);
    match args.article_format() {
        ArticleFormat::Json => {
            let document = fsarena_report::json::reference(&article, &phases, &runs);
            return context::print_json(&document);
        }
        ArticleFormat::Markdown => {
            return context::print(&fsarena_report::article_markdown(&article, &phases, &runs));
        }
        ArticleFormat::Bbcode => {
            return context::print(&fsarena_report::article_bbcode(&article, &phases, &runs));
        }
        ArticleFormat::Text => {}
    }
    let (width, style) = (context::width(), context::style());
    let text = fsarena_report::article(&article, &phases, &runs, width, style);
    context::print(&format!("{}\n\n{text}", article.title))?;
    if runs.is_empty() && args.beside == Beside::Latest {
        say!("no RUN of it on this machine yet: fsarena run {}", article.experiment);
    }
    Ok(())
}

fn list(json: bool) -> Result<()> {
    let articles = fsarena_reference::list();
    if json {
        return context::print_json(&fsarena_report::json::references(&articles));
    }
    context::print(&fsarena_report::articles(&articles, context::width()))
}

/// The RUN asked for, or the latest of each machine.
fn own_runs(
    article: &Article,
    selector: Option<&str>,
    db: Option<&Path>,
) -> Result<Vec<LoadedRun>> {
    let Some(store) = open::for_reading(db)? else { return Ok(Vec::new()) };
    let found = match selector {
        Some(selector) => vec![repeating(article, &store, selector)?],
        None => latest_by_machine(&store, article.experiment)?,
    };
    found.into_iter().map(|run| LoadedRun::read(&store, run, Identity::Kept)).collect()
}

/// The RUN asked for, if it repeats the article.
fn repeating(article: &Article, store: &Store, selector: &str) -> Result<RunId> {
    let run = store.find(selector)?;
    let own = store.header(run)?.experiment;
    match misfit(article, &own) {
        None => Ok(run),
        Some(why) => refuse!("--run {selector}: RUN {} is of {own}, which {why}", run.0),
    }
}

/// Why a RUN of this experiment does not belong to an article, and what it belongs to.
fn misfit(article: &Article, experiment: &str) -> Option<String> {
    let year = article.year;
    match fsarena_reference::of_experiment(experiment) {
        Some(own) if own.year == year => None,
        Some(own) => Some(format!(
            "repeats the article of {fit}, not of {year}: fsarena reference {fit}",
            fit = own.year
        )),
        None => {
            let known = fsarena_reference::list().into_iter();
            let articles = known.filter_map(|(year, _)| fsarena_reference::study(year));
            let years: Vec<String> =
                articles.map(|one| format!("{} ({})", one.year, one.experiment)).collect();
            Some(format!(
                "repeats no article; there are those of {}: fsarena run {}",
                years.join(", "),
                article.experiment
            ))
        }
    }
}

/// The latest RUN of an experiment with a record, of each machine; this machine first. Another
/// architecture, distribution or kernel makes another machine of it: that is what some of the
/// articles compare.
fn latest_by_machine(store: &Store, experiment: &str) -> Result<Vec<RunId>> {
    let mut rows = store.runs()?;
    rows.retain(|row| row.experiment == experiment && row.trials_done > 0);
    // Numbers say the order of RUNs that began here, but nothing of those that were merged.
    let began = |row: &RunRow| if row.merged { row.created_unix_ns } else { 0 };
    rows.sort_by_key(|row| (row.merged, Reverse((began(row), row.id))));
    let mut found: Vec<(RunId, RunHeader)> = Vec::new();
    for row in rows {
        let header = store.header(row.id)?;
        if !found.iter().any(|(_, known)| is_same_machine(&known.host, &header.host)) {
            found.push((row.id, header));
        }
    }
    Ok(found.into_iter().map(|(run, _)| run).collect())
}

fn is_same_machine(one: &Host, other: &Host) -> bool {
    let hardware = |host: &Host| (host.hostname.clone(), host.cpu_model.clone(), host.cpus);
    let system = |host: &Host| {
        let release = (host.os.clone(), host.kernel_release.clone());
        (host.architecture.clone(), release, host.distribution.clone())
    };
    hardware(one) == hardware(other) && system(one) == system(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_with_another_system_is_another_machine() {
        let host = |change: &dyn Fn(&mut Host)| {
            let mut host = Host { hostname: "desk".into(), cpus: 2, ..Host::default() };
            host.architecture = "x86_64".to_owned();
            change(&mut host);
            host
        };
        let desk = host(&|_| {});
        let others: [&dyn Fn(&mut Host); 4] = [
            &|host| host.architecture = "i686".to_owned(),
            &|host| host.kernel_release = "6.18.1".to_owned(),
            &|host| host.distribution = Some("Zenwalk".to_owned()),
            &|host| host.cpu_model = Some("Intel".to_owned()),
        ];
        for change in others {
            assert!(!is_same_machine(&desk, &host(change)));
        }
        assert!(is_same_machine(&desk, &host(&|host| host.boot_id = "another".to_owned())));
    }

    #[test]
    fn a_run_of_another_article_says_which_it_belongs_to() {
        let article = fsarena_reference::study(2003).expect("is known");
        assert_eq!(misfit(&article, "2003-linux-vs-freebsd"), None);
        let other = misfit(&article, "2010-ssd-ext4-journal").expect("is of another");
        assert_eq!(other, "repeats the article of 2010, not of 2003: fsarena reference 2010");
        let none = misfit(&article, "quick").expect("is of none");
        assert!(none.starts_with("repeats no article; there are those of 2003 (2003-"), "{none}");
        assert!(none.ends_with(": fsarena run 2003-linux-vs-freebsd"), "{none}");
    }
}
