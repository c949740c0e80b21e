//! The claims of the articles in Russian, the language that they were written in: in our words, as
//! the English ones.

/// A claim as [`crate::Finding`] has it, and the same in Russian.
const CLAIMS: &[(&str, &str)] = &[
    // 2003
    (
        "Of the file systems of Linux ext3 alone breaks down from 5,000 files to 50,000",
        "Из файловых систем Linux при переходе от 5\u{a0}000 файлов к 50\u{a0}000 не \
         справляется только ext3",
    ),
    (
        "Even UFS without soft updates writes 50,000 small files several times as fast as ext3",
        "Даже UFS без soft updates пишет 50\u{a0}000 маленьких файлов в несколько раз быстрее ext3",
    ),
    (
        "reiserfs leads in writing small files and in most of the other tests",
        "reiserfs лидирует в записи маленьких файлов и в большинстве остальных тестов",
    ),
    ("All write and read the big file well", "Большой файл хорошо пишут и читают все"),
    (
        "The UFS family reads the big file 10 % slower",
        "Семейство UFS читает большой файл на 10 % медленнее",
    ),
    (
        "Reading small files in order reiserfs is the best and jfs clearly the worst",
        "В последовательном чтении маленьких файлов лучшая — reiserfs, явно худшая — jfs",
    ),
    (
        "jfs reads small files at half the rate at which it writes them",
        "jfs читает маленькие файлы вдвое медленнее, чем пишет",
    ),
    (
        "Reading small files in random order is almost too much for all of them",
        "Чтение маленьких файлов в случайном порядке почти непосильно для всех",
    ),
    (
        "Reading in random order reiserfs is a little better than the others",
        "В чтении в случайном порядке reiserfs чуть лучше остальных",
    ),
    ("ext3 deletes faster than all others", "ext3 удаляет быстрее всех"),
    (
        "Deleting, UFS with soft updates follows, and reiserfs far behind them",
        "В удалении за ней следует UFS с soft updates, и намного отстаёт reiserfs",
    ),
    ("The time of UFS without soft updates is over", "Время UFS без soft updates прошло"),
    ("UFS2 is neither faster nor slower than UFS1", "UFS2 не быстрее и не медленнее UFS1"),
    (
        "Over all, reiserfs is first and UFS with soft updates second",
        "В целом первая — reiserfs, вторая — UFS с soft updates",
    ),
    (
        "With 64 MB of memory the cache has no influence",
        "При 64 МБ памяти кэш не оказывает влияния",
    ),
    // 2005
    (
        "On the PATA disk every operation takes one and a half times to twice as long as on the \
         SATA disk of the same machine",
        "На диске PATA каждая операция длится в полтора-два раза дольше, чем на диске SATA той же \
         машины",
    ),
    (
        "The same disk in the other machine takes nearly the same time to copy the data and the \
         big \
         file and to delete the ports",
        "Тот же диск в другой машине копирует данные и большой файл и удаляет порты почти за то же \
         время",
    ),
    (
        "Unpacking and copying the ports take longer in the other machine although the disk is the \
         same",
        "Распаковка и копирование портов в другой машине длятся дольше, хотя диск тот же",
    ),
    (
        "The faster processor is why unpacking and copying the ports take less time",
        "Распаковка и копирование портов быстрее из-за более быстрого процессора",
    ),
    (
        "These tests measure the disks and their drivers, not the file systems",
        "Эти тесты измеряют диски и их драйверы, а не файловые системы",
    ),
    (
        "The interface, SATA instead of PATA, cannot by itself be one and a half times to twice as \
         fast",
        "Сам по себе интерфейс, SATA вместо PATA, не может быть быстрее в полтора-два раза",
    ),
    (
        "The notebook's disk of 4200 rpm is slower in every operation than that of 7200 rpm",
        "Диск ноутбука на 4200 об/мин медленнее диска на 7200 об/мин в каждой операции",
    ),
    // 2007
    (
        "There is an optimum of work time and disk load between the smallest and the largest \
         blocks",
        "Между самыми малыми и самыми большими блоками есть оптимум времени работы и загрузки \
         диска",
    ),
    (
        "The optimum is at blocks of 32768 and fragments of 4096 bytes",
        "Оптимум — при блоках в 32768 и фрагментах в 4096 байт",
    ),
    (
        "The larger the fragment, the more bytes are written for the same data",
        "Чем больше фрагмент, тем больше байт пишется при тех же данных",
    ),
    (
        "Nearly nine times as much is written with fragments of 65536 as with 512 bytes, 2.4 GB \
         more",
        "При фрагментах в 65536 байт пишется почти в девять раз больше, чем при 512, на 2,4 ГБ \
         больше",
    ),
    (
        "The system writes every fragment whole, however little is in it, and that is where the \
         extra bytes come from",
        "Система пишет каждый фрагмент целиком, как бы мало в нём ни было, отсюда и лишние байты",
    ),
    (
        "With fragments of 65536 bytes a script that makes 1,000 small files nearly doubles the \
         load \
         of the disk and makes the work far longer",
        "При фрагментах в 65536 байт скрипт, создающий 1\u{a0}000 маленьких файлов, почти удваивает \
         загрузку диска и намного удлиняет работу",
    ),
    (
        "With small fragments a second load makes no such jumps",
        "При малых фрагментах вторая нагрузка таких скачков не даёт",
    ),
    (
        "A fragment of an eighth of the block is better than any other share",
        "Фрагмент в одну восьмую блока лучше любой другой доли",
    ),
    // 2008
    ("The figures are means of three measurements", "Числа — средние трёх измерений"),
    (
        "The ratios of tables 3 to 5 follow from the printed means",
        "Отношения таблиц 3–5 следуют из напечатанных средних",
    ),
    (
        "Repeats are all but identical, so that three are enough",
        "Повторы почти одинаковы, так что трёх достаточно",
    ),
    (
        "On AMD 64 bits lead in three tests of four: untar, tar+bzip2, wav2flac",
        "На AMD 64 бита впереди в трёх тестах из четырёх: untar, tar+bzip2, wav2flac",
    ),
    (
        "In tar+gzip the difference of 32 and 64 bits is within what the method can see",
        "В tar+gzip разница 32 и 64 бит — в пределах погрешности метода",
    ),
    (
        "On Intel untar takes almost twice as long with 64 bits as with 32",
        "На Intel untar при 64 битах длится почти вдвое дольше, чем при 32",
    ),
    (
        "The differences of 32 and 64 bits cannot be put down to the error of measurement",
        "Разницу 32 и 64 бит нельзя списать на погрешность измерений",
    ),
    (
        "With 32 bits Intel is faster than AMD in every test",
        "При 32 битах Intel быстрее AMD в каждом тесте",
    ),
    (
        "With 64 bits Intel loses to AMD in untar and wav2flac",
        "При 64 битах Intel уступает AMD в untar и wav2flac",
    ),
    (
        "On 64-bit Intel wav2flac is a little faster on ext3 than in memory",
        "На 64-битном Intel wav2flac на ext3 чуть быстрее, чем в памяти",
    ),
    (
        "wav2flac on 64-bit Intel is the one case in which ext3 comes out ahead of memory",
        "wav2flac на 64-битном Intel — единственный случай, когда ext3 опережает память",
    ),
    (
        "Untar is faster in memory than on ext3, on every machine and system",
        "Распаковка в памяти быстрее, чем на ext3, на каждой машине и системе",
    ),
    (
        "But for very many small files (untar), memory and disk differ negligibly",
        "Кроме очень многих маленьких файлов (untar), разница памяти и диска ничтожна",
    ),
    (
        "Where files are worked on, 32 bits are ahead (untar on ext3, AMD and Intel)",
        "В работе с файлами впереди 32 бита (untar на ext3, AMD и Intel)",
    ),
    // 2010
    (
        "By the time `cp` came back, the SSD is faster than the hard disk in three of the four \
         copies",
        "По времени возврата из `cp` SSD быстрее жёсткого диска в трёх копированиях из четырёх",
    ),
    (
        "In these three the SSD is loosely one and a half times or twice as fast",
        "В этих трёх SSD быстрее примерно в полтора-два раза",
    ),
    (
        "Copying very many small files the SSD is slower than the hard disk",
        "В копировании очень многих маленьких файлов SSD медленнее жёсткого диска",
    ),
    (
        "Deleting them the SSD loses to the hard disk too",
        "В их удалении SSD тоже уступает жёсткому диску",
    ),
    (
        "In copies, writeback and ordered differ by no more than the error of the experiment",
        "В копировании writeback и ordered различаются не больше погрешности опыта",
    ),
    (
        "Deleting the Portage tree, writeback loses to ordered",
        "В удалении дерева Portage writeback уступает ordered",
    ),
    (
        "The seconds of the short copies are what the SSD took",
        "Секунды коротких копирований — это время самого SSD",
    ),
    (
        "A Portage tree of little more than 12 thousand files and directories, a few hundred \
         bytes to \
         a few KB each, takes 229 MB",
        "Дерево Portage из чуть более 12 тысяч файлов и каталогов, от сотен байт до нескольких \
         килобайт каждый, занимает 229 МБ",
    ),
];

/// A claim of an article in Russian.
#[must_use]
pub fn claim_in_russian(claim: &str) -> Option<&'static str> {
    CLAIMS.iter().find(|(english, _)| *english == claim).map(|(_, russian)| *russian)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_claim_is_in_russian() {
        let mut found = 0;
        for (year, _) in crate::list() {
            for finding in &crate::study(year).unwrap().findings {
                let russian = claim_in_russian(finding.claim);
                assert!(russian.is_some(), "{year}: {}", finding.claim);
                found += 1;
            }
        }
        assert_eq!(found, CLAIMS.len(), "a translation of a claim that there is not");
    }
}
