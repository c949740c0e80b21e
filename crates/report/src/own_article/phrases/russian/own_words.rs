//! What the program itself says in English in its records and experiments, in Russian: the machine,
//! devices, and titles. What a user has written stays as it is.

use super::cautions::{CAUTIONS, CONDITIONS, OPEN, REASONS};
use super::charts::{CHARTS, NOTES, OURS};
use super::judgements::{RULE, WHYS};
use super::notices::NOTICES;
use super::numbers::{figure, is_figure, number};
use super::readings::READINGS;
use super::templates::{PHASES, Template, turned};

/// Parts of a line; the first that fits is taken.
const PARTS: &[Template] = &[
    ("the machine is not known", "неизвестна"),
    ("{} of memory", "{} памяти"),
    ("a virtual machine ({=})", "виртуальная машина ({=})"),
    ("loop device over an image of {} on {=}", "loop над образом в {} на {=}"),
    ("loop device over a file in memory of {}", "loop над файлом в памяти, {}"),
    ("loop device over a file of {}", "loop над файлом в {}"),
    ("a directory on {=}", "каталог на {=}"),
    ("non-rotating block device {=} of {}", "твердотельный диск {=}, {}"),
    ("rotating block device {=} of {}", "вращающийся диск {=}, {}"),
    ("block device {=} of {}", "диск {=}, {}"),
    ("non-rotating block device of {}", "твердотельный диск, {}"),
    ("rotating block device of {}", "вращающийся диск, {}"),
    ("block device of {}", "диск, {}"),
    ("direct I/O", "прямой ввод-вывод"),
    ("in memory", "в памяти"),
    ("through the page cache", "через страничный кэш"),
    ("compressed memory", "сжатая память"),
    ("memory", "память"),
    ("memory that answers at once", "память, которая отвечает сразу"),
    ("modelled", "модель диска"),
    ("in a guest of Linux {=}", "в гостевом ядре Linux {=}"),
    (
        "{=} loop devices over images of {} in all on {=}",
        "{=} устройства loop над образами, всего {}, на {=}",
    ),
    ("{=} × non-rotating block device {=} of {} in all", "{=} × твердотельный диск {=}, всего {}"),
    ("{=} × rotating block device {=} of {} in all", "{=} × вращающийся диск {=}, всего {}"),
    ("{=} × non-rotating block device of {} in all", "{=} × твердотельный диск, всего {}"),
    ("{=} × rotating block device of {} in all", "{=} × вращающийся диск, всего {}"),
    ("{} × CPUs", "{} × процессор"),
    ("{=} of {}", "{=}, {}"),
];

/// Whole titles; the first that fits is taken.
const TITLES: &[Template] = &[
    (
        "the seven rows of the article of 2003: 5,000 and 50,000 tiny files, and one big one",
        "семь строк статьи 2003 года: 5\u{a0}000 и 50\u{a0}000 крошечных файлов и один большой",
    ),
    (
        "ext3 with and without its directory index: 5,000 and 50,000 tiny files in one directory",
        "ext3 с индексом каталогов и без него: 5\u{a0}000 и 50\u{a0}000 крошечных файлов в одном \
         каталоге",
    ),
    (
        "the file systems of 2003: speed, and what a power cut leaves",
        "файловые системы 2003 года: скорость и то, что остаётся после отключения питания",
    ),
    (
        "the operations of 2005: data, ports and a big file copied, ports unpacked, both deleted",
        "операции 2005 года: копирование данных, портов и большого файла, распаковка портов, \
         удаление",
    ),
    (
        "the periodic application of 2007 on block sizes of ext4 and xfs, and clusters of ext4",
        "периодическая программа 2007 года: размеры блоков ext4 и xfs, кластеры ext4",
    ),
    (
        "the tests of 2008: untar, tar+bzip2, tar+gzip, wav2flac, wav2ogg, in memory and on disk",
        "тесты 2008 года: untar, tar+bzip2, tar+gzip, wav2flac, wav2ogg, в памяти и на диске",
    ),
    (
        "table 3 of 2008: programs of 64 bits against the same ones of 32",
        "таблица 3 статьи 2008 года: программы в 64 бита и те же в 32",
    ),
    (
        "a portage tree unpacked from bzip2, packed with bzip2 and with gzip, copied and deleted",
        "дерево portage: распаковка из bzip2, упаковка bzip2 и gzip, копирование, удаление",
    ),
    (
        "the copies of 2010 on ext4: data=ordered, data=writeback, data=journal",
        "копирование 2010 года на ext4: data=ordered, data=writeback, data=journal",
    ),
    (
        "journal modes of ext3 and ext4: speed, and what a power cut leaves",
        "режимы журнала ext3 и ext4: скорость и то, что остаётся после отключения питания",
    ),
    (
        "small files, a big file, threads and fsync on ext4, xfs and btrfs, cold, in four minutes",
        "мелкие файлы, большой файл, потоки и fsync на ext4, xfs и btrfs, с холодным кэшем, за \
         четыре минуты",
    ),
    (
        "the work of quick on ext2, ext3, ext4, xfs, btrfs and tmpfs, cold, in four minutes",
        "работа quick на ext2, ext3, ext4, xfs, btrfs и tmpfs, с холодным кэшем, за четыре минуты",
    ),
    ("{files} of {} in one directory", "{files} по {} в одном каталоге"),
    ("{files} of {} in {dirs}", "{files} по {}, {dirs}"),
    (
        "one file of {} written and read in calls of {}",
        "один файл в {}, запись и чтение вызовами по {}",
    ),
    ("one file of {} copied", "копирование одного файла в {}"),
    ("one file of {}", "один файл в {}"),
    (
        "830 MB of texts, pictures and music copied, the copy deleted",
        "830 МБ текстов, картинок и музыки: копирование, удаление копии",
    ),
    (
        "a ports tree of {files} unpacked, copied, the copy deleted",
        "дерево портов ({files}): распаковка, копирование, удаление копии",
    ),
    ("a ports tree of {files} unpacked", "дерево портов ({files}): распаковка"),
    (
        "{files} of 0 to 250 KiB updated every 300 s, the third time with a second load",
        "{files} до 250 КиБ, обновление каждые 300 с, в третий раз рядом со второй нагрузкой",
    ),
    (
        "a portage tree unpacked from bzip2, then packed with bzip2 and with gzip",
        "дерево portage: распаковка из bzip2, упаковка bzip2 и gzip",
    ),
    (
        "five wav files, 231 MB, encoded by flac --best and oggenc -q 10",
        "пять файлов wav, 231 МБ: кодирование flac --best и oggenc -q 10",
    ),
    ("16 files of {}, {} in all, copied", "копирование 16 файлов по {}, всего {}"),
    (
        "a portage tree of {files} copied, the copy deleted",
        "дерево portage ({files}): копирование, удаление копии",
    ),
    (
        "random reads and writes of {} in a file of {}",
        "случайные чтение и запись по {} в файле в {}",
    ),
];

/// Tests of the articles; the first that fits is taken.
const TESTS: &[Template] = &[
    ("write {} files of {}", "запись {} файлов по {}"),
    ("write one file of {}", "запись одного файла в {}"),
    ("read {} files of {} in order", "чтение {} файлов по {} по порядку"),
    ("read {} files of {} in random order", "чтение {} файлов по {} в случайном порядке"),
    ("read one file of {}", "чтение одного файла в {}"),
    ("delete {} files of {}", "удаление {} файлов по {}"),
    ("{=} copied", "{=}: копирование"),
    ("{=} deleted", "{=}: удаление"),
    ("{=} unpacked", "{=}: распаковка"),
];

/// All tables of whole texts, those that fit much last.
const TABLES: &[&[Template]] = &[
    RULE, WHYS, PHASES, TITLES, TESTS, CONDITIONS, OPEN, CAUTIONS, REASONS, NOTICES, OURS, NOTES,
    CHARTS, READINGS,
];

/// A text of the program in Russian; any other as it is.
pub(super) fn words(text: &str) -> String {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return text.to_owned();
    }
    if is_figure(trimmed) {
        return figure(trimmed);
    }
    TABLES.iter().find_map(|table| turned(table, text, &words)).unwrap_or_else(|| text.to_owned())
}

/// A line of parts behind commas, each in Russian where it is the program's own.
pub(super) fn line(text: &str) -> String {
    text.split(", ").map(part).collect::<Vec<_>>().join(", ")
}

fn part(text: &str) -> String {
    turned(PARTS, text, &words).unwrap_or_else(|| words(text))
}

/// A title in Russian, where it is the program's own; at another scale too.
pub(super) fn title(text: &str) -> String {
    match text.rsplit_once(", at scale ") {
        Some((own, scale)) => format!("{}, в масштабе {}", words(own), number(scale)),
        None => words(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_and_its_devices() {
        let machine = "Linux 6.18, 2 × AMD EPYC, 23.5 GiB of memory, a virtual machine (KVM)";
        let said = "Linux 6.18, 2 × AMD EPYC, 23,5\u{a0}ГиБ памяти, виртуальная машина (KVM)";
        assert_eq!(line(machine), said);
        let device = "loop device over an image of 2 GiB on ext4, direct I/O";
        let said = "loop над образом в 2\u{a0}ГиБ на ext4, прямой ввод-вывод";
        assert_eq!(line(device), said);
        let guest = "hdd-2003 of 4 GiB, modelled, in a guest of Linux 6.12";
        let said = "hdd-2003, 4\u{a0}ГиБ, модель диска, в гостевом ядре Linux 6.12";
        assert_eq!(line(guest), said);
        assert_eq!(
            line("non-rotating block device SSD 850 of 1 TiB"),
            "твердотельный диск SSD 850, 1\u{a0}ТиБ"
        );
        assert_eq!(
            line("a directory on xfs, through the page cache"),
            "каталог на xfs, через страничный кэш"
        );
    }

    #[test]
    fn titles_of_the_program_and_no_others() {
        for (own, said) in [
            (
                "2,500 files of 4 KiB in 100 directories",
                "2\u{a0}500 файлов по 4\u{a0}КиБ, 100 каталогов",
            ),
            ("1 file of 1.5 MiB in one directory", "1 файл по 1,5\u{a0}МиБ в одном каталоге"),
            (
                "one file of 64 MiB written and read in calls of 1 MiB",
                "один файл в 64\u{a0}МиБ, запись и чтение вызовами по 1\u{a0}МиБ",
            ),
            ("one file of 3.4 GB copied", "копирование одного файла в 3,4\u{a0}ГБ"),
            ("one file of 64 MiB", "один файл в 64\u{a0}МиБ"),
            (
                "16 files of 10-27 MB, 357 MB in all, copied",
                "копирование 16 файлов по 10–27\u{a0}МБ, всего 357\u{a0}МБ",
            ),
            (
                "the copies of 2010 on ext4: data=ordered, data=writeback, data=journal, at \
                 scale 0.05",
                "копирование 2010 года на ext4: data=ordered, data=writeback, data=journal, в \
                 масштабе 0,05",
            ),
            ("my mail, and more of it", "my mail, and more of it"),
            ("one file of the mail spool", "one file of the mail spool"),
            ("my mail of Monday", "my mail of Monday"),
        ] {
            assert_eq!(title(own), said);
        }
    }

    /// Titles of the articles' experiments and of their workloads, as they stand in their files.
    #[test]
    fn the_titles_of_the_articles_have_their_russian() {
        for name in [
            "2003-linux-vs-freebsd",
            "2005-file-operations",
            "2007-ufs-block-fragment",
            "2008-all-against-all",
            "2010-ssd-ext4-journal",
            "quick",
        ] {
            let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments");
            let file = std::fs::read_to_string(format!("{dir}/{name}.toml")).unwrap();
            let title_of =
                |line: &str| Some(line.strip_prefix("title = \"")?.strip_suffix('"')?.to_owned());
            let titles: Vec<String> = file.lines().filter_map(title_of).collect();
            assert!(!titles.is_empty(), "{name}");
            for own in titles.iter().filter(|own| !own.ends_with("_s")) {
                let own = own.replace("{files}", "12 files").replace("{size}", "1 MiB");
                let is_of_test = !own.contains(' ');
                let is_known = title(&own) != own;
                assert!(is_of_test || is_known, "{name}: {own}");
            }
        }
    }
}
