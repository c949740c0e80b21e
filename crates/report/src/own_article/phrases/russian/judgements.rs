//! The figures behind what becomes of the conclusions of the old articles, and the rule by which
//! they are judged.

use super::templates::Template;

pub(super) const RULE: &[Template] = &[(
    fsarena_reference::RULE,
    "Одно правило для всех лет: названное число (вдвое, на 10 %) подтверждается, если отношение \
     собственных чисел статьи отличается от названного не больше чем на 10 %; два числа различны, \
     начиная с 10 %; «в несколько раз» — это 2 и больше, «немного» — до 1,25. Это должно следовать из \
     всего, что оставляют открытым часы с целыми секундами и опубликованные повторы, иначе решить \
     нельзя.",
)];

pub(super) const WHYS: &[Template] = &[
    // 2003
    (
        "ext3 {} KB/s and {} KB/s: {} times less; the others: {#} times less",
        "ext3 {} КБ/с и {} КБ/с: в {} раза меньше; остальные: {#} раза",
    ),
    (
        "times the rate of ext3: {#}; of 5,000 files: {#}",
        "во столько раз быстрее ext3: {#}; на 5\u{a0}000 файлах: {#}",
    ),
    (
        "first in both tests of writing small files, and in {} of the {} others; in {} it and the \
         first differ by less than 10 %; its places there, of 8: {#}",
        "первая в обоих тестах записи маленьких файлов и в {} из {} остальных; ещё в {} от первой \
         её отделяет меньше 10 %; её места там из 8: {#}",
    ),
    (
        "fastest ÷ slowest: {} writing, {} reading",
        "самая быстрая ÷ самая медленная: запись {}, чтение {}",
    ),
    (
        "{} % by the means of both families, {} of the rate; as stated is {} to {}; pair by pair {} to \
         {} %",
        "{} % по средним обоих семейств, {} скорости; названному отвечает от {} до {}; по парам от {} \
         до {} %",
    ),
    (
        "{=} {} KB/s, {} times the next; {=} {} KB/s, {} times less than the next",
        "{=} {} КБ/с, в {} раза больше следующей; {=} {} КБ/с, в {} раза меньше предыдущей",
    ),
    (
        "written ÷ read: {} / {} = {}; as stated is {} to {}; of the others: {#}",
        "запись ÷ чтение: {} / {} = {}; названному отвечает от {} до {}; у остальных: {#}",
    ),
    (
        "times slower than in order: {#}; taken as almost too much: {} or more",
        "во столько раз медленнее, чем по порядку: {#}; «почти непосильно» — это {} и больше",
    ),
    (
        "it is first, and by more than a little: {} times the next ({=}), {} times the last ({=})",
        "она первая, и не «чуть»: в {} раза больше следующей ({=}), в {} раза больше \
         последней ({=})",
    ),
    (
        "{=} {} files/s, {} times the next ({=})",
        "{=} {} файлов/с, в {} раза больше следующей ({=})",
    ),
    ("times the rate of reiserfs: {#}", "во столько раз быстрее reiserfs: {#}"),
    (
        "with ÷ without them, 50,000 small files: written {#}; deleted {#}; read {#}",
        "с ними ÷ без них, 50\u{a0}000 маленьких файлов: запись {#}; удаление {#}; чтение {#}",
    ),
    (
        "UFS2 ÷ UFS1 is {} to {}, and below 1 in {} of {} pairs; without repeats no one knows how much \
         of that is chance",
        "UFS2 ÷ UFS1 от {} до {}, меньше 1 в {} парах из {}; без повторов неизвестно, сколько в этом \
         случайного",
    ),
    (
        "geometric means over the 7 tests, as shares of the best: {#}",
        "средние геометрические по 7 тестам, в долях лучшего: {#}",
    ),
    (
        "50,000 files of 256 B are {}, in blocks of 4 KiB {}; 5,000 files {} or {}, which 64 MB hold: \
         whether the program waited for the disk is not stated",
        "50\u{a0}000 файлов по 256 Б — это {}, в блоках по 4 КиБ {}; 5\u{a0}000 файлов — {} или {}, что \
         помещается в 64 МБ: ждала ли программа диска, не сказано",
    ),
    // 2005
    (
        "PATA / SATA: {#}; as stated is {} to {}; outside whatever the clock cut off: {#}",
        "PATA / SATA: {#}; названному отвечает от {} до {}; вне этого, что бы ни отсекли часы: {#}",
    ),
    (
        "Pentium 4 / AMD64: {#}; taken as nearly: 10 %; more than the clock explains: {#}",
        "Pentium 4 / AMD64: {#}; «почти» — это 10 %; больше, чем объясняют часы: {#}",
    ),
    ("Pentium 4 / AMD64: {#}", "Pentium 4 / AMD64: {#}"),
    (
        "with the machine changed the operating system: {=} against {=}",
        "вместе с машиной сменилась система: {=} против {=}",
    ),
    (
        "{} pairs of rows differ in the file system alone; and the same disk in another machine \
         differs in {#}",
        "одной лишь файловой системой различаются {} пар строк; и тот же диск в другой машине даёт \
         иное: {#}",
    ),
    (
        "read and written together, no copy moves more than {}, under the {} of the slower interface; \
         that leaves the disks (of different models) and their drivers",
        "чтение и запись вместе ни в одном копировании не больше {}, а медленный интерфейс даёт {}; \
         остаются диски (разных моделей) и их драйверы",
    ),
    (
        "4200 / 7200 rpm: {#}; system and file system are others too",
        "4200 / 7200 об/мин: {#}; система и файловая система тоже другие",
    ),
    // 2007
    (
        "least at {=}; {=}: {} {#} of its work time, {} {#} of its load; {=}: {} {#} of its work time, \
         {} {#} of its load",
        "меньше всего при {=}; {=}: {} {#} его времени работы, {} {#} его загрузки; {=}: {} {#} его \
         времени работы, {} {#} его загрузки",
    ),
    (
        "{=} is the least of all, but {=} is only {} {#} of it; how far single cycles lay apart is not \
         published",
        "{=} меньше всех, но {=} — лишь {} {#} от него; как расходились отдельные циклы, не \
         опубликовано",
    ),
    (
        "{#} MB a cycle; but blocks grew with fragments in all rows save the last",
        "{#} МБ за цикл; но вместе с фрагментами росли и блоки во всех строках, кроме последней",
    ),
    (
        "{} {#} times as much; as stated is {} to {}; the {} more are right",
        "в {} {#} раза больше; названному отвечает от {} до {}; лишние {} верны",
    ),
    (
        "it would be enough for {=}, which wrote {} fragments a file; but of the others it leaves at \
         least {#} unexplained",
        "этого хватило бы для {=}, где на файл записано {} фрагмента; но у остальных остаётся \
         необъяснённым не меньше чем {#}",
    ),
    (
        "work time {} {#}, load {} {#}, of which nearly twice is {} to {}; {} more a cycle, of which \
         1,000 files of one fragment are {}; {} are more than the period of {}, so that cycles met",
        "время работы {} {#}, загрузка {} {#}, «почти вдвое» — это от {} до {}; за цикл больше на {}, \
         из них 1\u{a0}000 файлов по фрагменту — {}; {} больше периода в {}, так что циклы встретились",
    ),
    (
        "{} of 7 rows is disturbed, the one with fragments of 65536 bytes",
        "помеха была в {} строке из 7, с фрагментами в 65536 байт",
    ),
    (
        "one other share is printed, {=}: work time {} {#}, load {} {#} of those of {=}",
        "напечатана одна другая доля, {=}: время работы {} {#}, загрузка {} {#} от {=}",
    ),
    // 2008
    (
        "{} of {} printed means differ from the means of all runs; {} of {} are (first + last) / 2: \
         the middle runs were not counted",
        "{} из {} напечатанных средних не равны средним всех прогонов; {} из {} — это (первый + \
         последний) / 2: средние прогоны не учтены",
    ),
    (
        "{} of {} do; from the true means {} of {} come out otherwise",
        "{} из {} следуют; из верных средних {} из {} получаются иными",
    ),
    (
        "of the {} tests repeated five times, all in memory, {} vary by more than the clock; of the {} \
         repeated three times, {} do; the widest, {#}, took {#}",
        "из {} тестов с пятью повторами, все в памяти, больше погрешности часов расходятся {}; из {} с \
         тремя повторами — {}; шире всех {#}: {#}",
    ),
    (
        "64 / 32 on AMD and Intel: {#}; not clear of each other is not alike: one second of the clock is \
         up to {} % of these",
        "64 / 32 на AMD и Intel: {#}; «не различимы» не значит «одинаковы»: одна секунда часов — до {} \
         % от них",
    ),
    (
        "64 / 32: {#}, with the clock {} {#}; as stated is {} to {}",
        "64 / 32: {#}, с учётом часов {} {#}; названному отвечает от {} до {}",
    ),
    (
        "{} of {} are clear of repeats and clock; not so: {#}",
        "{} из {} различимы при любых повторах и часах; не различимы: {#}",
    ),
    (
        "tmpfs / ext3 above 1 by the printed means: {#}; by the true means: {#}",
        "tmpfs / ext3 больше 1 по напечатанным средним: {#}; по верным средним: {#}",
    ),
    (
        "{} of {} ratios tmpfs / ext3 lie within 10 % of 1 whatever repeats and clock did; farther by \
         the true means: {#}",
        "{} из {} отношений tmpfs / ext3 отличаются от 1 не больше чем на 10 % при любых повторах и \
         часах; дальше по верным средним: {#}",
    ),
    ("64 / 32: {#}", "64 / 32: {#}"),
    ("Intel / AMD: {#}", "Intel / AMD: {#}"),
    ("tmpfs / ext3: {#}", "tmpfs / ext3: {#}"),
    // 2010
    (
        "HDD / SSD: {#} (bounds are not reached); as stated is {} to {}; outside 1.50 to 2.00 whatever \
         the clock cut off: {#}",
        "HDD / SSD: {#} (границы не достигаются); названному отвечает от {} до {}; вне 1,50–2,00, что \
         бы ни отсекли часы: {#}",
    ),
    (
        "{=} / {=}: {#}; more than the clock explains: {#}; the error of the experiment is \
         not stated",
        "{=} / {=}: {#}; больше, чем объясняют часы: {#}; погрешность опыта не названа",
    ),
    (
        "{} and {} by a clock of whole seconds, writeback / ordered: {#}; repeats are not stated; a \
         difference is told from 10 % on, whatever the clock cut off",
        "{} и {} по часам с целыми секундами, writeback / ordered: {#}; о повторах не сказано; разница \
         различима, начиная с 10 %, что бы ни отсекли часы",
    ),
    (
        "{=} / {=}: {#}; repeats are not stated; a difference is told from 10 % on, whatever the clock \
         cut off",
        "{=} / {=}: {#}; о повторах не сказано; разница различима, начиная с 10 %, что бы ни отсекли \
         часы",
    ),
    (
        "memory and what was in the caches are not stated; MB/s, {#}: in {} of {} rows a short copy is \
         faster than that of the file of 3.4 GB, which reads or writes in the page cache would explain",
        "память и содержимое кэша не названы; МБ/с, {#}: в {} строках из {} короткое копирование быстрее \
         копирования файла в 3,4 ГБ, что объяснили бы чтение или запись в страничный кэш",
    ),
    (
        "229 MB / 12,000 = {} bytes each; with ten times as many entries it is {}",
        "229 МБ / 12\u{a0}000 = {} байт на каждый; если их в десять раз больше — {}",
    ),
    ("outside of {#}", "вне {#}"),
    (
        "none lies outside whatever the clock cut off",
        "вне этого ничего нет, что бы ни отсекли часы",
    ),
];
