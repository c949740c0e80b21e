//! Conditions, cautions and reasons in Russian: what `show` and the page say in English.

use super::templates::Template;

/// Conditions: facts, headings and cells.
pub(super) const CONDITIONS: &[Template] = &[
    ("kernel", "ядро"),
    ("distribution", "дистрибутив"),
    ("memory", "память"),
    ("swap", "подкачка"),
    ("virtualisation", "виртуализация"),
    ("clock source", "источник часов"),
    ("frequency governor", "управление частотой"),
    ("steal", "отнято гипервизором"),
    ("none", "нет"),
    ("none that says so", "не заявлена"),
    ("none to be trials by this kernel", "этому ядру не видно"),
    ("none to be seen by this kernel", "этому ядру не видно"),
    ("maker of {=}", "создание {=}"),
    ("prints no version", "версию не печатает"),
    ("contender", "участник"),
    ("contenders", "участники"),
    ("made by", "создана командой"),
    ("mount options asked for", "заданные параметры монтирования"),
    ("mount options in force", "действующие параметры монтирования"),
    ("Contenders as they were made and mounted", "Участники: как созданы и смонтированы"),
    ("not all its trials were alike: {~}", "не все его испытания одинаковы: {~}"),
    ("workload", "нагрузка"),
    ("phases", "фазы"),
    ("caches asked for", "кэш задан"),
    ("caches had", "кэш был"),
    ("Caches and memory of the phases", "Кэш и память по фазам"),
    ("all", "все"),
    ("cold", "холодный"),
    ("cold-start", "холодный в начале"),
    ("cold-clients", "холодный у клиентов"),
    ("cold clients", "холодный у клиентов"),
    ("warm", "тёплый"),
    ("warm by nature", "тёплый по природе"),
    ("warm by nature: {~}", "тёплый по природе: {~}"),
    ("not warm", "не тёплый"),
    ("unknown", "неизвестно"),
    ("not known", "неизвестно"),
    ("it has no device: warm by nature", "нет устройства: тёплый по природе"),
    ("warm, though cold was asked for: {~}", "тёплый, хотя задан холодный: {~}"),
    ("not warm, though warm was asked for: {~}", "не тёплый, хотя задан тёплый: {~}"),
    ("{} by {=}", "{}, {=}"),
    ("{} of the guest", "{} гостя"),
    ("not limited to {}: {~}", "не ограничена {}: {~}"),
    ("not limited", "не ограничена"),
    ("none in {over_phases}", "ничего, по {over_phases}"),
    (
        "median {} of the machine's time over {over_phases}, at worst {} (trial {}, {~})",
        "медиана {} времени машины по {over_phases}, в худшем случае {} (испытание {}, {~})",
    ),
    (
        "not known: no phase has the counter and is long enough",
        "неизвестно: нет фаз со счётчиком и достаточно длинных",
    ),
];

/// What to mind; and what is not decided.
pub(super) const CAUTIONS: &[Template] = &[
    (
        "cut off after {} of at most {blocks} ({~}), since {~}",
        "Прервана после {} из самое большее {of_blocks} ({~}): {~}",
    ),
    (
        "cut off after {} of {blocks} ({~}), since {~}",
        "Прервана после {} из {of_blocks} ({~}): {~}",
    ),
    ("{} of at most {trials}, {} left", "{} из самое большее {of_trials}, осталось {}"),
    ("{} of {trials}, {} left", "{} из {of_trials}, осталось {}"),
    ("its budget of {} was used up", "отведённое время ({}) вышло"),
    ("its budget was used up", "отведённое время вышло"),
    ("it was interrupted", "её прервали"),
    ("it could not go on", "она не могла продолжаться"),
    (
        "it is not at its end, or its process died without a word",
        "она не закончена, или её процесс погиб",
    ),
    (
        "others used the machine: {~}; {} more of this kind",
        "Машину занимали другие: {~}; ещё таких: {}",
    ),
    ("others used the machine: {~}", "Машину занимали другие: {~}"),
    (
        "{=}: {} % {~} in block {}, {} % in the median block; blocks that stand out: {=}",
        "{=}: {} % {~} в блоке {}, {} % в среднем блоке; выделяются блоки: {=}",
    ),
    (
        "{=}: {} % {~} in block {}, {} % in the median block",
        "{=}: {} % {~} в блоке {}, {} % в среднем блоке",
    ),
    (
        "{=}: {} % {~} in trials of {=}, {} % in those of {=} ({=}): that is in their comparison",
        "{=}: {} % {~} в испытаниях {=}, {} % в испытаниях {=} ({=}): это вошло в их сравнение",
    ),
    (
        "of the machine's CPU time was taken by the hypervisor",
        "времени процессоров отнято гипервизором",
    ),
    ("of the machine ran other programs than the worker", "машины занимали другие программы"),
    (
        "of the machine was busy with something else than the worker, the kernel's own threads \
         included",
        "машины занимало не испытание, считая и потоки ядра",
    ),
    ("the machine before the RUN: {~}; {} more", "Машина перед серией: {~}; ещё замечаний: {}"),
    ("the machine before the RUN: {~}", "Машина перед серией: {~}"),
    ("fsarena doctor says what to do", "Что делать, говорит fsarena doctor"),
    ("measure again on a quiet machine", "Измерить снова на незанятой машине"),
    (
        "not proved cold, so not compared with cold ones: {,} ({~})",
        "Холодный кэш не доказан, поэтому с холодными не сравнивается: {,} ({~})",
    ),
    (
        "not warm, so in no comparison: {,} ({~})",
        "Кэш не тёплый, поэтому не сравнивается: {,} ({~})",
    ),
    (
        "end what drops caches or needs the memory, and run it again",
        "Завершить то, что сбрасывает кэш или занимает память, и повторить",
    ),
    ("memory not limited: {,} ({~})", "Память не ограничена: {,} ({~})"),
    ("{=} has no figure in {,}: {~}", "{=}: нет данных в {,}: {~}"),
    ("{,} failed in {trials} of {,}: {~}", "{,}: сбой, {trials} в {,}: {~}"),
    (
        "no verdict on {,}: the rate or the time is set, no latency or amount of work is known, and \
         nothing is left free to compare",
        "Решения нет о {,}: скорость или время заданы, задержка и объём работы неизвестны, сравнивать \
         нечего",
    ),
    (
        "the baseline {=} has no figure, so nothing is compared with it",
        "У базового участника {=} нет данных, с ним ничего не сравнивается",
    ),
    (
        "what the looks decided when they were taken is not what the stored trials say now",
        "Решённое при промежуточных анализах не совпадает с тем, что дают сохранённые испытания",
    ),
    (
        "{} % of the machine ran other programs than the worker; noticed above {} %",
        "{} % машины занимали другие программы; замечается выше {} %",
    ),
    (
        "{} % of the time a task waited for a processor; noticed above {} %",
        "{} % времени задача ждала процессора; замечается выше {} %",
    ),
    (
        "{} % of the time a task waited for memory; noticed above {} %",
        "{} % времени задача ждала памяти; замечается выше {} %",
    ),
    (
        "stop other programs; a file system served by a process (FUSE) is one of them",
        "Остановить другие программы; к ним относится и файловая система, которую обслуживает \
         процесс (FUSE)",
    ),
    (
        "stop other programs, or use more processors",
        "Остановить другие программы или взять больше процессоров",
    ),
    (
        "stop other programs, or use a smaller dataset",
        "Остановить другие программы или взять набор поменьше",
    ),
    (
        "workload \"{=}\": the dataset {=} is scaled by {}: its figures are not those of the whole",
        "Нагрузка «{=}»: набор {=} взят в масштабе {}, это не данные целого",
    ),
    (
        "workload \"{=}\": the dataset {=} is scaled by {}, which is {} of its bytes: its figures \
         are not those of the whole",
        "Нагрузка «{=}»: набор {=} взят в масштабе {} ({} его байтов), это не данные целого",
    ),
    ("use --scale 1 for the whole", "Целое — это --scale 1"),
    ("at worst, {~} ({trials})", "В худшем случае: {~} ({trials})"),
    ("{~} ({trials})", "{~} ({trials})"),
    ("warm, and not compared with cold ones", "тёплый, с холодными не сравнивается"),
    ("cold, and not compared with warm ones", "холодный, с тёплыми не сравнивается"),
    (
        "Holds {~}; `fsarena compare` joins RUNs of other days.",
        "Верно {~}; серии других дней соединяет `fsarena compare`.",
    ),
    ("on this machine, {~}, {~}", "для этой машины, {~}, {~}"),
    ("this boot", "этой загрузки"),
    ("in this minute", "этой минуты"),
    ("in these {} minutes", "этих {} минут"),
    ("in these {} hours", "этих {} часов"),
    ("these {} boots", "этих {} загрузок"),
    ("at these {} times", "этих {} сеансов"),
];

/// What is not decided yet.
pub(super) const OPEN: &[Template] = &[
    ("Not known yet: {} of {}. {~}", "Пока не решено: {} из {}. {~}"),
    ("Not known yet: {} of {}.", "Пока не решено: {} из {}."),
    ("Not known yet: {} of {}; {~}.", "Пока не решено: {} из {}; {~}."),
    ("no difference is in sight", "разницы не видно"),
    ("for {} of them no difference is in sight", "для {} из них разницы не видно"),
    (
        "{~} would probably decide {~}; for {} no difference is in sight.",
        "{~}, вероятно, решат {~}; для {} разницы не видно.",
    ),
    ("{~} would probably decide {~}.", "{~}, вероятно, решат {~}."),
    ("{} to {} more blocks ({} to {})", "Ещё от {} до {} блоков (от {} до {})"),
    ("{} to {} more blocks", "Ещё от {} до {} блоков"),
    ("{} or more blocks ({} or longer)", "Ещё блоков: {} или больше (от {})"),
    ("{} or more blocks", "Ещё блоков: {} или больше"),
    ("About {more_blocks} (about {})", "Ещё примерно {more_blocks} (около {})"),
    ("About {more_blocks}", "Ещё примерно {more_blocks}"),
    ("{} of them: {=}", "{} из них: {=}"),
    ("{} of them", "{} из них"),
    ("it: {=}", "это: {=}"),
    ("them: {=}", "их: {=}"),
    ("it", "это"),
    ("them", "их"),
];

/// Reasons.
pub(super) const REASONS: &[Template] = &[
    ("not run: {~}", "не испытывалась: {~}"),
    ("failed: {~}", "сбой: {~}"),
    ("not run", "не испытывалась"),
    ("failed", "сбой"),
    ("partial", "не доведена до конца"),
    ("interrupted", "прервана"),
    ("no trial yet", "испытаний ещё не было"),
    ("no trial", "испытаний нет"),
    ("{=} is not installed; install the package {=}", "{=} не установлена; нужен пакет {=}"),
    ("{=} is not installed", "{=} не установлена"),
    ("no trial gave this figure", "ни одно испытание не дало этого числа"),
    ("{=} is not installed; {=}…", "{=} не установлена"),
    ("{=} is missing", "нет {=}"),
    (
        "this kernel has no {=} (not in /proc/filesystems)",
        "в этом ядре нет {=} (нет в /proc/filesystems)",
    ),
    ("all its trials left wrong contents", "все испытания оставили неверное содержимое"),
    ("too short for a CPU load", "слишком коротка для загрузки процессора"),
    ("its CPU load was not recorded", "загрузка процессора не записана"),
    ("no phase of this RUN repeats it", "ни одна фаза серии его не повторяет"),
    (
        "the time until the calls returned was not asked",
        "о времени до возврата из вызовов вопроса не было",
    ),
    (
        "{=} and {=}: no difference can be told of then, {} and {}",
        "{=} и {=}: тогдашней разницы не различить, {} и {}",
    ),
    ("{=} and {=}: undecided now", "{=} и {=}: теперь не решено"),
    ("{=} and {=}: not compared in this RUN", "{=} и {=}: в этой серии не сравнивались"),
    (
        "{=} and {=}: now it is the machine by which they differ",
        "{=} и {=}: теперь они различаются по вине машины",
    ),
    ("{=}: it has no figure here", "{=}: здесь нет данных"),
    ("all tests", "все тесты"),
    ("{} of {planned}; {~}", "{} из {of_planned}; {~}"),
    ("{} of {planned}", "{} из {of_planned}"),
    ("warm by the experiment: cold only at the start", "тёплый по опыту: холодный только в начале"),
    ("warm, as asked", "тёплый, как задано"),
    ("cold, as asked", "холодный, как задано"),
    ("memory not limited, as asked", "память не ограничена, как задано"),
    ("memory {} by {=}", "память {}, {=}"),
];
