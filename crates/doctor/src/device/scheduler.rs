//! The I/O scheduler (Documentation/block/switching-sched.rst).

use crate::check::Said;
use crate::layers::Layer;
use crate::read;
use crate::scene::Scene;

pub(crate) fn look(_: &Scene, layer: &Layer) -> Option<Said> {
    if !layer.is_whole() || layer.is_memory() {
        return None;
    }
    let file = layer.queue.join("scheduler");
    if !file.exists() && layer.is_virtual_layer() {
        return None; // Device mapper and md pass on what comes, in its order.
    }
    let text = match read::text(&file) {
        Ok(text) => text,
        Err(reason) => return Some(Said::unknown(reason)),
    };
    let inside = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    let chosen = match (inside, text.as_str()) {
        (Some((chosen, _)), _) => chosen,
        (None, "none") => "none",
        _ => {
            let place = file.display();
            return Some(Said::unknown(format!("{place}: found {text:?}, none of it in brackets")));
        }
    };
    let reading = format!("the scheduler is {chosen}");
    let to = |name: &str| read::echo(name, &file);
    let offers = |name: &str| text.split([' ', '[', ']']).any(|word| word == name);
    Some(match (layer.device.rotational, chosen) {
        (Some(true), "none") if offers("mq-deadline") => Said::note(
            reading,
            "a disk that turns is served in the order of requests, so that several writers make it \
             seek",
        )
        .remedy("use mq-deadline, unless the disk is virtual and its host sorts the requests")
        .command(to("mq-deadline")),
        (Some(false), "bfq") => Said::note(
            reading,
            "bfq shares the disk out between programs, which costs a fast disk operations, and \
             lets a worker wait idly",
        )
        .remedy("use none or mq-deadline")
        .command(to("none")),
        _ => Said::fine(reading),
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::{block, device, disk};

    #[test]
    fn schedulers() {
        let said = |rotational: &str, text: &str| {
            let tree = disk()
                .with("sys/block/sda/queue/rotational", rotational)
                .with("sys/block/sda/queue/scheduler", text);
            device("scheduler", &tree, "sda").unwrap().0
        };
        assert_eq!(said("0\n", "[none] mq-deadline bfq\n"), "fine");
        assert_eq!(said("0\n", "none mq-deadline [bfq]\n"), "note");
        assert_eq!(said("1\n", "none mq-deadline [bfq]\n"), "fine");
        assert_eq!(said("1\n", "[none] mq-deadline\n"), "note");
        assert_eq!(said("1\n", "none\n"), "fine", "there is no other");
        assert_eq!(said("1\n", "some thing\n"), "unknown");
        let tree = disk().without("sys/block/sda/queue/scheduler");
        assert_eq!(device("scheduler", &tree, "sda").unwrap().0, "unknown");
    }

    #[test]
    fn layers_without_a_scheduler_say_nothing() {
        let tree = disk();
        block(&tree, "sys/block/dm-0", "253:0", 2048);
        assert_eq!(device("scheduler", &tree, "dm-0"), None);
    }
}
