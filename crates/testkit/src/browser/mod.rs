//! A headless Chromium for tests of pages: opens a file, reads what is shown, presses keys.
//!
//! Speaks the DevTools protocol over a pair of pipes, so nothing listens on a port and nothing has
//! to be fetched. Each [`Browser`] has a profile of its own, which is removed with it. It knows
//! nothing of RUNs, reports or charts.
//!
//! axe-core in the page: what its rules find against WCAG 2.2, A and AA, and good practice. The
//! script is a copy of the published one, see `vendor/axe-core`; a test holds its checksum.

mod checks;
mod chromium;
mod input;
mod looks;
mod page;
mod wire;

pub use chromium::{Browser, find};
pub use looks::{Chart, Folded};
pub use page::{Page, PageMessages, View};
pub use wire::Error;

use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};

/// Where pictures and prints are kept, next to the output of the steps of `cargo xtask test`.
fn output_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/xtask/report")
}

/// Keeps a picture or print of a page under this name, so that a person can look at what a test
/// saw; an earlier one is replaced.
///
/// # Errors
/// When it cannot be written.
pub fn keep(name: &str, bytes: &[u8]) -> io::Result<()> {
    let dir = output_dir();
    std::fs::create_dir_all(&dir)?;
    std::fs::write(dir.join(name), bytes)
}

/// axe-core as published on npm.
pub const AXE: &str = include_str!("../../vendor/axe-core/axe.min.js");
pub const AXE_VERSION: &str = "4.14.1";
/// SHA-256 of `package/axe.min.js` in `axe-core-4.14.1.tgz`.
pub const AXE_SHA256: &str = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c";

/// Nothing is fetched for it, and only violations are kept: the passes of a page with thousands of
/// marks are megabytes.
const RUN: &str = "axe.run(document, { preload: false, resultTypes: ['violations'] }).then(found =>
    found.violations.map(rule => [rule.impact, rule.id, rule.help,
        rule.nodes.slice(0, 5).map(node => node.target.join(' ') + ': ' +
            (node.failureSummary || '').split('\\n').slice(1, 2).join(' ').trim())]))";

/// A rule that a page breaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// `minor`, `moderate`, `serious` or `critical`.
    pub impact: String,
    /// Name of the rule.
    pub rule: String,
    /// What it asks for.
    pub help: String,
    /// Where, and what is wrong there: the first five.
    pub places: Vec<String>,
}

impl Violation {
    /// Whether it keeps people from reading the page.
    #[must_use]
    pub fn is_serious(&self) -> bool {
        matches!(self.impact.as_str(), "serious" | "critical")
    }
}

impl Page<'_> {
    /// What axe-core finds in the page as it stands: folded parts are not looked into.
    ///
    /// # Errors
    /// When its script fails in the page.
    pub fn axe(&self) -> Result<Vec<Violation>, Error> {
        if self.evaluate("typeof axe")? == "undefined" {
            self.evaluate(&format!("{AXE}\n;true"))?;
        }
        let found = self.evaluate(RUN)?;
        let plain = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let rules =
            found.as_array().ok_or_else(|| Error::Script("axe found no list".to_owned()))?;
        let violation = |rule: &Value| Violation {
            impact: plain(&rule[0]),
            rule: plain(&rule[1]),
            help: plain(&rule[2]),
            places: rule[3].as_array().into_iter().flatten().map(plain).collect(),
        };
        Ok(rules.iter().map(violation).collect())
    }
}
