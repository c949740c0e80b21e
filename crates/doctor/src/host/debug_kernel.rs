//! Options of the kernel that look for its own mistakes, at the price of its speed.

use crate::check::Said;
use crate::scene::Scene;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Options that make file systems several times slower, as in `.config`. Those that only make it
/// possible to switch something on at boot are not among them.
const SLOW: [&str; 9] = [
    "CONFIG_DEBUG_KMEMLEAK",
    "CONFIG_DEBUG_OBJECTS",
    "CONFIG_DEBUG_PAGEALLOC_ENABLE_DEFAULT",
    "CONFIG_KASAN",
    "CONFIG_KCSAN",
    "CONFIG_KMSAN",
    "CONFIG_LOCKDEP",
    "CONFIG_PROVE_LOCKING",
    "CONFIG_SLUB_DEBUG_ON",
];
/// Options that are needed for one of the above to be in force.
const UNLESS: [(&str, &str); 1] =
    [("CONFIG_DEBUG_KMEMLEAK", "CONFIG_DEBUG_KMEMLEAK_DEFAULT_OFF=y")];
/// A `.config` is far smaller, bytes.
const CONFIG_MAX_BYTES: u64 = 4 << 20;

pub(crate) fn look(scene: &Scene) -> Option<Said> {
    let proc = &scene.roots.proc;
    if proc.join("lockdep").exists() {
        return Some(slow("LOCKDEP"));
    }
    let path = proc.join("config.gz");
    let config = match config(&path) {
        Ok(config) => config,
        Err(error) => {
            let reason = format!(
                "how this kernel was built is not told ({}: {error}); lock debugging is off",
                path.display()
            );
            return Some(Said::unknown(reason));
        }
    };
    let has = |line: &str| config.lines().any(|known| known == line);
    let excused = |name: &str| UNLESS.iter().any(|(known, line)| *known == name && has(line));
    let in_force = SLOW.iter().filter(|name| has(&format!("{name}=y")) && !excused(name));
    let names: Vec<&str> = in_force.filter_map(|name| name.strip_prefix("CONFIG_")).collect();
    Some(match names.is_empty() {
        true => Said::fine("the kernel is built without costly debugging"),
        false => slow(&names.join(", ")),
    })
}

fn slow(names: &str) -> Said {
    Said::bad(
        format!("the kernel debugs itself: {names}"),
        "file systems are several times slower so, and not all by the same factor",
    )
    .remedy("boot a kernel without these options")
}

fn config(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let gzip = flate2::read::GzDecoder::new(File::open(path)?);
    gzip.take(CONFIG_MAX_BYTES).read_to_string(&mut text)?;
    if text.lines().any(|line| line.starts_with("CONFIG_")) {
        Ok(text)
    } else {
        Err(io::Error::other("names no option"))
    }
}

#[cfg(test)]
mod tests {
    use crate::check::HOST;
    use crate::stage::{host, said, scene, tree};
    use std::io::Write as _;

    fn built_with(config: &str) -> (String, String) {
        let gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let mut gzip = gzip;
        gzip.write_all(config.as_bytes()).unwrap();
        let tree = tree(&[]);
        tree.put("proc/config.gz", gzip.finish().unwrap());
        crate::stage::words(said(&scene(&tree, &[]), "debug-kernel", HOST).unwrap())
    }

    #[test]
    fn options() {
        assert_eq!(built_with("CONFIG_SLUB_DEBUG=y\n# CONFIG_KASAN is not set\n").0, "fine");
        let slow = built_with("CONFIG_KASAN=y\nCONFIG_LOCKDEP=y\nCONFIG_HAVE_ARCH_KASAN=y\n");
        assert_eq!(slow, ("bad".to_owned(), "the kernel debugs itself: KASAN, LOCKDEP".to_owned()));
        let asleep = "CONFIG_DEBUG_KMEMLEAK=y\nCONFIG_DEBUG_KMEMLEAK_DEFAULT_OFF=y\n";
        assert_eq!(built_with(asleep).0, "fine");
        assert_eq!(built_with("").0, "unknown", "an empty file is no answer");
    }

    #[test]
    fn what_is_not_told() {
        assert_eq!(host("debug-kernel", &[("proc/lockdep", "")]).0, "bad");
        assert_eq!(host("debug-kernel", &[("proc/config.gz", "no gzip")]).0, "unknown");
        assert_eq!(host("debug-kernel", &[]).0, "unknown");
    }
}
