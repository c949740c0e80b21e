//! Files of charts in other programs than browsers: librsvg and CairoSVG draw the same marks, in
//! their colours, dark on white. A program that is not installed is "not run", with the package.

#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_chart::{
    Axis, Bar, Bars, Cell, Group, Groups, Head, Heat, Key, PaperWidth, Part, Proof, Spot, Svg,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// A program that makes PNG of SVG.
struct Renderer {
    name: &'static str,
    package: &'static str,
    programs: &'static [&'static str],
    /// What tells whether it is installed.
    check: &'static [&'static str],
    /// Before the file to read.
    arguments: &'static [&'static str],
    /// Before the file to write.
    output: &'static str,
}

const RENDERERS: [Renderer; 2] = [
    Renderer {
        name: "librsvg",
        package: "librsvg2-bin",
        programs: &["rsvg-convert"],
        check: &["--version"],
        arguments: &["--format", "png", "--dpi-x", "192", "--dpi-y", "192"],
        output: "--output",
    },
    Renderer {
        name: "CairoSVG",
        package: "python3-cairosvg",
        programs: &["python3", "/usr/bin/python3"],
        check: &["-c", "import cairosvg"],
        arguments: &["-m", "cairosvg", "--dpi", "192"],
        output: "-o",
    },
];

/// A picture: its width, and how many dots have which colour.
struct Drawn {
    wide: u32,
    dots: u64,
    colours: BTreeMap<[u8; 3], u64>,
}

impl Renderer {
    /// The program that has it: that of the system too, where another Python stands first.
    fn find(&self) -> Option<&'static str> {
        let runs = |program: &&'static str| {
            let mut command = Command::new(program);
            let ran = command.args(self.check).output();
            ran.is_ok_and(|ran| ran.status.success())
        };
        self.programs.iter().copied().find(runs)
    }

    fn draw(&self, program: &str, dir: &Path, svg: &str) -> Drawn {
        let (from, to) = (dir.join("chart.svg"), dir.join("chart.png"));
        std::fs::write(&from, svg).unwrap();
        let mut command = Command::new(program);
        command.args(self.arguments).arg(&from).arg(self.output).arg(&to);
        let ran = command.output().unwrap();
        assert!(ran.status.success(), "{}: {ran:?}", self.name);
        Drawn::read(&to)
    }
}

impl Drawn {
    fn read(file: &Path) -> Self {
        let bytes = std::io::BufReader::new(std::fs::File::open(file).unwrap());
        let mut decoder = png::Decoder::new(bytes);
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        let each = info.color_type.samples();
        assert!(each >= 3, "a picture with colours: {:?}", info.color_type);
        let mut colours = BTreeMap::new();
        let (mut dots, mut seen_through) = (0, 0);
        for pixel in pixels[..info.buffer_size()].chunks_exact(each) {
            seen_through += u64::from(each == 4 && pixel[3] < 255);
            *colours.entry([pixel[0], pixel[1], pixel[2]]).or_default() += 1;
            dots += 1;
        }
        // But for an edge of half a dot: what is not covered would be black on a black slide.
        assert!(seen_through * 100 < dots, "the paper is drawn: {seen_through} of {dots}");
        Self { wide: info.width, dots, colours }
    }

    /// Share of the dots that are about this colour.
    fn share(&self, colour: [u8; 3]) -> f64 {
        let is_near = |own: &[u8; 3]| own.iter().zip(colour).all(|(a, b)| a.abs_diff(b) <= 4);
        self.share_of(is_near)
    }

    fn share_of(&self, fits: impl Fn(&[u8; 3]) -> bool) -> f64 {
        let own = self.colours.iter().filter(|(own, _)| fits(own)).map(|(_, dots)| dots);
        own.sum::<u64>() as f64 / self.dots as f64
    }
}

const WHITE: [u8; 3] = [255, 255, 255];
const INK: [u8; 3] = [0x1c, 0x20, 0x24];

fn spot(value: f64) -> Spot {
    Spot { value, tip: format!("{value} s") }
}

fn bars() -> Svg {
    let bar = |hue: usize| Bar {
        key: Key { label: format!("contender {hue}"), hue },
        value: Some(spot(1.0 + hue as f64)),
        interval: Some((0.9 + hue as f64, 1.2 + hue as f64)),
        points: vec![spot(1.1 + hue as f64)],
        ..Bar::default()
    };
    let head = Head { title: "small-files / create".into(), ..Head::default() };
    Bars { head, axis: Axis::linear("time, s", " s"), bars: (0..3).map(bar).collect() }.draw()
}

fn groups() -> Svg {
    let part = |hatched: bool| Part {
        key: Key { label: format!("ext3 {hatched}"), hue: 0 },
        hatched,
        value: Some(spot(1.0)),
    };
    let groups = vec![Group { label: "copy".into(), parts: vec![part(true), part(false)] }];
    Groups { groups, axis: Axis::linear("s", " s"), ..Groups::default() }.draw()
}

fn heat() -> Svg {
    let cell =
        |value: f64| Cell { ratio: Some(spot(value)), proof: Proof::Differs, reference: false };
    Heat {
        columns: vec!["create".into(), "delete".into()],
        rows: vec![Key { label: "xfs".into(), hue: 0 }],
        cells: vec![vec![cell(3.0), cell(0.3)]],
        ..Heat::default()
    }
    .draw()
}

/// A colour over white.
fn over_white(colour: [u8; 3], opacity: f64) -> [u8; 3] {
    colour.map(|own| (255.0 - (255.0 - f64::from(own)) * opacity).round() as u8)
}

#[test]
fn other_programs_draw_what_browsers_draw() {
    let hues = [[0, 0x72, 0xb2], [0xc2, 0x6a, 0], [0, 0x85, 0x5f]];
    let dir = tempfile::tempdir().unwrap();
    for renderer in &RENDERERS {
        let Some(program) = renderer.find() else {
            println!("not run: {} is not installed ({})", renderer.name, renderer.package);
            continue;
        };
        let name = renderer.name;
        let width: PaperWidth = "85mm".parse().unwrap();
        let drawn = renderer.draw(program, dir.path(), &bars().file(width));
        let wide = f64::from(drawn.wide) / (85.0 / 25.4 * 192.0);
        assert!((0.99..1.01).contains(&wide), "{name}: 85 mm are {} dots", drawn.wide);
        assert!(drawn.share(WHITE) > 0.3, "{name}: white paper");
        assert!((0.001..0.2).contains(&drawn.share(INK)), "{name}: dark letters");
        assert!(drawn.share([0, 0, 0]) < 0.01, "{name}: nothing is black for want of a colour");
        for hue in hues {
            let bar = drawn.share(over_white(hue, 0.6));
            assert!(bar > 0.01, "{name}: a bar of {hue:?}: {bar}");
        }
        let drawn = renderer.draw(program, dir.path(), &groups().file(width));
        let plain = drawn.share(over_white(hues[0], 0.6));
        assert!(plain > 0.05, "{name}: the filled bar: {plain}");
        // How fine the stripes are drawn differs, but they are blue on white.
        let blue = drawn.share_of(|[red, _, blue]| *blue > red.saturating_add(25));
        assert!(blue > plain * 1.3, "{name}: {blue} is blue, {plain} of it the filled bar");
        let drawn = renderer.draw(program, dir.path(), &heat().file(width));
        for cell in [[0x87, 0x41, 0], [0x08, 0x4f, 0x7d]] {
            assert!(drawn.share(cell) > 0.02, "{name}: a cell of {cell:?}");
        }
    }
}
