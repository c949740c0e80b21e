//! What `fsarena doctor` finds amiss with a machine, in Russian: its warnings, and what is worse.

use super::templates::Template;

/// The machine, its directories and its disks.
pub(super) const READINGS: &[Template] = &[
    ("the governor is {,}", "частотой управляет {,}"),
    ("the clock is {=}", "часы: {=}"),
    (
        "free page reporting is enabled: the hypervisor reclaims free pages",
        "свободные страницы памяти забирает гипервизор",
    ),
    (
        "{} of the CPU busy in one second; load average {}",
        "процессор занят на {} за секунду, средняя нагрузка {}",
    ),
    (
        "{} of {} CPUs busy in one second; load average {}",
        "процессоры ({2}) заняты на {1} за секунду, средняя нагрузка {3}",
    ),
    ("{} of the CPU busy in one second", "процессор занят на {} за секунду"),
    ("{} of {} CPUs busy in one second", "процессоры ({2}) заняты на {1} за секунду"),
    (
        "{} of the CPU time stolen in one second",
        "за секунду отнято гипервизором {} времени процессоров",
    ),
    (
        "tasks waited for the disk {}, for memory {} of the last ten seconds",
        "за последние десять секунд задачи ждали диска {} времени, памяти {}",
    ),
    ("{} of {} of swap are in use", "занято {} из {} подкачки"),
    (
        "the control group of this program has limits: {=}",
        "контрольная группа программы ограничивает её: {=}",
    ),
    ("the machine runs on its battery", "машина работает от батареи"),
    ("built with {=}", "ядро собрано с {=}"),
    ("{} of {} free ({}), {} of the inodes", "свободно {} из {} ({}), индексных дескрипторов {}"),
    ("{} of {} free ({})", "свободно {} из {} ({})"),
    (
        "strictatime: each read of a file writes its access time",
        "strictatime: каждое чтение файла записывает время доступа",
    ),
    ("mounted read-only", "смонтирована только для чтения"),
    (
        "mounted with sync: each write waits until it is durable",
        "смонтирована с sync: каждая запись ждёт сохранности на диске",
    ),
    (
        "mounted with dirsync: each change of a directory waits until it is durable",
        "смонтирована с dirsync: каждое изменение каталога ждёт сохранности на диске",
    ),
    ("{=}: no flush of the disk's cache", "{=}: кэш диска не сбрасывается"),
    (
        "{=}: names of files may be durable before their contents",
        "{=}: имена файлов могут оказаться на диске раньше их содержимого",
    ),
    ("{=}: the journal is not replayed", "{=}: журнал не применяется"),
    ("{=}: each fsync commits the whole tree", "{=}: каждый fsync фиксирует всё дерево"),
    ("{=}: fsync does not flush the disk's cache", "{=}: fsync не сбрасывает кэш диска"),
    ("{=}: a file system in memory", "{=}: файловая система в памяти"),
    ("{=}: the disk is behind a network", "{=}: диск за сетью"),
    (
        "{=}: the disk is behind the host of this virtual machine",
        "{=}: диск у хозяина виртуальной машины",
    ),
    ("{=}: the disk is behind another file system", "{=}: диск под другой файловой системой"),
    ("{=}: the disk is behind a program", "{=}: диск за программой"),
    (
        "the kernel is writing inode tables of a new file system",
        "ядро дописывает таблицы индексных дескрипторов новой файловой системы",
    ),
    (
        "inode tables of {} of {} groups are not written yet",
        "таблицы индексных дескрипторов {} из {} групп ещё не записаны",
    ),
    ("the kernel finds it misaligned", "по словам ядра, раздел не выровнен"),
    ("it begins {} before a sector of the medium", "раздел начинается за {} до сектора носителя"),
    (
        "it begins at {}, no multiple of the physical sector of {}",
        "раздел начинается с {}, не кратно физическому сектору в {}",
    ),
    (
        "it begins at {}, no multiple of the optimal I/O size of {}",
        "раздел начинается с {}, не кратно наилучшему размеру запроса в {}",
    ),
    ("read-ahead is off", "упреждающее чтение выключено"),
    ("a disk behind a network", "диск за сетью"),
    ("a virtual disk ({=})", "виртуальный диск ({=})"),
    ("a device in memory ({=})", "устройство в памяти ({=})"),
    ("a loop device over a file in memory ({=})", "loop над файлом в памяти ({=})"),
    (
        "no direct I/O: what is read and written is in the cache of the file below, too",
        "нет прямого ввода-вывода: прочитанное и записанное лежит и в кэше файла под устройством",
    ),
    ("{=}, with {} of its disks missing", "{=}, не хватает дисков: {}"),
    ("{=}, and a {=} is under way", "{=}, идёт {=}"),
    ("swap is on it ({=})", "на нём подкачка ({=})"),
    ("{} read and {} written in one second", "за секунду прочитано {} и записано {}"),
    ("the device does not count its requests", "устройство не считает своих запросов"),
];

#[cfg(test)]
mod tests {
    use super::super::own_words::words;

    #[test]
    fn warnings_are_russian() {
        for (english, russian) in [
            (
                "52.6 % of 2 CPUs busy in one second; load average 1.27",
                "процессоры (2) заняты на 52,6\u{a0}% за секунду, средняя нагрузка 1,27",
            ),
            (
                "3.5 GiB of 80 GiB free (4.4 %), 90 % of the inodes",
                "свободно 3,5\u{a0}ГиБ из 80\u{a0}ГиБ (4,4\u{a0}%), индексных дескрипторов \
                 90\u{a0}%",
            ),
            (
                "the machine before the RUN: free page reporting is enabled: the hypervisor reclaims \
                 free pages; 5 more",
                "Машина перед серией: свободные страницы памяти забирает гипервизор; ещё \
                 замечаний: 5",
            ),
            (
                "it begins at 31.5 KiB, no multiple of the physical sector of 4 KiB",
                "раздел начинается с 31,5\u{a0}КиБ, не кратно физическому сектору в 4\u{a0}КиБ",
            ),
            (
                "1 to 13 more blocks (15 s to 3 min) would probably decide it.",
                "Ещё от 1 до 13 блоков (от 15\u{a0}с до 3\u{a0}мин), вероятно, решат это.",
            ),
            (
                "About 1 more block (about 28 s) would probably decide 2 of them: --runs 3; for 1 no \
                 difference is in sight.",
                "Ещё примерно 1 блок (около 28\u{a0}с), вероятно, решат 2 из них: --runs 3; для 1 \
                 разницы не видно.",
            ),
        ] {
            assert_eq!(words(english), russian);
        }
    }
}
