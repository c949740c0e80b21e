//! `bundle`: a RUN that is packed into one file, such a file that is checked, and databases that
//! are merged.

use super::results::{self, EXPECTED_MS, NATURE, good};
use super::written::Written;
use crate::chaos::draw::Draw;
use crate::chaos::kind::{Demand, Setting};
use crate::chaos::live::Ended;
use crate::chaos::shape::Nature;
use crate::chaos::subject::{Subject, Target, words};
use crate::chaos::testbed::{Testbed, named};
use anyhow::Result;
use fsarena_store::Store;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// RUNs of the database that is merged.
const OTHERS: usize = 3;
const NAME: &str = "paper.tar.zst";

pub(super) struct Bundles;

impl Target for Bundles {
    fn name(&self) -> &'static str {
        "bundle"
    }

    fn nature(&'static self) -> &'static Nature {
        &NATURE
    }

    fn why_not(&self) -> Option<String> {
        None
    }

    fn draw(&'static self, draw: &Draw) -> Box<dyn Subject> {
        let all = [Command::Write, Command::Write, Command::Check, Command::Merge];
        Box::new(Bundle {
            command: draw.one_of("command", &all),
            has_old: draw.once_in("an old file", 2),
            written: Written::default(),
            said: String::new(),
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Command {
    Write,
    Check,
    Merge,
}

struct Bundle {
    command: Command,
    has_old: bool,
    /// By an undisturbed command.
    written: Written,
    /// What an undisturbed check has said.
    said: String,
}

fn in_case(setting: &Setting, name: &str) -> PathBuf {
    setting.fixture.dir.join(name)
}

/// The directory of the bundle that is written.
fn place(setting: &Setting) -> PathBuf {
    setting.output.join("bundle")
}

fn uid(setting: &Setting, number: usize) -> String {
    format!("{:08x}{number:08x}", setting.number)
}

impl Bundle {
    fn arguments_to(&self, setting: &Setting) -> Vec<String> {
        let (before, path): (&[&str], PathBuf) = match self.command {
            Command::Write => (&["bundle", "1", "-o"], place(setting).join(NAME)),
            Command::Check => (&["bundle", "check"], in_case(setting, NAME)),
            Command::Merge => (&["merge"], in_case(setting, "others.db")),
        };
        [words(before), vec![path.display().to_string()]].concat()
    }

    /// Whether all RUNs of the other database were taken, or none.
    fn taken(&self, setting: &Setting, is_over: bool) -> Result<Vec<String>> {
        let store = Store::open_read_only(&setting.fixture.database)?;
        let uids: BTreeSet<String> = store.runs()?.into_iter().map(|run| run.uid).collect();
        let taken = (1..=OTHERS).filter(|number| uids.contains(&uid(setting, *number))).count();
        let own = (!uids.contains(&uid(setting, 0))).then(|| "RUN 1 is gone".to_owned());
        let some = (taken != OTHERS && (taken > 0 || is_over))
            .then(|| format!("{taken} of {OTHERS} RUNs were merged"));
        Ok(own.into_iter().chain(some).collect())
    }
}

impl Subject for Bundle {
    fn describe(&self) -> String {
        let what = match self.command {
            Command::Write => "written",
            Command::Check => "checked",
            Command::Merge => "a database merged",
        };
        let old = self.has_old && self.command == Command::Write;
        format!("{what}{}", if old { " over an old one" } else { "" })
    }

    fn expected_ms(&self) -> u64 {
        EXPECTED_MS
    }

    fn prepare(&mut self, testbed: &mut Testbed) -> Result<()> {
        let setting = &testbed.setting;
        results::put_run(&setting.fixture.database, &uid(setting, 0))?;
        match self.command {
            Command::Write => {
                let made = in_case(setting, "made");
                fs::create_dir(&made)?;
                let path = made.join(NAME).display().to_string();
                good(testbed.start("made", &["bundle", "1", "-o", &path])?)?;
                self.written = Written::read(&made)?;
                fs::create_dir(place(setting))?;
                if self.has_old {
                    self.written.put_old(&place(setting))?;
                }
            }
            Command::Check => {
                let path = in_case(setting, NAME).display().to_string();
                good(testbed.start("made", &["bundle", "1", "-o", &path])?)?;
                let checked = testbed.start("checked", &["bundle", "check", &path])?;
                self.said = good(checked)?.stdout;
            }
            Command::Merge => {
                for number in 1..=OTHERS {
                    results::put_run(&in_case(setting, "others.db"), &uid(setting, number))?;
                }
            }
        }
        Ok(())
    }

    fn arguments(&self, setting: &Setting) -> Result<Vec<String>> {
        Ok(self.arguments_to(setting))
    }

    fn halves(&self, setting: &Setting) -> Result<Vec<String>> {
        self.written.halves(&place(setting))
    }

    fn standing(&self, setting: &Setting) -> Result<Vec<String>> {
        let mut found = self.written.standing(&place(setting))?;
        if self.command == Command::Merge {
            found.extend(self.taken(setting, false)?);
        }
        Ok(found)
    }

    fn demanded(&self, setting: &Setting, demand: Demand, ended: &Ended) -> Result<Vec<String>> {
        let is_good = ended.code() == Some(0);
        let mut found = Vec::new();
        if demand == Demand::AllDone && !is_good {
            found.push(format!("{}, and nothing hindered it", ended.describe()));
        }
        if is_good && self.command == Command::Write {
            found.extend(self.written.differences(&place(setting))?);
        }
        if is_good && self.command == Command::Merge {
            found.extend(self.taken(setting, true)?);
        }
        Ok(found)
    }

    fn complete(&mut self, testbed: &mut Testbed) -> Result<Vec<String>> {
        let ended = testbed.start("again", &self.arguments_to(&testbed.setting))?;
        let mut found = self.demanded(&testbed.setting, Demand::AllDone, &ended)?;
        if self.command == Command::Check && ended.stdout != self.said {
            found.push("a check says something else than undisturbed".to_owned());
        }
        found.extend(self.standing(&testbed.setting)?);
        found.extend(testbed.standing()?);
        Ok(named("again", found))
    }
}
