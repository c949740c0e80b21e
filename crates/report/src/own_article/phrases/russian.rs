//! Russian, as the articles of 2003 to 2010 were written: decimal comma, units in Russian.

mod cautions;
mod charts;
mod judgements;
mod notices;
mod numbers;
mod own_words;
mod readings;
mod templates;

use self::numbers::{count, figure, number, plural};
use self::templates::interval;
use super::{Against, Now, Phrases, ThenClaim, ThenTest, Title, decided_and_open};
use crate::row_state::RowState;
use fsarena_model::run::Clock;
use fsarena_model::verdict::{Metric, Verdict};
use fsarena_reference::{Finding, Holds, claim_in_russian};

#[derive(Debug)]
pub(in super::super) struct Russian;

/// `1,42 раза`, `5 раз`: a fraction takes the form of a half.
fn times(ratio: &str) -> String {
    let own = number(ratio);
    let word = match ratio.replace(',', "").parse::<usize>() {
        Ok(whole) => plural(whole, ["раз", "раза", "раз"]),
        Err(_) => "раза",
    };
    format!("{own} {word}")
}

impl Phrases for Russian {
    fn tag(&self) -> &'static str {
        "ru"
    }

    fn name(&self) -> &'static str {
        "Russian, with a decimal comma"
    }

    fn figure(&self, text: &str) -> String {
        figure(text)
    }

    fn words(&self, text: &str) -> String {
        own_words::words(text)
    }

    fn title(&self, title: Title) -> &'static str {
        match title {
            Title::Method => "Машина и методика",
            Title::Conditions => "Условия",
            Title::Mind => "На что обратить внимание",
            Title::Results => "Результаты",
            Title::AsThen => "Таблица автора по этой серии",
            Title::ThenAndNow => "Тогда и теперь",
            Title::LeftOut => "Что не вошло",
        }
    }

    fn metric(&self, metric: Metric, clock: Clock, changes: bool) -> String {
        metric.row().russian.words(clock, changes).to_owned()
    }

    fn machine(&self, machine: &str, devices: &[String]) -> String {
        let machine = own_words::line(machine);
        let devices: Vec<String> = devices.iter().map(|device| own_words::line(device)).collect();
        match devices.as_slice() {
            [] => format!("Машина: {machine}."),
            devices => format!("Машина: {machine}. Устройства: {}.", devices.join("; ")),
        }
    }

    fn own_title(&self, title: &str) -> String {
        own_words::title(title)
    }

    fn trials(&self, done: usize, at_most: Option<usize>) -> String {
        let trials = count(done, ["испытание", "испытания", "испытаний"]);
        match at_most {
            None => trials,
            Some(most) => format!("{trials} из {most} самое большее: серия не закончена"),
        }
    }

    fn not_asked_before(&self, trials: &str) -> String {
        format!("{trials}. Вопросов до начала задано не было: значимы ли различия, не сказано.")
    }

    fn brought_in(&self, program: &str) -> String {
        format!(
            "Измерено программой {program}, результаты взяты извне: порядок и состояние кэша \
             неизвестны."
        )
    }

    fn blocks(&self) -> &'static str {
        "В каждом блоке все участники, о которых ещё не решено, испытываются по одному разу в \
         случайном порядке."
    }

    fn made_anew(&self) -> &'static str {
        "Перед каждым испытанием файловая система создаётся заново."
    }

    fn counted(&self, trials: &str, number: usize) -> String {
        let blocks = count(number, ["блок", "блока", "блоков"]);
        let goes = plural(number, ["идёт", "идут", "идут"]);
        format!("Проведено: {trials}; в счёт {goes} {blocks}.")
    }

    fn virtual_time(&self) -> &'static str {
        "Время виртуальное: гостевое ядро на модели диска."
    }

    fn row_state(&self, state: RowState) -> &'static str {
        match state {
            RowState::Imported => "импорт",
            RowState::VirtualTime => "виртуальное время",
            RowState::Modelled => "модель",
            RowState::Warm => "тёплый кэш",
            RowState::NotWarm => "кэш не тёплый",
        }
    }

    fn never_cold(&self, labels: &str) -> String {
        format!("Запрошен холодный кэш; для {labels} это невозможно, и измерено с тёплым кэшем.")
    }

    fn scaled(&self, scale: f64) -> String {
        format!("Объём данных умножен на {}.", number(&scale.to_string()))
    }

    fn rule(&self, margin: &str) -> String {
        format!(
            "Значимость различий определялась по правилу, заданному до первого блока; одинаково — \
             значит в пределах ±{}.",
            number(margin)
        )
    }

    fn phase(&self) -> &'static str {
        "фаза"
    }

    fn table(&self, workload: &str) -> String {
        format!("{workload}: медианы, меньше — лучше")
    }

    fn heat(&self, reference: &str) -> String {
        format!("Все времена в отношении к {reference}; больше единицы — медленнее")
    }

    fn times(&self, workload: &str, phase: &str) -> String {
        format!(
            "{workload}, {}: медианы, точки — отдельные испытания; меньше — лучше",
            own_words::words(phase)
        )
    }

    fn answer(
        &self,
        about: &str,
        best: &str,
        metric: Metric,
        others: &[Against],
        rest: &[Against],
    ) -> String {
        let more = if metric.is_length() { "дольше" } else { "больше" };
        let against: Vec<String> = others.iter().map(|one| other(one, more, false)).collect();
        let first = match (against.as_slice(), rest) {
            ([], []) => return format!("{about}: данные есть только у {best}."),
            ([], _) => format!("{about}: наименьшая медиана у {best}."),
            (parts, _) => format!("{about}: наименьшая медиана у {best}; {}.", parts.join("; ")),
        };
        let (decided, open) = decided_and_open(rest, "и");
        let decided: Vec<String> = decided.into_iter().map(|one| other(one, more, true)).collect();
        match (decided.as_slice(), open.as_slice()) {
            ([], []) => first,
            ([], _) => format!("{first} Остальные пары не решены."),
            (decided, []) => format!("{first} Остальные пары: {}.", decided.join("; ")),
            (decided, open) => format!(
                "{first} Остальные пары: {}; не решено: {}.",
                decided.join("; "),
                open.join(", ")
            ),
        }
    }

    fn nothing_asked(&self) -> &'static str {
        "Вопросов этой серии задано не было, сравнений нет; её данные: fsarena report"
    }

    fn nothing_to_compare(&self, label: Option<&str>) -> String {
        match label {
            Some(label) => format!("Данные есть только у {label}: сравнивать не с чем."),
            None => "Данных нет ни у кого: сравнивать нечего.".to_owned(),
        }
    }

    fn then_not_now(&self, year: u16) -> String {
        format!(
            "Техника, ядра и файловые системы не те, что в {year} году: рядом можно поставить \
             отношения внутри каждого времени, но не сами величины."
        )
    }

    fn then_chart(&self, year: u16) -> String {
        format!("Отношения к лучшему своего времени: штриховка — {year} год, заливка — эта машина")
    }

    fn then(&self, year: u16, test: &ThenTest) -> String {
        let claim = |own: &ThenClaim| {
            let one = |(on, ratio): &(String, String)| match on.as_str() {
                "" => times(ratio),
                on => format!("{} ({on})", times(ratio)),
            };
            let then: Vec<String> = own.then.iter().map(one).collect();
            let with = |(ratio, own): &(String, Option<String>)| match own {
                Some(own) => format!("в {} {}", times(ratio), interval(own)),
                None => format!("в {}", times(ratio)),
            };
            let (fast, slow) = (&own.fast, &own.slow);
            let now = match &own.now {
                Now::Likewise(found) => format!("теперь тоже, {}", with(found)),
                Now::Reversed(found) => {
                    format!("теперь, наоборот, выше у {slow}, {}", with(found))
                }
                Now::Same => "теперь они одинаковы в пределах допуска".to_owned(),
            };
            let then = then.join(", ");
            format!("в {year} году скорость {fast} была выше, чем у {slow}, в {then}; {now}")
        };
        let mut text = own_words::words(&test.title);
        if let Some(work) = &test.other_work {
            text.push_str(&format!(" (здесь работа другая: {})", own_words::title(work)));
        }
        let claims: Vec<String> = test.claims.iter().map(claim).collect();
        if !claims.is_empty() {
            text.push_str(&format!(": {}", claims.join(". ")));
        }
        if !test.not_compared.is_empty() {
            let all: Vec<String> =
                test.not_compared.iter().map(|why| own_words::words(why)).collect();
            let before = if claims.is_empty() {
                ": не сравнивается"
            } else {
                ". Не сравнивается"
            };
            text.push_str(&format!("{before}: {}", all.join("; ")));
        }
        text + "."
    }

    fn conclusions(&self) -> &'static str {
        "Выводы статьи и её собственные числа"
    }

    fn conclusion(&self, finding: &Finding) -> String {
        let claim = claim_in_russian(finding.claim).unwrap_or(finding.claim);
        let holds = match finding.holds {
            Holds::Holds => "Числа подтверждают",
            Holds::Falls => "Числа противоречат",
            Holds::CannotBeTold => "По числам решить нельзя",
        };
        format!("{claim}. {holds}: {}.", own_words::words(&finding.why))
    }

    fn no_rows(&self, year: u16) -> String {
        format!(
            "Среди участников нет двух таких, что сравнивались в {year} году при том же вопросе и тех \
             же часах и чья разница различима и тогда, и теперь: о «тогда и теперь» сказать нечего."
        )
    }

    fn not_run(&self, label: &str, why: &str) -> String {
        format!("{label} не испытывалась: {}", own_words::words(why))
    }

    fn failed(&self, label: &str, workload: &str, why: &str) -> String {
        format!("{label}: сбой в {workload}: {}", own_words::words(why))
    }

    fn excluded(&self, workload: &str, phase: &str, label: &str, why: &str) -> String {
        let (phase, why) = (own_words::words(phase), own_words::words(why));
        format!("{workload}, {phase}: {label} исключена: {why}")
    }

    fn figure_word(&self) -> &'static str {
        "Рис."
    }
}

/// What is said of one against the best, or against the other of a pair.
fn other(one: &Against, more: &str, names_both: bool) -> String {
    let ratio = one.ratio.as_ref().map(|(ratio, own)| match own {
        Some(own) => format!("в {} {more} {}", times(ratio), interval(own)),
        None => format!("в {} {more}", times(ratio)),
    });
    // A ratio below 1 is not "longer by".
    let bare = one.ratio.as_ref().map_or_else(String::new, |(ratio, own)| {
        let own = own.as_deref().map_or_else(String::new, |own| format!(" {}", interval(own)));
        format!(" (отношение {}{own})", number(ratio))
    });
    let (label, other) = (&one.label, &one.than);
    let than = if names_both { format!(", чем у {other}") } else { String::new() };
    let and = if names_both { format!(" и {other}") } else { String::new() };
    let mut text = match (one.verdict, ratio) {
        (Verdict::Same, _) => format!("у {label}{and} одинаково в пределах допуска{bare}"),
        (Verdict::Undecided, _) if names_both => format!("{label} и {other} — не решено{bare}"),
        (Verdict::Undecided, _) => format!("с {label} не решено{bare}"),
        (Verdict::Slower, Some(ratio)) => format!("у {label} {ratio}{than}"),
        (Verdict::Slower, None) => format!("у {label} {more}{than}"),
        (Verdict::Faster, _) => format!("у {label}, однако, меньше{than}{bare}"),
    };
    if one.by_machine {
        text.push_str(", по вине машины");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_a_comma_and_russian_units() {
        for (text, own) in [
            ("12.5 ms", "12,5\u{a0}мс"),
            ("1,234 s", "1\u{a0}234\u{a0}с"),
            ("50000", "50\u{a0}000"),
            ("12345.678 ms", "12\u{a0}345,678\u{a0}мс"),
            ("1.00", "1,00"),
            ("2.50 MiB", "2,50\u{a0}МиБ"),
            ("-", "-"),
            ("2m05s", "2\u{a0}мин 05\u{a0}с"),
            ("1h02m", "1\u{a0}ч 02\u{a0}мин"),
        ] {
            assert_eq!(Russian.figure(text), own);
        }
        assert_eq!(interval("[<0.01, 1.47]"), "[<0,01; 1,47]");
    }

    #[test]
    fn words_follow_their_number() {
        let forms = ["блок", "блока", "блоков"];
        for (number, own) in
            [(1, "блок"), (3, "блока"), (5, "блоков"), (11, "блоков"), (22, "блока")]
        {
            assert_eq!(plural(number, forms), own, "{number}");
        }
        assert_eq!(times("1.42"), "1,42 раза");
        assert_eq!(times("123"), "123 раза");
        assert_eq!(times("1,235"), "1\u{a0}235 раз");
    }

    #[test]
    fn an_answer_says_who_and_by_how_much() {
        let against = |label: &str, verdict, ratio: Option<&str>| Against {
            label: label.to_owned(),
            than: "ext4".to_owned(),
            verdict,
            by_machine: false,
            ratio: ratio.map(|ratio| (ratio.to_owned(), Some("[1.38, 1.47]".to_owned()))),
        };
        let others = [
            against("xfs", Verdict::Slower, Some("1.42")),
            against("btrfs", Verdict::Same, Some("1.01")),
            against("jfs", Verdict::Undecided, None),
            Against { than: "xfs".to_owned(), ..against("jfs", Verdict::Slower, Some("5")) },
        ];
        let text = Russian.answer("create", "ext4", Metric::Time, &others[..3], &others[3..]);
        assert_eq!(
            text,
            "create: наименьшая медиана у ext4; у xfs в 1,42 раза дольше [1,38; 1,47]; у btrfs \
             одинаково в пределах допуска (отношение 1,01 [1,38; 1,47]); с jfs не решено. \
             Остальные пары: у jfs в 5 раз дольше [1,38; 1,47], чем у xfs."
        );
    }
}
