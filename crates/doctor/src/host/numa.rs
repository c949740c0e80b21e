//! Memory in several nodes (`node/online`).

use crate::check::Said;
use crate::read;
use crate::scene::Scene;

pub(crate) fn look(scene: &Scene) -> Option<Said> {
    let file = scene.roots.sys.join("devices/system/node/online");
    let nodes = match read::text(&file) {
        Ok(nodes) => nodes,
        Err(reason) => return Some(Said::unknown(reason)),
    };
    let is_list = nodes.bytes().all(|b| b.is_ascii_digit() || b == b'-' || b == b',');
    Some(if nodes.is_empty() || !is_list {
        Said::unknown(format!("{}: found {nodes:?}, expected a list of nodes", file.display()))
    } else if nodes.contains(['-', ',']) {
        Said::note(
            format!("memory lies in the NUMA nodes {nodes}"),
            "a run whose pages are on the node of the worker and of the disk is faster than one \
             where they are not, and chance decides",
        )
        .remedy("keep the work to the processors of one node with --cpus")
        .command("lscpu --extended=CPU,NODE")
    } else {
        Said::fine("memory lies in one NUMA node")
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::host;

    #[test]
    fn nodes() {
        let weight = |list: &str| host("numa", &[("sys/devices/system/node/online", list)]).0;
        assert_eq!(weight("0\n"), "fine");
        assert_eq!(weight("0-1\n"), "note");
        assert_eq!(weight("0,8\n"), "note");
        assert_eq!(weight("many\n"), "unknown");
        assert_eq!(weight("\n"), "unknown");
        assert_eq!(host("numa", &[]).0, "unknown");
    }
}
