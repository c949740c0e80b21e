//! Several devices, for a file system that takes more than one: each is claimed as if it were
//! alone, and all are let go together.

use super::facts;
use super::kind::{Claimed, Held, Hooks, Made, Order, wrong_level};
use crate::TargetError;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::record::Notice;
use fsarena_model::spec::TargetSpec;
use std::ops::ControlFlow;

/// What claims one device.
type ClaimOne = fn(&DeviceLevel, &mut Order<'_>) -> Result<Claimed, TargetError>;

/// Claims each of the devices by `claim_one`; where one cannot be had, none is held.
pub(super) fn claim_each(
    members: &[DeviceLevel],
    order: &mut Order<'_>,
    claim_one: ClaimOne,
) -> Result<Claimed, TargetError> {
    let mut claims: Vec<Claimed> = Vec::new();
    let mut before_bytes = 0;
    for (number, member) in members.iter().enumerate() {
        if !member.can_be_member() {
            return Err(wrong_level(member));
        }
        let name = format!("{}-d{}", order.name, number + 1);
        let mut hooks = MemberHooks { all: order.hooks, before_bytes };
        let mut own = Order { name: &name, hooks: &mut hooks, ..*order };
        claims.push(claim_one(member, &mut own)?);
        before_bytes += member.size_bytes().unwrap_or(0);
    }
    joined(claims).ok_or_else(|| {
        TargetError::state(std::path::Path::new(order.name), "no device is named", "")
    })
}

/// What the claim of one device tells of what all of them make.
struct MemberHooks<'a> {
    all: &'a mut dyn Hooks,
    /// Sizes of the devices before it.
    before_bytes: u64,
}

impl Hooks for MemberHooks<'_> {
    fn will_make(&mut self, what: &Made) -> Result<(), String> {
        self.all.will_make(what)
    }

    fn written(&mut self, bytes: u64) -> ControlFlow<()> {
        self.all.written(self.before_bytes.saturating_add(bytes))
    }
}

/// One claim of all; nothing where there is none.
fn joined(claims: Vec<Claimed>) -> Option<Claimed> {
    let mut targets = claims.iter().map(Claimed::target);
    let mut target = targets.next()?;
    if let TargetSpec::Block { members, .. } = &mut target {
        members.extend(targets);
    }
    let facts = facts::of_all(claims.iter().map(|claim| claim.facts.clone()).collect());
    let mut notices: Vec<Notice> = Vec::new();
    for notice in claims.iter().flat_map(Claimed::notices) {
        if !notices.contains(&notice) {
            notices.push(notice);
        }
    }
    Some(Claimed { held: Box::new(HeldDevices(claims)), target, facts, notices })
}

/// The claim of each device.
#[derive(Debug)]
struct HeldDevices(Vec<Claimed>);

impl Held for HeldDevices {
    fn keep(&mut self) {
        self.0.iter_mut().for_each(Claimed::keep);
    }

    fn release(&mut self) -> Vec<TargetError> {
        let released = self.0.drain(..).map(Claimed::release);
        released.filter_map(Result::err).flatten().collect()
    }
}
