//! The order of phases: each must find what it needs, and the dataset is made once.

use crate::error::PlanError;
use crate::tree::Node;
use fsarena_model::op::BlockSize;
use fsarena_model::phase::Phase;
use fsarena_model::state::{DatasetState, Effect};

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
    let info = phase.op.info();
    let found = before.iter().fold(DatasetState::default(), |state, phase| phase.leaves(state));
    if let Some((finds, remedy)) = (info.refuses)(&found) {
        return Err(node.error(format!("phase {name:?} {finds}"), remedy));
    }
    let is_value = info.bs.0 == BlockSize::Value && !phase.op.changes();
    if is_value && found.attribute_bytes.is_some_and(|bytes| bytes != phase.bs_bytes) {
        let what = format!("phase {name:?} would read values of another size than was set");
        return Err(node.error(what, "say the same `bs` in both"));
    }
    let Some(last) = before.last() else { return Ok(()) };
    let removes_dirs = info.effect == Effect::RemoveDirs;
    match state(before, has_files) {
        Files::Removed => {
            let what =
                format!("phase {name:?} comes after {:?}, which ends the dataset", last.name);
            return Err(node.error(what, "put it last"));
        }
        Files::There if removes_dirs => {
            let what = format!("phase {name:?} would find files in the directories");
            return Err(node.error(what, "put a deletion before it"));
        }
        Files::Deleted if !removes_dirs => {
            let what =
                format!("phase {name:?} comes after {:?}, which deletes the files", last.name);
            return Err(node.error(what, "put the deletion last"));
        }
        _ if phase.op.changes_dirs() && !removes_dirs => {
            let what = format!("phase {name:?} would make directories that are there already");
            return Err(node.error(what, "begin with it, or leave it out"));
        }
        Files::There if info.creates => {
            let what = format!("phase {name:?} would create files that are there already");
            let remedy =
                "begin with it, or leave it out: files that a first phase needs are made for it";
            return Err(node.error(what, remedy));
        }
        Files::NotYet if info.needs_files && !phase.op.is_about_dirs() => {
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
        state = match phase.op.info().effect {
            Effect::Delete => Files::Deleted,
            Effect::RemoveDirs => Files::Removed,
            _ if phase.op.changes_dirs() => state,
            // As a first phase it gets its files like any other.
            _ if phase.op.is_about_dirs() && (number > 0 || !has_files) => state,
            _ => Files::There,
        };
    }
    state
}
