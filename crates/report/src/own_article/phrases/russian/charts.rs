//! Charts, phases, and the tables in the shape of an article in Russian.

use super::templates::Template;

/// Charts.
pub(super) const CHARTS: &[Template] = &[
    ("{=} / {~}: time to {~}", "{=}, {~}: время до {~}"),
    ("time to {~}, {unit} (less is better)", "время до {~}, {unit} (меньше — лучше)"),
    ("time to {~} (less is better)", "время до {~} (меньше — лучше)"),
    ("durable", "сохранности"),
    ("returned", "возврата"),
    ("drained", "покоя диска"),
    (
        "Median time to {~} of {contenders} in {=} / {~}; {~}.",
        "Медиана времени до {~}, {contenders}, {=}, {~}: {~}.",
    ),
    ("least {=} {}, most {=} {}", "меньше всех {=} {}, больше всех {=} {}"),
    (
        "least {=} {} in {~}, most {=} {} in {~}",
        "меньше всех {=} {} в {~}, больше всех {=} {} в {~}",
    ),
    ("no value", "нет значений"),
    ("Times as ratios to {=}", "Времена в отношении к {=}"),
    ("time ÷ time of {=}: above 1 is slower", "время ÷ время {=}: больше 1 — медленнее"),
    (
        "Time of {} contenders over {} phases as a ratio to {=}, which is 1.00; {~}.",
        "Время участников ({}) по фазам ({}) в отношении к {=}, у которого 1,00; {~}.",
    ),
    ("{=}, {~}: {} {[} × the time of {=}, {~}", "{=}, {~}: {} {[} × время {=}, {~}"),
    ("{=}, {~}: {} × the time of {=}, {~}", "{=}, {~}: {} × время {=}, {~}"),
    ("{=}, {~}: {} {[} × the time of {=}", "{=}, {~}: {} {[} × время {=}"),
    ("{=}, {~}: {} × the time of {=}", "{=}, {~}: {} × время {=}"),
    ("UNDECIDED: no difference shown", "не решено"),
    ("of medians; not asked whether it is real", "медиан; значимо ли, не спрошено"),
    ("FASTER", "быстрее"),
    ("SLOWER", "медленнее"),
    ("SAME", "одинаково"),
    ("UNDECIDED", "не решено"),
    ("reference", "база"),
    ("shown to be the same", "показано: одинаково"),
    ("nothing shown, or not asked", "не показано или не спрошено"),
    ("{=}, block {}: {}", "{=}, блок {}: {}"),
    ("{=}: {}, median of {trials}", "{=}: {}, медиана, {trials}"),
    (
        "{=} and this machine, as ratios to the best of each",
        "{=} год и эта машина, в отношении к лучшему своего времени",
    ),
    (
        "rate ÷ best rate of its own time (1 is the best)",
        "скорость ÷ лучшая своего времени (1 — лучшая)",
    ),
    (
        "time ÷ shortest time of its own time (1 is the best, less is better)",
        "время ÷ наименьшее своего времени (1 — лучшее, меньше — лучше)",
    ),
    (
        "value ÷ least value of its own time (1 is the best, less is better)",
        "значение ÷ наименьшее своего времени (1 — лучшее, меньше — лучше)",
    ),
    (
        "How many times the largest value of {=} and of this machine is the least: {~}.",
        "Во сколько раз наибольшее значение {=} года и этой машины больше наименьшего: {~}.",
    ),
    ("{~}: {} then, {} now; {~}", "{~}: тогда {}, теперь {}; {~}"),
    ("{~}: {} then, {} now", "{~}: тогда {}, теперь {}"),
    (
        "{~}: {=}: {} {unit}, {} × the best of its time",
        "{~}: {=}: {} {unit}, {} × лучшее своего времени",
    ),
    ("{} {unit}, {} × the best of its time", "{} {unit}, {} × лучшее своего времени"),
    ("{~} · {,}", "{~} · {,}"),
    ("{=} / {phase}", "{=}, {~}"),
    ("{word} {phase}", "{=} ({~})"),
    ("{=} in {word} {phase}", "{=} в {=} ({~})"),
];

/// Tables of ours in the shape of an article.
pub(super) const OURS: &[Template] = &[
    (
        "As in {=}: RUN {=}, rates / CPU load, %, by {~} (as the article)",
        "Как в {=} году: серия {=}, скорость / загрузка процессора, %, по {~} (как в статье)",
    ),
    (
        "As in {=}: RUN {=}, rates / CPU load, %, by {~}",
        "Как в {=} году: серия {=}, скорость / загрузка процессора, %, по {~}",
    ),
    (
        "As in {=}: RUN {=}, seconds by {~} (as the article)",
        "Как в {=} году: серия {=}, секунды по {~} (как в статье)",
    ),
    ("As in {=}: RUN {=}, seconds by {~}", "Как в {=} году: серия {=}, секунды по {~}"),
    ("`returned`", "возврату из вызовов"),
    ("`durable`", "сохранности на диске"),
    ("`drained`", "покою диска"),
    (
        "In memory / on disk, ratios of medians by {~}",
        "В памяти / на диске, отношения медиан по {~}",
    ),
    (
        "64-bit / 32-bit programs, as table 3: ratios of medians of the task clock",
        "Программы в 64 и в 32 бита, как в таблице 3: отношения медиан процессорного времени",
    ),
    (
        "32-bit programs under a 64-bit kernel, of the same versions; the article had a 32-bit \
         kernel under its 32-bit programs, and seconds by the wall clock.",
        "32-битные программы тех же версий под 64-битным ядром; в статье и ядро под ними было \
         32-битным, а секунды шли по часам.",
    ),
    (
        "64-bit / 32-bit, as table 3: ratios of medians by {~}",
        "64 бита / 32 бита, как в таблице 3: отношения медиан по {~}",
    ),
    (
        "Intel / AMD, as table 4: ratios of medians by {~}",
        "Intel / AMD, как в таблице 4: отношения медиан по {~}",
    ),
    (
        "this machine, {=}: as in 2008 within \u{b1}5 % of 1 on",
        "эта машина, {=}: как в 2008 году, 1 в пределах \u{b1}5\u{a0}%",
    ),
    ("this machine, {=}", "эта машина, {=}"),
    ("2008, {=}", "2008 год, {=}"),
    ("{} / {}", "{} / {}"),
    ("{} / -", "{} / —"),
    ("{~}, KB/s", "{~}, КБ/с"),
    ("{~}, files/s", "{~}, файлов/с"),
    (
        "Ours: medians over trials, CPU from start to `durable` in all tables (where the phase was too \
         short for a load, processor time of an op; - where neither is known). Without a mark: {~}",
        "Здесь медианы по испытаниям; процессор — от начала до сохранности во всех таблицах (где фаза \
         слишком коротка для загрузки — процессорное время операции; прочерк, если неизвестно ни то ни \
         другое). Без пометки: {~}",
    ),
    (
        "Ours: medians over trials. Without a mark: {~}",
        "Здесь медианы по испытаниям. Без пометки: {~}",
    ),
    (
        "{~}, of all planned trials, in {} of memory.{~}",
        "{~}, по всем намеченным испытаниям, при {} памяти.{~}",
    ),
    (
        "{~}, of all planned trials, in {} of memory.",
        "{~}, по всем намеченным испытаниям, при {} памяти.",
    ),
    ("{~}, of all planned trials.{~}", "{~}, по всем намеченным испытаниям.{~}"),
    ("{~}, of all planned trials.", "{~}, по всем намеченным испытаниям."),
    ("warm, or in memory", "тёплый кэш или память"),
    (
        " Datasets are scaled by {}: these figures are not to be compared with the article's, only with \
         each other.",
        " Объёмы данных умножены на {}: эти числа нельзя сравнивать с числами статьи, только \
         между собой.",
    ),
    ("Without a figure, and why", "Чего нет и почему"),
    ("Ours, otherwise than the article", "Что здесь не так, как в статье"),
    (
        "Ours: medians over trials, each by the mean of its cycles; work time by `returned`, as in the \
         article; load and rate over the whole period. MB are 10^6 bytes.",
        "Здесь медианы по испытаниям, каждое — среднее своих циклов; время работы — до возврата из \
         вызовов, как в статье; загрузка и скорость — за весь период. МБ — 10^6 байт.",
    ),
    ("This machine: {,}, a cycle of {}, scaled by {}", "Эта машина: {,}, цикл {}, масштаб {}"),
    ("This machine: {,}, a cycle of {}", "Эта машина: {,}, цикл {}"),
    ("{} of memory", "{} памяти"),
    ("a virtual machine ({=})", "виртуальная машина ({=})"),
    ("block", "блок"),
    ("fragment or cluster", "фрагмент или кластер"),
    ("work time", "время работы"),
    ("disk busy", "диск занят"),
    ("written", "записано"),
    ("a cycle", "за цикл"),
    ("{=}, disturbed", "{=}, с помехой"),
    ("Work time", "Время работы"),
    ("Disk busy", "Диск занят"),
    ("Written", "Записано"),
    ("Data copy", "Копирование данных"),
    ("Data delete", "Удаление данных"),
    ("Ports untar", "Распаковка портов"),
    ("Ports copy", "Копирование портов"),
    ("Ports delete", "Удаление портов"),
    ("Big file copy", "Копирование большого файла"),
    ("{~}, block {}", "{~}, блок {}"),
    ("{~}, median", "{~}, медиана"),
    (
        "partial: ended before the end of the work, in no figure",
        "не доведена до конца, в числа не вошла",
    ),
    ("WRONG CONTENTS: in no figure", "неверное содержимое: в числа не вошла"),
    ("- is a trial that is not there.", "Прочерк — испытания нет."),
];

/// In what the built-in experiments do otherwise than the articles.
pub(super) const NOTES: &[Template] = &[
    (
        "cp -a instead of cp -r: it keeps times, modes and links, which is more calls a file",
        "cp -a вместо cp -r: сохраняются времена, права и ссылки, то есть больше вызовов на файл",
    ),
    (
        "a fresh file system for each repeat, instead of the same one mounted anew",
        "для каждого повтора новая файловая система, а не прежняя, смонтированная заново",
    ),
    (
        "sync and the draining of the device are measured next to the time of the article",
        "рядом со временем статьи измеряются sync и запись из кэша устройства",
    ),
    (
        "the article varied block and fragment of UFS2; ext4 and xfs have blocks or clusters alone",
        "в статье менялись блок и фрагмент UFS2; у ext4 и xfs есть только блоки или кластеры",
    ),
    (
        "it does not state the sizes of its files; here they are drawn, 314 MB in all",
        "размеры файлов в ней не названы; здесь они случайны, всего 314 МБ",
    ),
    (
        "nor how many were updated in place and how many made again; here by stated shares",
        "не сказано, сколько обновлялось на месте и сколько создавалось заново; здесь доли заданы",
    ),
    (
        "its figures are averages of hours; here of three cycles a trial, from a fresh file system",
        "её числа — средние за часы; здесь — трёх циклов испытания на новой файловой системе",
    ),
    (
        "it does not say what was cached; here nothing is put out of the caches",
        "не сказано, что было в кэше; здесь из кэша ничего не удаляется",
    ),
    (
        "its script of 1,000 small files is the second load of the third of four cycles",
        "её скрипт с 1\u{a0}000 маленьких файлов — вторая нагрузка третьего из четырёх циклов",
    ),
    (
        "the data are copied in first and read from the page cache, as in the article",
        "данные сначала копируются и читаются из страничного кэша, как в статье",
    ),
    ("root does the work, in the article a user", "работает root, в статье — пользователь"),
    (
        "32-bit programs under a 64-bit kernel; those of the article had a 32-bit kernel",
        "32-битные программы под 64-битным ядром; в статье под ними было 32-битное ядро",
    ),
    (
        "the same versions of Debian's packages on both sides, instead of two distributions",
        "с обеих сторон одни и те же версии пакетов Debian, а не два дистрибутива",
    ),
    (
        "the time on processors is compared; the article has elapsed time, in whole seconds",
        "сравнивается процессорное время; в статье — прошедшее, в целых секундах",
    ),
    (
        "the article does not state how often it repeated; here each repeat has a fresh file \
         system",
        "сколько было повторов, в статье не сказано; здесь у каждого новая файловая система",
    ),
    (
        "nor what was in the caches: here each trial begins cold",
        "не сказано и что было в кэше: здесь каждое испытание начинается с холодного",
    ),
    (
        "nor where the source lay: here it lies on the same file system as the copy",
        "не сказано, где лежал источник: здесь — на той же файловой системе, что и копия",
    ),
    ("the loop device does no direct I/O", "устройство loop работает без прямого ввода-вывода"),
    ("put the images elsewhere", "Положить образы в другое место"),
    ("a sample by hand", "образец, составленный вручную"),
];
