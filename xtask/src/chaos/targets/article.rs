//! `article`: an article with its charts, and reports with and without theirs.

use super::results::{self, EXPECTED_MS, NATURE, good};
use super::written::Written;
use crate::chaos::draw::Draw;
use crate::chaos::kind::{Demand, Setting};
use crate::chaos::live::Ended;
use crate::chaos::shape::Nature;
use crate::chaos::subject::{Subject, Target, words};
use crate::chaos::testbed::{Testbed, named};
use anyhow::Result;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) struct Articles;

impl Target for Articles {
    fn name(&self) -> &'static str {
        "article"
    }

    fn nature(&'static self) -> &'static Nature {
        &NATURE
    }

    fn why_not(&self) -> Option<String> {
        None
    }

    fn draw(&'static self, draw: &Draw) -> Box<dyn Subject> {
        let all = [Command::Article, Command::Report, Command::Charts];
        Box::new(Article {
            command: draw.one_of("command", &all),
            has_old: draw.once_in("old files", 2),
            written: Written::default(),
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Command {
    Article,
    Report,
    /// A report and a file for each of its charts.
    Charts,
}

struct Article {
    command: Command,
    has_old: bool,
    /// By an undisturbed command.
    written: Written,
}

fn place(setting: &Setting) -> PathBuf {
    setting.output.join("article")
}

impl Article {
    fn arguments_to(&self, dir: &Path) -> Vec<String> {
        let path = |name: &str| dir.join(name).display().to_string();
        let (all, page, charts) = (path(""), path("page.html"), path("charts"));
        match self.command {
            Command::Article => words(&["article", "1", "-o", &all]),
            Command::Report => words(&["report", "1", "-o", &page]),
            Command::Charts => words(&["report", "1", "-o", &page, "--assets", &charts]),
        }
    }
}

impl Subject for Article {
    fn describe(&self) -> String {
        let what = match self.command {
            Command::Article => "article",
            Command::Report => "report",
            Command::Charts => "report with charts",
        };
        format!("{what}{}", if self.has_old { " over an old one" } else { "" })
    }

    fn expected_ms(&self) -> u64 {
        EXPECTED_MS
    }

    fn prepare(&mut self, testbed: &mut Testbed) -> Result<()> {
        let setting = &testbed.setting;
        results::put_run(&setting.fixture.database, &format!("{:016x}", setting.number))?;
        let made = setting.fixture.dir.join("made");
        fs::create_dir(&made)?;
        good(testbed.start("made", &self.arguments_to(&made))?)?;
        self.written = Written::read(&made)?;
        fs::create_dir(place(setting))?;
        if self.has_old {
            self.written.put_old(&place(setting))?;
        }
        Ok(())
    }

    fn arguments(&self, setting: &Setting) -> Result<Vec<String>> {
        Ok(self.arguments_to(&place(setting)))
    }

    fn halves(&self, setting: &Setting) -> Result<Vec<String>> {
        self.written.halves(&place(setting))
    }

    fn standing(&self, setting: &Setting) -> Result<Vec<String>> {
        self.written.standing(&place(setting))
    }

    fn demanded(&self, setting: &Setting, demand: Demand, ended: &Ended) -> Result<Vec<String>> {
        let is_good = ended.code() == Some(0);
        if is_good {
            return self.written.differences(&place(setting));
        }
        let hindered = demand == Demand::Documented;
        let said = format!("{}, and nothing hindered it", ended.describe());
        Ok(if hindered { Vec::new() } else { vec![said] })
    }

    fn complete(&mut self, testbed: &mut Testbed) -> Result<Vec<String>> {
        let ended = testbed.start("again", &self.arguments(&testbed.setting)?)?;
        let mut found = self.demanded(&testbed.setting, Demand::AllDone, &ended)?;
        found.extend(self.standing(&testbed.setting)?);
        found.extend(testbed.standing()?);
        Ok(named("again", found))
    }
}
