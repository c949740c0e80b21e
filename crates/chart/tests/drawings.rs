//! Every drawing is well-formed whatever goes in, and has the marks that it says it has.

use fsarena_chart::{
    Axis, Bar, Bars, Cell, Column, Columns, ColumnsOf, Curve, Curves, Group, Groups, Head, Heat,
    Key, Level, LevelCurve, LevelCurves, LevelPoint, Levels, Panel, PaperWidth, Part, Plot,
    PlotLine, Plots, Proof, Ratio, Ratios, Scatter, ScatterPoint, Segment, Span, Spot, Stack,
    Stacks, Standing, Svg, Trace, Traces,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use roxmltree::{Document, Node};

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 1e-3..1e3,
        2 => any::<f64>(),
        1 => -5.0..5.0,
        1 => proptest::sample::select(vec![
            0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX,
            f64::MIN_POSITIVE, 1e29,
        ]),
    ]
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-z0-9 ,=-]{0,30}",
        1 => any::<String>(),
        1 => Just("</title><script>alert(1)</script>\"' onload=\"x\"]]>\0\u{1b}\u{ffff}".into()),
        1 => Just("W".repeat(200)),
    ]
}

prop_compose! {
    fn head()(
        id in "[a-z]{0,3}[<\" ]?", name in vec(words(), 0..3), title in words(),
        description in words(),
    ) -> Head {
        Head { id, name, title, description }
    }
}

prop_compose! {
    fn axis()(title in words(), log in any::<bool>(), unit in words()) -> Axis {
        Axis { title, log, unit }
    }
}

prop_compose! {
    fn key()(label in words(), hue in 0_usize..60) -> Key { Key { label, hue } }
}

prop_compose! {
    fn spot()(value in number(), tip in words()) -> Spot { Spot { value, tip } }
}

prop_compose! {
    fn bar()(
        key in key(), value in option::of(spot()), interval in option::of((number(), number())),
        points in vec(spot(), 0..6), note in words(),
    ) -> Bar {
        Bar { key, value, interval, points, note }
    }
}

prop_compose! {
    fn ratio()(
        key in key(), ratio in option::of(spot()), interval in option::of((number(), number())),
        word in words(),
    ) -> Ratio {
        Ratio { key, ratio, interval, word }
    }
}

prop_compose! {
    fn segment()(name in 0_usize..6, from in number(), to in number(), tip in words()) -> Segment {
        Segment { name, from, to, tip }
    }
}

prop_compose! {
    fn stack()(
        key in key(), segments in vec(segment(), 0..4), held_against in option::of(spot()),
        note in words(),
    ) -> Stack {
        Stack { key, segments, held_against, note }
    }
}

prop_compose! {
    fn level()(
        at in number(), label in words(), value in option::of(spot()),
        interval in option::of((number(), number())),
        standing in proptest::sample::select(vec![Standing::Best, Standing::Same, Standing::Other]),
    ) -> Level {
        Level { at, label, value, interval, standing }
    }
}

prop_compose! {
    fn level_curve()(
        key in key(),
        points in vec((option::of(spot()), option::of((number(), number()))), 0..7),
    ) -> LevelCurve {
        let point = |(value, interval)| LevelPoint { value, interval };
        LevelCurve { key, points: points.into_iter().map(point).collect() }
    }
}

prop_compose! {
    fn column()(
        label in words(), value in option::of(spot()), range in option::of((number(), number())),
        pale in any::<bool>(),
    ) -> Column {
        Column { label, value, range, pale }
    }
}

prop_compose! {
    fn part()(key in key(), hatched in any::<bool>(), value in option::of(spot())) -> Part {
        Part { key, hatched, value }
    }
}

prop_compose! {
    fn cell()(
        ratio in option::of(spot()), reference in any::<bool>(),
        proof in proptest::sample::select(vec![Proof::None, Proof::Same, Proof::Differs]),
    ) -> Cell {
        Cell { ratio, proof, reference }
    }
}

prop_compose! {
    fn point()(
        key in key(), along in number(), upright in number(), tip in words(),
        along_interval in option::of((number(), number())),
        upright_interval in option::of((number(), number())),
    ) -> ScatterPoint {
        ScatterPoint { key, along, upright, along_interval, upright_interval, tip }
    }
}

prop_compose! {
    fn trace()(
        label in words(), hue in 0_usize..60,
        points in vec((number(), option::of(number())), 0..20),
    ) -> Trace {
        Trace { label, hue, points }
    }
}

prop_compose! {
    fn panel()(title in words(), traces in vec(trace(), 0..3)) -> Panel { Panel { title, traces } }
}

prop_compose! {
    fn plot()(
        title in words(), along in axis(), upright in axis(),
        ticks in vec((number(), words()), 0..4),
        lines in vec((key(), vec((number(), number()), 0..30), words()), 0..4),
    ) -> Plot {
        let lines = lines.into_iter().map(|(key, points, tip)| PlotLine { key, points, tip });
        Plot { title, along, ticks, upright, lines: lines.collect() }
    }
}

prop_compose! {
    fn span()(label in words(), from_s in number(), to_s in number()) -> Span {
        Span { label, from_s, to_s }
    }
}

fn shown(value: f64) -> bool {
    value.is_finite() && value.abs() < 1e30
}

fn spots<'a>(spots: impl Iterator<Item = &'a Option<Spot>>, fits: impl Fn(f64) -> bool) -> usize {
    spots.flatten().filter(|spot| shown(spot.value) && fits(spot.value)).count()
}

fn class(node: Node<'_, '_>, class: &str) -> bool {
    node.attribute("class").is_some_and(|all| all.split(' ').any(|one| one == class))
}

/// Well-formed, nothing in it but shapes and text, the marks it says, and every place on the paper.
fn check(svg: &Svg, marks: usize) {
    assert_eq!(svg.marks, marks, "{}", svg.inline);
    let document = parsed(&svg.inline);
    let root = document.root_element();
    assert_eq!(root.attribute("data-marks"), Some(marks.to_string().as_str()));
    let found: Vec<_> = root.descendants().filter(|node| class(*node, "mark")).collect();
    assert_eq!(found.len(), marks);
    for mark in found {
        let title = mark.children().find(|child| child.has_tag_name("title"));
        assert_eq!(
            title.and_then(|title| title.text()).unwrap_or_default(),
            mark.attribute("data-tip").expect("every mark has words")
        );
    }
    check_frame(svg, root);
    for node in root.descendants().filter(Node::is_element) {
        shape(node, f64::from(svg.height));
    }
    let file = svg.file(PaperWidth::default());
    check_frame(svg, parsed(&file).root_element());
    assert!(!file.contains("var(") && !file.contains("<style"), "{file}");
}

fn parsed(text: &str) -> Document<'_> {
    Document::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn check_frame(svg: &Svg, root: Node<'_, '_>) {
    assert!(root.has_tag_name("svg") && root.attribute("role") == Some("img"));
    let ids: Vec<_> = root.descendants().filter_map(|node| node.attribute("id")).collect();
    let names: Vec<_> = ["t", "d"].map(|end| format!("{}-{end}", svg.id)).to_vec();
    assert_eq!(root.attribute("aria-labelledby"), Some(names.join(" ").as_str()));
    assert_eq!(ids[..2], names);
}

fn shape(node: Node<'_, '_>, height: f64) {
    const KNOWN: [&str; 12] = [
        "svg", "title", "desc", "defs", "pattern", "path", "g", "rect", "circle", "text",
        "polyline", "polygon",
    ];
    let name = node.tag_name().name();
    assert!(KNOWN.contains(&name), "{name}");
    if node.ancestors().any(|above| above.has_tag_name("pattern")) {
        return;
    }
    let within = |text: &str, most: f64| {
        let value: f64 = text.parse().unwrap_or_else(|_| panic!("{text} of {name}"));
        assert!((-16.0..=most + 16.0).contains(&value), "{name} lies at {value} of {most}");
    };
    for (attribute, most) in [("x", 440.0), ("cx", 440.0), ("y", height), ("cy", height)] {
        if let Some(text) = node.attribute(attribute) {
            within(text, most);
        }
    }
    for (attribute, most) in [("width", 440.0), ("height", height)] {
        if name == "rect" {
            let value: f64 = node.attribute(attribute).expect("a size").parse().expect("a number");
            assert!((0.0..=most).contains(&value), "{attribute} {value}");
        }
    }
    for point in node.attribute("points").unwrap_or_default().split_whitespace() {
        let (x, y) = point.split_once(',').expect("two coordinates");
        within(x, 440.0);
        within(y, height);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn bars(head in head(), axis in axis(), bars in vec(bar(), 0..8)) {
        let marks = spots(bars.iter().map(|bar| &bar.value), |_| true);
        check(&Bars { head, axis, bars }.draw(), marks);
    }

    #[test]
    fn groups(head in head(), axis in axis(), groups in vec((words(), vec(part(), 0..4)), 0..4)) {
        let groups = groups.into_iter().map(|(label, parts)| Group { label, parts });
        let groups: Vec<_> = groups.collect();
        let parts = groups.iter().flat_map(|group| &group.parts);
        let marks = spots(parts.map(|part| &part.value), |_| true);
        check(&Groups { head, axis, groups }.draw(), marks);
    }

    #[test]
    fn ratios(head in head(), title in words(), margin in number(), rows in vec(ratio(), 0..8)) {
        let marks = spots(rows.iter().map(|row| &row.ratio), |ratio| ratio > 1e-9);
        check(&Ratios { head, title, margin, rows }.draw(), marks);
    }

    #[test]
    fn stacks(
        head in head(), axis in axis(), names in vec(words(), 0..8), stacks in vec(stack(), 0..6),
        by_name in any::<bool>(), against in words(),
    ) {
        let any = |stack: &&Stack| {
            stack.segments.iter().any(|part| shown(part.from) && shown(part.to))
        };
        let marks = stacks.iter().filter(any).count();
        check(&Stacks { head, axis, names, by_name, against, stacks }.draw(), marks);
    }

    #[test]
    fn level_curves(
        head in head(), axis in axis(), parameter in words(),
        levels in vec((number(), words()), 0..7), curves in vec(level_curve(), 0..9),
    ) {
        let at_levels = |curve: &LevelCurve| {
            let there = levels.iter().zip(&curve.points).filter(|((at, _), _)| shown(*at));
            spots(there.map(|(_, point)| &point.value), |_| true)
        };
        let has_any = curves.iter().flat_map(|one| &one.points).any(|point| {
            point.value.as_ref().is_some_and(|spot| shown(spot.value))
        });
        let marks = if has_any { curves.iter().map(at_levels).sum() } else { 0 };
        check(&LevelCurves { head, axis, parameter, levels: levels.clone(), curves }.draw(), marks);
    }

    #[test]
    fn levels(
        head in head(), axis in axis(), option in words(), hue in 0_usize..60,
        levels in vec(level(), 0..9), flat in option::of((0_usize..9, 0_usize..9)), same in words(),
        others in words(), proportional in option::of((number(), words())),
    ) {
        let marks = spots(levels.iter().map(|level| &level.value), |_| true);
        let drawn = Levels { head, axis, option, hue, levels, flat, same, others, proportional };
        check(&drawn.draw(), marks);
    }

    #[test]
    fn columns(
        head in head(), axis in axis(), limit in option::of((number(), words())),
        names in [words(), words()], panels in vec((key(), vec(column(), 0..12)), 0..5),
    ) {
        let panels = panels.into_iter().map(|(key, columns)| ColumnsOf { key, columns });
        let panels: Vec<_> = panels.collect();
        let columns = panels.iter().flat_map(|panel| &panel.columns);
        let marks = spots(columns.map(|column| &column.value), |_| true);
        check(&Columns { head, axis, limit, names, panels }.draw(), marks);
    }

    #[test]
    fn heat(
        head in head(), legend in words(), columns in vec(words(), 0..15),
        rows in vec((key(), vec(cell(), 0..15)), 0..6),
    ) {
        let cells = rows.iter().flat_map(|(_, cells)| cells.iter().take(columns.len()));
        let marks = spots(cells.map(|cell| &cell.ratio), |ratio| ratio > 1e-9);
        let (rows, cells) = rows.into_iter().unzip();
        check(&Heat { head, columns, rows, cells, legend }.draw(), marks);
    }

    #[test]
    fn curves(
        head in head(), title in words(),
        curves in vec((key(), vec((number(), number()), 0..12), words()), 0..6),
    ) {
        let curves = curves.into_iter().map(|(key, points, tip)| Curve { key, points, tip });
        let curves: Vec<_> = curves.collect();
        let any = |curve: &&Curve| {
            curve.points.iter().any(|(share, ns)| shown(*share) && shown(*ns))
        };
        let marks = curves.iter().filter(any).count();
        check(&Curves { head, title, curves }.draw(), marks);
    }

    #[test]
    fn plots(
        head in head(), plots in vec(plot(), 0..4),
        latencies in option::of((vec((number(), number()), 0..12), words())),
    ) {
        let any = |points: &[(f64, f64)]| points.iter().any(|(x, y)| shown(*x) && shown(*y));
        let lines = plots.iter().flat_map(|plot| &plot.lines);
        let marks = lines.filter(|line| any(&line.points)).count()
            + latencies.iter().filter(|(points, _)| any(points)).count();
        let latencies = latencies.map(|(points, title)| Curves {
            head: Head { title, ..Head::default() },
            curves: vec![Curve { points, ..Curve::default() }],
            ..Curves::default()
        });
        check(&Plots { head, plots, latencies }.draw(), marks);
    }

    #[test]
    fn scatters(head in head(), along in axis(), upright in axis(), points in vec(point(), 0..30)) {
        let fits = |axis: &Axis, value: f64| {
            shown(value) && if axis.log { value > 0.0 } else { value >= 0.0 }
        };
        let is_shown = |one: &&ScatterPoint| {
            fits(&along, one.along) && fits(&upright, one.upright)
        };
        let marks = points.iter().filter(is_shown).count();
        check(&Scatter { head, along, upright, points }.draw(), marks);
    }

    #[test]
    fn traces(head in head(), panels in vec(panel(), 0..4), spans in vec(span(), 0..4)) {
        let traces = panels.iter().flat_map(|panel| &panel.traces);
        let any = |trace: &&Trace| {
            let mut points = trace.points.iter();
            points.any(|(time, value)| shown(*time) && value.is_some_and(shown))
        };
        let marks = traces.filter(any).count();
        check(&Traces { head, panels, spans }.draw(), marks);
    }
}

fn plain(label: &str, hue: usize, value: f64) -> Bar {
    Bar {
        key: Key { label: label.to_owned(), hue },
        value: Some(Spot { value, tip: format!("{value} s") }),
        ..Bar::default()
    }
}

fn plain_bars(bars: Vec<Bar>) -> Bars {
    let (id, title, description) = ("b".into(), "Copy".into(), "xfs is first".into());
    let head = Head { id, name: Vec::new(), title, description };
    Bars { head, axis: Axis { title: "s".into(), log: false, unit: " s".into() }, bars }
}

#[test]
fn a_chart_of_nothing_says_so() {
    let empty = [
        Bars::default().draw(),
        Groups::default().draw(),
        Ratios::default().draw(),
        Stacks::default().draw(),
        Levels::default().draw(),
        Columns::default().draw(),
        Heat::default().draw(),
        Curves::default().draw(),
        Plots::default().draw(),
        Traces::default().draw(),
    ];
    for svg in empty {
        check(&svg, 0);
        assert!(svg.inline.contains(">no figures</text>"), "{}", svg.inline);
    }
}

#[test]
fn twice_the_value_is_twice_the_bar() {
    let svg = plain_bars(vec![plain("a", 0, 1.5), plain("b", 1, 3.0)]).draw();
    let document = Document::parse(&svg.inline).expect("it is well-formed");
    let bars = document.descendants().filter(|node| class(*node, "bar"));
    let wide = |bar: Node<'_, '_>| bar.attribute("width")?.parse::<f64>().ok();
    let widths: Vec<_> = bars.filter_map(wide).collect();
    assert_eq!(widths.len(), 2);
    assert!((widths[1] - 2.0 * widths[0]).abs() <= 0.2, "{widths:?}");
}

#[test]
fn sixty_contenders_have_a_row_each_and_no_pattern() {
    let bars = (0..60).map(|at| plain(&format!("contender {at}"), at, 1.0 + at as f64)).collect();
    let svg = plain_bars(bars).draw();
    check(&svg, 60);
    assert!(!svg.inline.contains("<pattern"), "patterns say where a figure is from");
    assert!(svg.inline.contains(">contender 59</text>"));
    assert!(svg.inline.len() < 40_000, "{}", svg.inline.len());
}

#[test]
fn a_long_label_is_short_in_the_drawing_and_whole_in_the_words_of_its_mark() {
    let label = "contender ".repeat(20);
    let svg = plain_bars(vec![plain(&label, 0, 1.0)]).draw();
    assert!(svg.inline.contains('…'));
    assert!(svg.inline.contains(&format!("data-tip=\"{label}: 1 s\"")), "{}", svg.inline);
}

#[test]
fn a_bar_without_a_figure_says_why() {
    let mut bars = plain_bars(vec![plain("a", 0, 1.0), plain("b", 1, f64::NAN)]);
    bars.bars[1].note = "not run".into();
    let svg = bars.draw();
    check(&svg, 1);
    assert!(svg.inline.contains(">not run</text>"));
}

#[test]
fn an_interval_beyond_the_axis_ends_in_an_arrow() {
    let mut bars = plain_bars(vec![plain("a", 0, 1.0)]);
    bars.bars[0].interval = Some((0.9, 1.2));
    assert!(!bars.draw().inline.contains("\"beyond\""));
    bars.bars[0].interval = Some((0.9, f64::INFINITY));
    assert_eq!(bars.draw().inline.matches("\"beyond\"").count(), 1);
}

#[test]
fn a_long_trace_stays_small() {
    let points = (0..100_000).map(|at| (f64::from(at), Some(f64::from(at * 7919 % 1000))));
    let trace = Trace { points: points.collect(), ..Trace::default() };
    let panels = vec![Panel { title: "device, MB/s".into(), traces: vec![trace] }];
    let svg = Traces { panels, ..Traces::default() }.draw();
    check(&svg, 1);
    assert!(svg.inline.len() < 20_000, "{}", svg.inline.len());
}

#[test]
fn one_bar_as_it_is_written() {
    let svg = plain_bars(vec![plain("ext4", 0, 2.0)]).draw();
    let (_, row) = svg.inline.split_once("2.0</text>").expect("the axis ends at the value");
    // An element a line, to be read.
    insta::assert_snapshot!(row.replace("><", ">\n<"), @r#"
    <text class="label" x="0" y="37">ext4</text>
    <text class="value" x="440" y="37" text-anchor="end">2.00 s</text>
    <g class="mark h0" data-tip="ext4: 2 s">
    <title>ext4: 2 s</title>
    <rect class="bar" x="38" y="24.4" width="344.9" height="17.2"/>
    </g>
    <polyline class="axis" points="38,18 38,48"/>
    </svg>
    "#);
}

/// Places of the elements of a class along the paper.
fn along(svg: &Svg, name: &str, attribute: &str) -> Vec<f64> {
    let document = Document::parse(&svg.inline).expect("it is well-formed");
    let own = document.descendants().filter(|node| class(*node, "mark"));
    let own = own.flat_map(|mark| mark.descendants().filter(|node| class(*node, name)));
    own.map(|node| node.attribute(attribute).expect("a place").parse().expect("a number")).collect()
}

#[test]
fn levels_that_double_are_equally_far_apart_and_others_are_not() {
    let of = |at: &[f64]| {
        let level = |at: &f64| Level {
            at: *at,
            label: at.to_string(),
            value: Some(Spot { value: 2.0, tip: String::new() }),
            standing: Standing::Same,
            ..Level::default()
        };
        Levels { levels: at.iter().map(level).collect(), ..Levels::default() }.draw()
    };
    let steps = |at: &[f64]| -> Vec<f64> {
        along(&of(at), "middle", "cx").windows(2).map(|two| two[1] - two[0]).collect()
    };
    let even = steps(&[1024.0, 2048.0, 4096.0, 8192.0]);
    assert!(even.iter().all(|step| (step - even[0]).abs() < 0.2), "{even:?}");
    let uneven = steps(&[1.0, 2.0, 3.0, 10.0]);
    assert!((uneven[2] / uneven[0] - 7.0).abs() < 0.1, "{uneven:?}");
}

#[test]
fn a_line_goes_with_the_levels_and_a_steep_one_leaves_the_plot() {
    let of = |last: f64| {
        let level = |(at, value): (f64, f64)| Level {
            at,
            label: at.to_string(),
            value: Some(Spot { value, tip: String::new() }),
            standing: Standing::Same,
            ..Level::default()
        };
        let levels = [(1.0, 1.0), (2.0, 1.8), (last, 2.0)].into_iter().map(level).collect();
        let proportional = Some((1.0, "in proportion".to_owned()));
        Levels { levels, proportional, ..Levels::default() }.draw()
    };
    // First and last point of the line, and its first and last dot.
    let ends = |svg: &Svg| {
        let document = Document::parse(&svg.inline).expect("it is well-formed");
        let mut lines = document.descendants().filter(|node| class(*node, "one"));
        let drawn = lines.rfind(|node| node.attribute("points").is_some()).expect("a line");
        let points = drawn.attribute("points").unwrap();
        let numbers = |text: &str| -> Vec<f64> {
            text.split([',', ' ']).map(|one| one.parse().unwrap()).collect()
        };
        let all = numbers(points);
        ([all[0], all[1]], [all[all.len() - 2], all[all.len() - 1]])
    };
    let near = of(4.0);
    let (xs, ys) = (along(&near, "middle", "cx"), along(&near, "middle", "cy"));
    let (first, last) = ends(&near);
    assert!((first[0] - xs[0]).abs() < 0.2 && (first[1] - ys[0]).abs() < 0.2, "{first:?}");
    assert!((last[0] - xs[2]).abs() < 0.2 && last[1] < ys[2], "{last:?}");
    assert!(near.inline.contains("in proportion"));
    let steep = of(64.0);
    let (xs, ys) = (along(&steep, "middle", "cx"), along(&steep, "middle", "cy"));
    let (_, last) = ends(&steep);
    assert!(last[0] < xs[2] - 20.0, "it ends where it leaves the plot: {last:?}");
    assert!(ys[0] - ys[2] > 30.0, "and does not flatten the curve: {ys:?}");
}

#[test]
fn columns_share_one_axis_and_far_limits_do_not_flatten_them() {
    let panel = |value: f64| ColumnsOf {
        columns: vec![Column {
            label: "1".into(),
            value: Some(Spot { value, tip: String::new() }),
            ..Column::default()
        }],
        ..ColumnsOf::default()
    };
    let of = |limit: f64| {
        let limit = Some((limit, "period".to_owned()));
        Columns { limit, panels: vec![panel(1.0), panel(2.0)], ..Columns::default() }.draw()
    };
    let near = along(&of(3.0), "bar", "height");
    assert!((near[1] / near[0] - 2.0).abs() < 0.02, "{near:?}");
    assert_eq!(of(3.0).inline.matches("\"one\"").count(), 3, "two lines and the legend");
    let far = of(300.0);
    assert!(along(&far, "bar", "height")[1] > near[1], "they are not flat");
    assert_eq!(far.inline.matches("\"one\"").count(), 1, "the legend alone");
}

#[test]
fn parts_of_a_sum_have_the_hue_of_their_name_and_a_line_is_across_the_bar() {
    let segment = |name: usize| Segment {
        name,
        from: name as f64,
        to: name as f64 + 1.0,
        ..Segment::default()
    };
    let stack = Stack {
        segments: (0..7).map(segment).collect(),
        held_against: Some(Spot { value: 9.0, tip: "asked for".into() }),
        ..Stack::default()
    };
    let names = (0..7).map(|at| format!("part {at}")).collect();
    let svg = Stacks { names, by_name: true, stacks: vec![stack], ..Stacks::default() }.draw();
    for hue in 0..7 {
        assert!(svg.inline.contains(&format!("class=\"part h{hue}\"")), "{}", svg.inline);
    }
    assert!(svg.inline.contains("<title>asked for</title>"), "{}", svg.inline);
    // One in the legend, one across the bar, which is shorter than the axis.
    assert_eq!(svg.inline.matches("\"whisker\"").count(), 2);
}
