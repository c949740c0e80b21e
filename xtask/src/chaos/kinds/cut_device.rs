//! `cut`: the device loses its end, or all of it, in the middle of the work: EIO.

use crate::chaos::draw::Draw;
use crate::chaos::kind::{Act, Disturbance, Here, Kind, Setting};
use crate::chaos::live::{Live, Start};
use crate::chaos::moment::Moment;
use crate::chaos::shape::Shape;
use anyhow::{Context as _, Result};
use fsarena_process::cmd::{find, run, why_missing};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(2);
/// losetup asks the kernel, which answers at once.
const LOSETUP_LIMIT: Duration = Duration::from_secs(10);
/// Every second case leaves something: file systems have their most important blocks at the
/// beginning.
const MAX_LEFT_MIB: u64 = 64;

pub(super) const KIND: Kind = Kind {
    name: "cut",
    help: "the device loses its end, or all of it",
    weight: 1,
    unfit: |nature| (!nature.has_images).then_some("it has no loop device over an image"),
    draw,
};

struct CutDevice {
    moment: Moment,
    left_mib: u64,
}

fn draw(draw: &Draw, shape: &Shape) -> Box<dyn Disturbance> {
    let left_mib = if draw.once_in("nothing left", 2) { 0 } else { MAX_LEFT_MIB };
    Box::new(CutDevice {
        moment: Moment::draw(draw, shape),
        left_mib: draw.between("left", 0, left_mib),
    })
}

/// An image that is there, with the loop device over it.
fn image_and_device(live: &Live) -> Option<(PathBuf, PathBuf)> {
    let images = fs::read_dir(&live.fixture.images).into_iter().flatten().flatten();
    let images: Vec<PathBuf> = images.map(|image| image.path()).collect();
    let mut blocks = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    blocks.find_map(|block| {
        let backing = fs::read_to_string(block.path().join("loop/backing_file")).ok()?;
        let image = images.iter().find(|image| *image == Path::new(backing.trim_end()))?;
        Some((image.clone(), Path::new("/dev").join(block.file_name())))
    })
}

impl Disturbance for CutDevice {
    fn victim(&self) -> String {
        "device".to_owned()
    }

    fn fault(&self) -> String {
        if self.left_mib == 0 { "vanishes" } else { "cut short" }.to_owned()
    }

    fn describe(&self) -> String {
        format!("the device is cut to {} MiB {}", self.left_mib, self.moment)
    }

    fn why_not(&self, _here: &Here) -> Option<String> {
        find("losetup").is_none().then(|| why_missing("losetup"))
    }

    fn prepare(&mut self, setting: &mut Setting, start: &mut Start) -> Result<()> {
        start.variables.extend(self.moment.variable(&setting.fixture));
        Ok(())
    }

    fn act(&mut self, live: &mut Live) -> Result<Act> {
        let met = self.moment.wait(live)?;
        let found = if met { live.poll(PATIENCE, image_and_device)? } else { None };
        if let Some((image, device)) = &found {
            let losetup = find("losetup").context("losetup was there")?;
            // It may have ended in between: then there is nothing to cut.
            if let Ok(image) = File::options().write(true).open(image) {
                image.set_len(self.left_mib << 20)?;
                let args = [OsStr::new("-c"), device.as_os_str()];
                let _ = run(&losetup, &args, LOSETUP_LIMIT);
            }
        }
        self.moment.release(&live.fixture)?;
        Ok(if found.is_some() { Act::Done } else { Act::Missed })
    }
}
