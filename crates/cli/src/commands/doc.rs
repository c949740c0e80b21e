//! `fsarena doc`: the documentation, inside the program. One text for the repository and the
//! terminal; nothing here says anything that is not in those files.

use crate::args::DocArgs;
use crate::compressed::CompressedText;
use crate::context::{self, Usage};
use anyhow::Result;
use std::fmt::Write as _;
use std::io::IsTerminal as _;

mod markdown;
#[cfg(test)]
mod tests;

/// A text of the documentation.
struct Topic {
    /// Name, as in `fsarena doc NAME`.
    name: &'static str,
    /// Links name it by its path in the repository.
    source: CompressedText,
}

macro_rules! topic {
    ($name:literal, $path:literal) => {
        Topic { name: $name, source: compressed!($path) }
    };
}

/// What a newcomer wants first, then what is looked up, then what developers read.
const TOPICS: &[Topic] = &[
    topic!("readme", "README.md"),
    topic!("guide", "docs/guide.md"),
    topic!("method", "docs/method.md"),
    topic!("verdict", "docs/verdict.md"),
    topic!("honesty", "docs/honesty.md"),
    topic!("report", "docs/report.md"),
    topic!("doctor", "docs/doctor.md"),
    topic!("periodic", "docs/periodic.md"),
    topic!("watch", "docs/watch.md"),
    topic!("fleet", "docs/fleet.md"),
    topic!("virtual", "docs/virtual.md"),
    topic!("crash-safety", "docs/crash-safety.md"),
    topic!("applications", "applications/README.md"),
    topic!("device-safety", "docs/device-safety.md"),
    topic!("virtual-devices", "docs/virtual-devices.md"),
    topic!("device-models", "devices/README.md"),
    topic!("format", "crates/plan/FORMAT.md"),
    topic!("database", "crates/store/schema.md"),
    topic!("queries", "docs/queries.md"),
    topic!("bisect", "docs/bisect.md"),
    topic!("examples", "docs/examples/README.md"),
    topic!("peers", "docs/peers.md"),
    topic!("glossary", "docs/glossary.md"),
    topic!("architecture", "docs/architecture.md"),
    topic!("testing", "docs/testing.md"),
    topic!("changes", "CHANGELOG.md"),
];

/// Prints one topic, or the list of all.
pub fn run(args: &DocArgs) -> Result<()> {
    let Some(name) = &args.topic else {
        return context::print(&list(context::width()));
    };
    let topic = find(name)?;
    if !std::io::stdout().is_terminal() {
        return context::print(&topic.source.text());
    }
    context::print(&for_terminal(topic, context::width().min(100), context::style().colour))
}

/// The topic of this name; the name of its file does as well.
fn find(name: &str) -> Result<&'static Topic, Usage> {
    let file = |topic: &Topic| {
        topic.source.path == name || topic.source.path.rsplit('/').next() == Some(name)
    };
    let wanted = name.to_lowercase();
    // Its name before.
    let wanted = if wanted == "safety" { "device-safety" } else { &wanted };
    let named = TOPICS.iter().find(|topic| topic.name == wanted);
    named.or_else(|| TOPICS.iter().find(|topic| file(topic))).ok_or_else(|| {
        let known: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
        let near = match fsarena_plan::nearest(name, &known) {
            Some(near) => format!("did you mean \"{near}\"? "),
            None => String::new(),
        };
        Usage(format!("no documentation on \"{name}\"; {near}There is: {}", known.join(", ")))
    })
}

/// The topics, each with its first sentence.
fn list(width: usize) -> String {
    let mut out = String::from("Topics (fsarena doc TOPIC):\n");
    let names = TOPICS.iter().map(|topic| topic.name.len()).max().unwrap_or(0);
    for topic in TOPICS {
        let room = width.saturating_sub(names + 4);
        let says = markdown::cut(&markdown::summary(&topic.source.text()), room);
        let _ = writeln!(out, "  {:<names$}  {says}", topic.name);
    }
    out.push_str(
        "\nOptions of a subcommand: fsarena SUBCOMMAND --help, or its page by fsarena man\n",
    );
    out
}

/// A topic as lines of at most `width` columns. Links to other topics say how to read those.
fn for_terminal(topic: &Topic, width: usize, colour: bool) -> String {
    markdown::for_terminal(&topic.source.text(), width, colour, &|target| {
        let file = target.split('#').next().unwrap_or_default();
        let known = TOPICS.iter().find(|topic| {
            let path = topic.source.path;
            let (_, name) = path.rsplit_once('/').unwrap_or(("", path));
            file.rsplit('/').next() == Some(name) && (name != "README.md" || file == path)
        });
        known.map(|topic| format!("`fsarena doc {}`", topic.name))
    })
}
