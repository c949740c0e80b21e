//! The style sheet of all charts.
//!
//! Hues are those of Okabe and Ito (Color Universal Design, 2008), made darker on white and lighter
//! on black until each has a contrast of at least 3 to what is behind it (WCAG 2.2, 1.4.11), and
//! numbers in cells one of at least 4.5 (1.4.3); the tests compute both. The rules hold inside
//! `svg.chart` only; the custom properties hold for the whole page, whose swatches may use them.

/// Style sheet of all charts: hues, lines and text as classes, light, dark and print. `--h0` to
/// `--h7` are the hues.
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
        let part = |from: usize| {
            let hex = &colour[from..from + 2];
            let value = f64::from(u8::from_str_radix(hex, 16).expect("two digits")) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
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
            for text in ["chart-ink", "chart-quiet"] {
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
