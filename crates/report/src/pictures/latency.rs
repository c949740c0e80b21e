//! Latency distributions of a phase.

use super::{ends, key};
use crate::context::SectionContext;
use crate::format::{grouped, ns};
use fsarena_chart::{Curve, Curves, Head};
use fsarena_model::record::CacheState;
use fsarena_study::{LatencyCurve, PhaseCurves, PhaseTable};

/// The curves of a phase; `views` are those of all phases. Reads and writes that are mixed have
/// two.
pub(crate) fn latency(
    context: &SectionContext<'_>,
    table: &PhaseTable,
    views: &[PhaseCurves],
) -> Vec<Curves> {
    let own = views.iter().filter(|v| v.workload == table.workload && v.phase == table.phase);
    own.filter(|view| !view.curves.is_empty()).map(|view| chart(context, table, view)).collect()
}

fn chart(context: &SectionContext<'_>, table: &PhaseTable, view: &PhaseCurves) -> Curves {
    let cold = view.curves.iter().filter(|curve| curve.cache == CacheState::Cold).count();
    let mixed = cold > 0 && cold < view.curves.len();
    let curves: Vec<Curve> = view.curves.iter().map(|own| curve(own, mixed)).collect();
    let (kind, what) = match view.writes_alone {
        true => ("write-latency", "latency of the writes"),
        false => ("latency", "latency of single ops"),
    };
    let longest = view.curves.iter().map(|own| {
        (own.label.as_str(), own.max_ns as f64, format!("{} at the longest", ns(Some(own.max_ns))))
    });
    let description = format!(
        "Latency that a share of the ops did not exceed, {} / {}; {}.",
        view.workload,
        view.phase,
        ends(longest)
    );
    Curves {
        head: Head {
            id: super::phase_id(context, table, kind),
            title: format!("{} / {}: {what}", view.workload, view.phase),
            description,
        },
        title: what.to_owned(),
        curves,
    }
}

fn curve(own: &LatencyCurve, mixed: bool) -> Curve {
    let warm = if mixed && own.cache != CacheState::Cold { " (warm)" } else { "" };
    let label = format!("{}{warm}", own.label);
    let share = |share: f64, name: &str| {
        let (_, latency_ns) = own.points.iter().find(|(upto, _)| *upto >= share)?;
        Some(format!("{name} {}, ", ns(Some(*latency_ns))))
    };
    let shares = [share(0.5, "half"), share(0.99, "99 %")];
    let tip = format!(
        "{label}: {}longest {}, {} ops",
        shares.into_iter().flatten().collect::<String>(),
        ns(Some(own.max_ns)),
        grouped(own.ops)
    );
    let points = own.points.iter().map(|&(share, latency_ns)| (share, latency_ns as f64)).collect();
    Curve { key: key(own.contender, label), points, tip }
}
