//! The style sheet of all charts.
//!
//! The first three hues are those of Okabe and Ito (Color Universal Design, 2008), made darker on
//! white and lighter on black; the others were searched for among all that have a contrast of at
//! least 3 to what is behind them (WCAG 2.2, 1.4.11), so that any two are far apart in CIE Lab, as
//! they are and as people without green cones see them. Numbers in cells have a contrast of at
//! least 4.5 (1.4.3). The tests compute all of it. The rules hold inside
//! `svg.chart` only; the custom properties hold for the whole page, whose swatches may use them.

/// Style sheet of all charts: hues, lines and text as classes, light, dark and print. `--h0` to
/// `--h11` are the hues.
pub const STYLE: &str = include_str!("style.css");

#[cfg(test)]
mod tests {
    use super::STYLE;
    use std::collections::BTreeMap;

    /// Custom properties of light and of dark, by name.
    fn colours() -> [BTreeMap<&'static str, &'static str>; 2] {
        let (light, rest) = STYLE.split_once("@media screen").expect("dark has its own block");
        let (dark, _) = rest.split_once("svg.chart {").expect("rules follow the colours");
        let all = |block: &'static str| -> BTreeMap<_, _> {
            let set = block.lines().filter_map(|line| line.trim().strip_suffix(';'));
            set.filter_map(|line| line.strip_prefix("--")?.split_once(": ")).collect()
        };
        [all(light), all(dark)]
    }

    /// Relative luminance (WCAG 2.2).
    fn luminance(colour: &str) -> f64 {
        let [red, green, blue] = linear(colour);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    /// Linear red, green and blue.
    fn linear(colour: &str) -> [f64; 3] {
        [1, 3, 5].map(|from| {
            let hex = &colour[from..from + 2];
            let value = f64::from(u8::from_str_radix(hex, 16).expect("two digits")) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn product(rows: [[f64; 3]; 3], of: [f64; 3]) -> [f64; 3] {
        rows.map(|row| row.iter().zip(of).map(|(by, value)| by * value).sum())
    }

    /// CIE Lab of linear sRGB, white D65.
    fn lab(linear: [f64; 3]) -> [f64; 3] {
        const XYZ: [[f64; 3]; 3] = [
            [0.412_456_4, 0.357_576_1, 0.180_437_5],
            [0.212_672_9, 0.715_152_2, 0.072_175_0],
            [0.019_333_9, 0.119_192_0, 0.950_304_1],
        ];
        let root = |t: f64| match t {
            t if t > 216.0 / 24389.0 => t.cbrt(),
            t => (24389.0 / 27.0 * t + 16.0) / 116.0,
        };
        let [x, y, z] = product(XYZ, linear);
        let [x, y, z] = [root(x / 0.95047), root(y), root(z / 1.08883)];
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// What people without green cones see (Machado, Oliveira, Fernandes 2009, severity 1).
    fn deuteranopia(linear: [f64; 3]) -> [f64; 3] {
        const SEEN: [[f64; 3]; 3] = [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ];
        product(SEEN, linear).map(|value| value.clamp(0.0, 1.0))
    }

    fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    }

    #[test]
    fn lab_is_that_of_the_definition() {
        let red = lab(linear("#ff0000"));
        assert!(distance(red, [53.24, 80.09, 67.20]) < 0.05, "{red:?}");
        assert!(distance(lab(linear("#ffffff")), [100.0, 0.0, 0.0]) < 0.05);
    }

    #[test]
    fn any_two_of_twelve_contenders_are_told_apart_by_their_colours() {
        assert_eq!(crate::HUES, 12);
        for colours in colours() {
            let hue = |at: usize| linear(colours[format!("h{at}").as_str()]);
            for one in 0..crate::HUES {
                for other in 0..one {
                    let seen = distance(lab(hue(one)), lab(hue(other)));
                    assert!(seen >= 35.0, "h{one} and h{other}: {seen:.1}");
                    let [a, b] = [one, other].map(|at| lab(deuteranopia(hue(at))));
                    let seen = distance(a, b);
                    assert!(seen >= 16.0, "h{one} and h{other}, without green cones: {seen:.1}");
                }
            }
        }
    }

    #[test]
    fn contrast_is_that_of_the_definition() {
        assert!((contrast("#000000", "#ffffff") - 21.0).abs() < 1e-9);
        assert!((contrast("#777777", "#ffffff") - 4.478).abs() < 1e-3);
    }

    #[test]
    fn hues_stand_out_from_paper_and_bands_in_light_and_dark() {
        for colours in colours() {
            for hue in 0..crate::HUES {
                for behind in ["chart-paper", "chart-band"] {
                    let found = contrast(colours[format!("h{hue}").as_str()], colours[behind]);
                    assert!(found >= 3.0, "h{hue} on {behind}: {found:.2}");
                }
            }
            for text in ["chart-ink", "chart-quiet", "chart-less", "chart-more"] {
                for behind in ["chart-paper", "chart-band", "chart-margin"] {
                    let found = contrast(colours[text], colours[behind]);
                    assert!(found >= 4.5, "{text} on {behind}: {found:.2}");
                }
            }
            let line = contrast(colours["chart-line"], colours["chart-paper"]);
            assert!(line >= 3.0, "outline of an open cell: {line:.2}");
        }
    }

    #[test]
    fn numbers_can_be_read_on_every_step_of_the_heat_map() {
        for colours in colours() {
            for step in -4..=4_i8 {
                let rule = format!("svg.chart .q{step} {{ --q: var(--");
                let (_, rule) = STYLE.split_once(&rule).expect("a rule a step");
                let (fill, rule) = rule.split_once("); --on: var(--").expect("two colours");
                let (number, _) = rule.split_once(')').expect("two colours");
                let found = contrast(colours[number], colours[fill]);
                assert!(found >= 4.5, "step {step}: {number} on {fill}: {found:.2}");
            }
        }
    }

    #[test]
    fn every_colour_has_a_dark_one_and_nothing_ends_the_element_it_stands_in() {
        let [light, dark] = colours();
        assert_eq!(light.keys().collect::<Vec<_>>(), dark.keys().collect::<Vec<_>>());
        assert!(!STYLE.contains(['<', '&']), "it stands in XML and in HTML as it is");
        let outside = STYLE.lines().filter(|line| line.starts_with('.') || line.starts_with('#'));
        assert_eq!(outside.count(), 0, "rules hold inside of charts only");
    }
}
