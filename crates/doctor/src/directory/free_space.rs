//! Room on the file system of the directory.

use crate::check::Said;
use crate::read::percent;
use crate::scene::{Directory, Scene};
use fsarena_model::units::Bytes;
use fsarena_targets::cmd;

/// Share of free blocks below which allocation is slow on most file systems.
const SHARE_WARNING: f64 = 0.10;
/// Below which it is a matter of single holes.
const SHARE_BAD: f64 = 0.03;
/// What `quick` needs, bytes: an image of 2 GiB.
const LEAST_BYTES: u64 = 2 << 30;

pub(crate) fn look(_: &Scene, dir: &Directory) -> Option<Said> {
    let room = match &dir.room {
        Ok(room) if room.all_bytes > 0 => *room,
        Ok(_) => return Some(Said::unknown("the file system does not tell its size")),
        Err(reason) => return Some(Said::unknown(reason.clone())),
    };
    let share = room.free_bytes as f64 / room.all_bytes as f64;
    let (free, all) = (Bytes(room.free_bytes), Bytes(room.all_bytes));
    let mut reading = format!("{free} of {all} free ({})", percent(share));
    let inodes = (room.all_inodes > 0).then(|| room.free_inodes as f64 / room.all_inodes as f64);
    if let Some(inodes) = inodes {
        reading.push_str(&format!(", {} of the inodes", percent(inodes)));
    }
    let why = "a full file system searches for holes and tears files apart; it is slower than an \
               empty one, and the more so the fuller it gets";
    let said = match share.min(inodes.unwrap_or(1.0)) {
        least if least < SHARE_BAD => Said::bad(reading, why),
        least if least < SHARE_WARNING => Said::warning(reading, why),
        _ if room.free_bytes < LEAST_BYTES => {
            Said::note(reading, "images of the built-in experiments do not fit")
        }
        _ => return Some(Said::fine(reading)),
    };
    let point = cmd::quoted(&dir.mount.mount_point.to_string_lossy());
    Some(said.remedy("make room, or name another directory").command(format!("df -h {point}")))
}

#[cfg(test)]
mod tests {
    use super::look;
    use crate::scene::Room;
    use crate::stage::{disk, scene, words};
    use crate::subject::Subject;

    fn said(room: Result<Room, String>) -> (String, String) {
        let mut scene = scene(&disk(), &[Subject::Directory("/data".into())]);
        scene.directories[0].room = room;
        words(look(&scene, &scene.directories[0]).unwrap())
    }

    fn of_100_gib(free_gib: u64, free_inodes: u64) -> (String, String) {
        let (all_bytes, free_bytes) = (100 << 30, free_gib << 30);
        said(Ok(Room { all_bytes, free_bytes, all_inodes: 100, free_inodes }))
    }

    #[test]
    fn room() {
        let half = of_100_gib(50, 90);
        let reading = "50 GiB of 100 GiB free (50 %), 90 % of the inodes";
        assert_eq!(half, ("fine".to_owned(), reading.to_owned()));
        assert_eq!(of_100_gib(9, 90).0, "warning");
        assert_eq!(of_100_gib(2, 90).0, "bad");
        assert_eq!(of_100_gib(50, 1).0, "bad", "files need inodes");
        let small = Room { all_bytes: 2 << 30, free_bytes: 1 << 30, all_inodes: 0, free_inodes: 0 };
        assert_eq!(said(Ok(small)), ("note".to_owned(), "1 GiB of 2 GiB free (50 %)".to_owned()));
    }

    #[test]
    fn what_is_not_told() {
        let none = Room { all_bytes: 0, free_bytes: 0, all_inodes: 0, free_inodes: 0 };
        assert_eq!(said(Ok(none)).0, "unknown");
        assert_eq!(said(Err("no".to_owned())), ("unknown".to_owned(), "no".to_owned()));
    }
}
