//! `full`: the file system with the database, the journals, the images, temporary files or what is
//! asked for has no space any more, for the rest of the start.

use crate::chaos::draw::Draw;
use crate::chaos::kind::{Act, Disturbance, Here, Kind, Setting};
use crate::chaos::live::{Live, Start};
use crate::chaos::moment::Moment;
use crate::chaos::shape::{Shape, Stored};
use crate::chaos::small::SmallFileSystem;
use anyhow::Result;
use fsarena_testkit::ballast::fill;
use std::fs;

/// Room for an image of the largest size with the margin that the program wants, for a database,
/// and for the copies of the program in two guests.
const SIZE_MIB: u64 = 512;
const MAX_LEFT_KIB: u64 = 256;

pub(super) const KIND: Kind = Kind {
    name: "full",
    help: "no space for the database, the journals, the images, temporary files or the output",
    weight: 2,
    unfit: |_| None,
    draw,
};

struct DiskFull {
    stored: Stored,
    moment: Moment,
    left_bytes: u64,
    small: Option<SmallFileSystem>,
}

fn draw(draw: &Draw, shape: &Shape) -> Box<dyn Disturbance> {
    // Where nothing at all is left, and where something is: both happen.
    let left_kib = if draw.once_in("nothing left", 2) { 0 } else { MAX_LEFT_KIB };
    Box::new(DiskFull {
        stored: draw.one_of("stored", shape.nature.stored),
        moment: Moment::draw(draw, shape),
        left_bytes: draw.between("left", 0, left_kib) << 10,
        small: None,
    })
}

impl Disturbance for DiskFull {
    fn victim(&self) -> String {
        match self.stored {
            Stored::Database => "database",
            Stored::Journals => "journals",
            Stored::Images => "images",
            Stored::Temporary => "temporary files",
            Stored::Output => "output",
        }
        .to_owned()
    }

    fn fault(&self) -> String {
        "disk full".to_owned()
    }

    fn describe(&self) -> String {
        let (victim, left) = (self.victim(), self.left_bytes >> 10);
        format!("the disk of the {victim} is full but for {left} KiB {}", self.moment)
    }

    fn why_not(&self, here: &Here) -> Option<String> {
        let needed = "needs mounts of its own, as root";
        (!here.has_private_mounts).then(|| needed.to_owned())
    }

    fn prepare(&mut self, setting: &mut Setting, start: &mut Start) -> Result<()> {
        let small = SmallFileSystem::mount(&setting.beside("full"), SIZE_MIB)?;
        let dir = |name: &str| small.path().join(name);
        let fixture = &mut setting.fixture;
        match self.stored {
            Stored::Database => fixture.database = dir("results.db"),
            Stored::Journals => fixture.state = dir("state"),
            Stored::Images => fixture.images = dir("images"),
            Stored::Temporary => setting.temporary = dir("tmp"),
            Stored::Output => setting.output = dir("output"),
        }
        for dir in [&setting.fixture.images, &setting.temporary, &setting.output] {
            fs::create_dir_all(dir)?;
        }
        self.small = Some(small);
        start.variables.extend(self.moment.variable(&setting.fixture));
        Ok(())
    }

    fn act(&mut self, live: &mut Live) -> Result<Act> {
        let met = self.moment.wait(live)?;
        if let Some(small) = &self.small
            && met
        {
            fill(small.path(), self.left_bytes)?;
        }
        self.moment.release(&live.fixture)?;
        Ok(if met { Act::Done } else { Act::Missed })
    }

    fn after_end(&mut self, _setting: &Setting) -> Result<()> {
        let Some(small) = &self.small else { return Ok(()) };
        match fs::remove_file(small.path().join("ballast")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    fn may_keep_records(&self) -> bool {
        matches!(self.stored, Stored::Database | Stored::Journals)
    }

    fn save(&mut self, setting: &Setting) -> Result<()> {
        match &self.small {
            Some(small) => small.copy_files(&setting.fixture.dir),
            None => Ok(()),
        }
    }
}
