//! The order of phases: each must find what it needs, and the dataset is made once.

use crate::error::PlanError;
use crate::tree::Node;
use fsarena_model::op::Op;
use fsarena_model::phase::Phase;

/// What there is at some point of a workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Files {
    /// They can still be made.
    NotYet,
    There,
    Deleted,
    /// The directories are gone as well.
    Removed,
}

/// Refuses a phase that cannot follow those before it. Files that a first phase needs are made
/// for it, and so are the directories unless it makes them.
pub(super) fn follows(
    before: &[Phase],
    phase: &Phase,
    has_files: bool,
    node: &Node<'_>,
) -> Result<(), PlanError> {
    let name = &phase.name;
    let Some(last) = before.last() else { return Ok(()) };
    match (phase.op, state(before, has_files)) {
        (_, Files::Removed) => {
            let what =
                format!("phase {name:?} comes after {:?}, which ends the dataset", last.name);
            return Err(node.error(what, "put it last"));
        }
        (Op::Rmdir, Files::There) => {
            let what = format!("phase {name:?} would find files in the directories");
            return Err(node.error(what, "put a deletion before it"));
        }
        (op, Files::Deleted) if op != Op::Rmdir => {
            let what =
                format!("phase {name:?} comes after {:?}, which deletes the files", last.name);
            return Err(node.error(what, "put the deletion last"));
        }
        (Op::Mkdir, _) => {
            let what = format!("phase {name:?} would make directories that are there already");
            return Err(node.error(what, "begin with it, or leave it out"));
        }
        (op, Files::There) if op.creates() => {
            let what = format!("phase {name:?} would create files that are there already");
            let remedy =
                "begin with it, or leave it out: files that a first phase needs are made for it";
            return Err(node.error(what, remedy));
        }
        (op, Files::NotYet) if op.needs_files() && op != Op::List => {
            let what = format!("phase {name:?} needs files, and {:?} makes none", last.name);
            return Err(node.error(what, "put `create` before it"));
        }
        _ => {}
    }
    if before.iter().any(|earlier| earlier.name == *name) {
        let what = format!("two phases are named {name:?}");
        let remedy = format!("name one: {{ name = \"{name}-2\", op = \"{}\" }}", phase.op.name());
        return Err(node.error(what, remedy));
    }
    Ok(())
}

fn state(before: &[Phase], has_files: bool) -> Files {
    let mut state = Files::NotYet;
    for (number, phase) in before.iter().enumerate() {
        state = match phase.op {
            Op::Delete => Files::Deleted,
            Op::Rmdir => Files::Removed,
            Op::Mkdir => state,
            // As a first phase it gets its files like any other.
            Op::List if number > 0 || !has_files => state,
            _ => Files::There,
        };
    }
    state
}
