//! Notices of trials with what to do about them, and why a pair is not run, in Russian.

use super::templates::Template;

pub(super) const NOTICES: &[Template] = &[
    (
        "{} % of the machine's CPU time was taken by the hypervisor; noticed above {} %",
        "{} % времени процессоров отнято гипервизором; замечается выше {} %",
    ),
    (
        "run when the physical host is quiet, or on one with processors of its own",
        "Измерить, когда физическая машина свободна, или там, где процессоры не общие",
    ),
    (
        "{} were swapped during the phase",
        "Во время фазы вытеснено в подкачку и возвращено {} памяти",
    ),
    (
        "swapoff -a, stop other programs, or use a smaller dataset",
        "swapoff -a, остановить другие программы или взять набор поменьше",
    ),
    (
        "the kernel killed {} task(s) for lack of memory during the phase",
        "Во время фазы ядро убило из-за нехватки памяти задач: {}",
    ),
    (
        "raise the memory limit, or stop other programs",
        "Поднять предел памяти или остановить другие программы",
    ),
    (
        "the hypervisor took {} of memory during the phase",
        "Во время фазы гипервизор забрал {} памяти",
    ),
    (
        "give the virtual machine memory of a fixed size",
        "Дать виртуальной машине память постоянного размера",
    ),
    (
        "phase {~}: processors were slowed down for their heat at least {} times; the hottest \
         sensor, {=}, had {} °C",
        "Фаза «{~}»: процессоры замедлялись от нагрева, раз не меньше {}; самый горячий датчик, \
         {=}, показал {} °C",
    ),
    (
        "phase {~}: processors were slowed down for their heat at least {} times",
        "Фаза «{~}»: процессоры замедлялись от нагрева, раз не меньше {}",
    ),
    (
        "cool the machine, or let it rest between trials, and run it again",
        "Охладить машину или давать ей отдых между испытаниями и повторить",
    ),
    (
        "workload \"{=}\" makes no call: its figures are those of the harness, not of any file \
         system",
        "Нагрузка «{=}» не делает вызовов: это данные самой программы, а не файловой системы",
    ),
    (
        "use backend = \"sync\" to measure file systems",
        "Файловые системы измеряет backend = \"sync\"",
    ),
    (
        "workload \"{=}\": at --scale {} a cycle of \"{~}\" is {} updates over {} files every {}, \
         next to {} files of the second load: {~}, and its figures are not those of the whole",
        "Нагрузка «{=}»: при --scale {} цикл — это обновлений {4}, файлов {5}, каждые {6}, рядом \
         файлов второй нагрузки {7}: {~8}, это не данные целого",
    ),
    ("files and period are scaled together", "файлы и период в одном масштабе"),
    ("files are scaled, the period is {}", "файлы в масштабе, период {}"),
    (
        "workload \"{=}\": the source lies in memory, {} of it: reading it costs no disk, and a \
         cold phase is cold but for its source",
        "Нагрузка «{=}»: источник ({}) лежит в памяти: его чтение не трогает диска, и холодная \
         фаза холодна во всём, кроме источника",
    ),
    (
        "workload \"{=}\": the source is on another file system, in {~}: reading it is in the \
         figures; it is made cold or warm, as the phase is asked to be, for every contender \
         alike; {~}",
        "Нагрузка «{=}»: источник на другой файловой системе, {~}: его чтение входит в числа, кэш \
         для него у всех участников такой, какой задан; {~}",
    ),
    ("the directory of images", "в каталоге образов"),
    (
        "images of devices lie on the same disk, which does both",
        "образы устройств на том же диске, и он делает то и другое",
    ),
    (
        "images of devices on the same disk have it do both",
        "если образы устройств на том же диске, он делает то и другое",
    ),
    (
        "use source = \"same\" to read from the file system under test",
        "С source = \"same\" источник читается с испытываемой файловой системы",
    ),
    (
        "mounted as {=}: the kernel does not pass syncfs on to the program that serves it, so \
         `durable` does not mean that anything has reached the device",
        "Смонтирована как {=}: ядро не передаёт syncfs обслуживающей программе, и «сохранность» не \
         значит, что данные дошли до устройства",
    ),
    (
        "look at the bytes written up to the unmount as well",
        "Смотреть и на байты, записанные до размонтирования",
    ),
    (
        "the work was done in a directory on {=}, which is memory: `durable` there means that the \
         calls came back, and nothing outlives a power cut",
        "Работа шла в каталоге на {=}, то есть в памяти: «сохранность» там — возврат из вызовов, и \
         отключения питания не переживёт ничто",
    ),
    (
        "the work was done in a directory on {word}: `durable` there is the end of syncfs; whether \
         the device was flushed is up to {word} and was not checked",
        "Работа шла в каталоге на {word}: «сохранность» там — конец syncfs; сброшен ли кэш \
         устройства, решает {word}, это не проверялось",
    ),
    (
        "as root, --on loop:4G makes the file systems on a device of their own",
        "У root --on loop:4G создаёт файловые системы на отдельном устройстве",
    ),
    (
        "FSARENA_TEST_FAST: a device counts as idle after {} instead of {}; a test, no measurement",
        "FSARENA_TEST_FAST: устройство считается спокойным через {} вместо {}; это проверка, а не \
         измерение",
    ),
    ("unset FSARENA_TEST_FAST and run again", "Убрать FSARENA_TEST_FAST и повторить"),
    (
        "the file system was synced {} time(s) in a phase to keep the kernel's own memory within \
         the limit",
        "Чтобы память самого ядра не вышла за предел, в фазе файловая система сбрасывалась на \
         диск, раз: {}",
    ),
    (
        "a larger memory limit (--memory) needs none",
        "С большим пределом памяти (--memory) этого не нужно",
    ),
    (
        "the caches of the machine were dropped once before the end of a warm phase",
        "До конца тёплой фазы кэш машины был сброшен один раз",
    ),
    (
        "the caches of the machine were dropped {} times before the end of a warm phase",
        "До конца тёплой фазы кэш машины был сброшен, раз: {}",
    ),
    ("end what drops caches, and run it again", "Завершить то, что сбрасывает кэш, и повторить"),
    (
        "phase {~}: every thread was at its end ({} ops at most) before the stonewall of {}: \
         nothing was cut",
        "Фаза «{~}»: все потоки закончили (не больше {} операций) раньше отсечки в {}: ничего не \
         отрезано",
    ),
    (
        "use more or larger files, or a shorter stonewall",
        "Взять больше файлов, файлы больше или отсечку короче",
    ),
    (
        "rank {} on {=} started {} (\u{b1}{}) after the first in phase {~}: {} % of the phase",
        "Процесс {} на {=} начал на {} (\u{b1}{}) позже первого, фаза «{~}»: {} % фазы",
    ),
    (
        "make the phase longer, or use at most as many ranks as the hosts have processors",
        "Удлинить фазу или взять не больше процессов, чем процессоров у машин",
    ),
    (
        "the worker had {} page faults with I/O within phase {~}: it waited for pages of its own \
         program, or of memory that was swapped out",
        "В фазе «{~2}» рабочий процесс ждал чтения страниц с диска, раз: {1}: своей программы или \
         вытесненной памяти",
    ),
    (
        "put the program on a quiet disk, and leave memory free",
        "Положить программу на свободный диск и оставить память свободной",
    ),
    (
        "the directory is on an ext4 without a journal, which does not reuse inodes that were \
         deleted in the last minutes: creating gets slower from trial to trial",
        "Каталог на ext4 без журнала, которая не берёт снова индексные дескрипторы, удалённые в \
         последние минуты: создание замедляется от испытания к испытанию",
    ),
    (
        "as root, use --on loop:SIZE, or a directory elsewhere",
        "У root — --on loop:SIZE, иначе другой каталог",
    ),
    ("it lives in the limited memory", "сама лежит в ограниченной памяти"),
];

#[cfg(test)]
mod tests {
    use super::super::own_words::words;

    #[test]
    fn notices_are_russian() {
        let taken =
            "2.7 % of the machine's CPU time was taken by the hypervisor; noticed above 1 %";
        let russian = "2,7 % времени процессоров отнято гипервизором; замечается выше 1 %";
        assert_eq!(words(taken), russian);
        let cycle = "workload \"periodic\": at --scale 0.015 a cycle of \"cycle\" is 600 updates over \
                     600 files every 4.50 s, next to 15 files of the second load: files and period \
                     are scaled together, and its figures are not those of the whole";
        let russian = "Нагрузка «periodic»: при --scale 0,015 цикл — это обновлений 600, файлов 600, \
                       каждые 4,50\u{a0}с, рядом файлов второй нагрузки 15: файлы и период в одном \
                       масштабе, это не данные целого";
        assert_eq!(words(cycle), russian);
        let machine = "This machine: Linux 6.18, 2 × AMD EPYC, 23.5 GiB of memory, a virtual machine \
                       (KVM), a cycle of 4.50 s, scaled by 0.015";
        let russian = "Эта машина: Linux 6.18, 2 × AMD EPYC, 23,5\u{a0}ГиБ памяти, виртуальная машина \
                       (KVM), цикл 4,50\u{a0}с, масштаб 0,015";
        assert_eq!(words(machine), russian);
        let faults = "the worker had 12 page faults with I/O within phase read: it waited for pages \
                      of its own program, or of memory that was swapped out";
        let russian = "В фазе «чтение» рабочий процесс ждал чтения страниц с диска, раз: 12: своей \
                       программы или вытесненной памяти";
        assert_eq!(words(faults), russian);
    }
}
