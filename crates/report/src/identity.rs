//! A RUN without what says whose machine it was done on, so that it can be passed on.
//!
//! Removed everywhere: the name of the host, names of users and home directories as far as the RUN
//! itself tells them, serial numbers and world-wide names of devices, UUIDs (those of boots get a
//! short pseudonym that stays the same over RUNs). Everything else stays, so that the views of the
//! result are those of the RUN. Contenders are matched with records by their identity, which is a
//! hash of levels: where a path among these changes, so does the identity, in plan and records
//! alike.
//!
//! A name that the plan itself uses for something else (a host that is called `ext4`) is no secret
//! and stays: removing it would take labels and commands apart. Names of facts and options (keys)
//! are never changed.

use fsarena_model::contender::ContenderId;
use fsarena_model::phase::Workload;
use fsarena_model::record::{PhaseRecord, TrialRecord, Window};
use fsarena_model::run::{RunHeader, RunSession};
use fsarena_model::sample::{Counters, LatencyHistogram, Series};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::mem;

/// Keys below which a single word is free text. Elsewhere it is a word of ours or a name from the
/// plan (`kind`, `op`, `name`, `label`), which a host or user may share by chance.
fn is_free_text(key: &str) -> bool {
    matches!(
        key,
        "age_image_dir"
            | "argv"
            | "arguments"
            | "cleanup"
            | "client_mount"
            | "command"
            | "create"
            | "destroy"
            | "devices"
            | "error"
            | "figures"
            | "hardware"
            | "hostname"
            | "hosts"
            | "image_dir"
            | "mkfs_argv"
            | "path"
            | "prepare"
            | "reading"
            | "reason"
            | "remedy"
            | "settings"
            | "text"
            | "title"
            | "unmount"
            | "why"
    )
}

/// Facts of a device that name one piece of hardware: `serial`, `wwid`, `dm_uuid`, …
fn names_hardware(fact: &str) -> bool {
    ["serial", "wwid", "wwn", "uuid", "eui", "nguid"].iter().any(|part| fact.contains(part))
}

/// Names that are known otherwise than from a RUN.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownNames<'a> {
    /// Of users: wherever one of these stands alone, it goes.
    pub users: &'a [String],
    /// Of workloads that everybody has: a host that is called as a part of one (`vm`, `mail`) is no
    /// secret where the RUN has that workload.
    pub workloads: &'a [&'a str],
}

/// A RUN, the pieces it was done in and its records, without serial numbers and the names of hosts,
/// users and home directories; of several hosts each keeps a number. Names of users are those that
/// a path or address of the RUN tells, such as `/home/NAME`, and `names`, which are known
/// otherwise: wherever one of these stands alone, it goes.
///
/// # Panics
/// Never in practice: everything here was read from JSON and is representable as JSON.
#[must_use]
pub fn anonymous(
    header: &RunHeader,
    sessions: &[RunSession],
    records: &[TrialRecord],
    names: &[String],
) -> (RunHeader, Vec<RunSession>, Vec<TrialRecord>) {
    let names = KnownNames { users: names, workloads: &[] };
    let (header, sessions, records, _) =
        anonymous_with::<()>(header, sessions, (records, &[]), names);
    (header, sessions, records)
}

/// The same with the records of crash runs, of whatever type.
///
/// # Panics
/// As [`anonymous`].
#[must_use]
pub fn anonymous_with<C: Serialize + DeserializeOwned>(
    header: &RunHeader,
    sessions: &[RunSession],
    (records, crash_runs): (&[TrialRecord], &[C]),
    names: KnownNames<'_>,
) -> (RunHeader, Vec<RunSession>, Vec<TrialRecord>, Vec<C>) {
    let mut each_record = |take: &mut dyn FnMut(TrialRecord)| -> Result<(), Infallible> {
        records.iter().cloned().for_each(take);
        Ok(())
    };
    let Ok(removal) = NameRemoval::find((header, sessions), &mut each_record, crash_runs, names);
    let records = records.iter().map(|record| removal.record(record.clone())).collect();
    let crash_runs = crash_runs.iter().map(|crash_run| removal.crash_run(crash_run)).collect();
    (removal.header, removal.sessions, records, crash_runs)
}

/// Hands over every record of a RUN, one after the other; it is called more than once.
pub type EachRecord<'a, E> = &'a mut dyn FnMut(&mut dyn FnMut(TrialRecord)) -> Result<(), E>;

/// What is removed from a RUN, for those who have not all of its records in memory.
pub struct NameRemoval {
    /// The plan without it.
    pub header: RunHeader,
    /// The pieces without it.
    pub sessions: Vec<RunSession>,
    secrets: Secrets,
    /// The new identity of each contender.
    ids: BTreeMap<ContenderId, ContenderId>,
}

impl NameRemoval {
    /// Looks through a RUN, the pieces it was done in, its records and its crash runs.
    ///
    /// # Errors
    /// When `each_record` fails.
    ///
    /// # Panics
    /// As [`anonymous`].
    pub fn find<C: Serialize + DeserializeOwned, E>(
        (header, sessions): (&RunHeader, &[RunSession]),
        each_record: EachRecord<'_, E>,
        crash_runs: &[C],
        names: KnownNames<'_>,
    ) -> Result<Self, E> {
        let mut secrets = Secrets::default();
        secrets.add_host(&header.host.hostname);
        secrets.runner.clone_from(&header.host.hostname);
        for host in header.place.iter().flat_map(|place| &place.hosts) {
            secrets.add_other_host(host);
        }
        collect(&value(header), false, &mut secrets);
        collect(&value(&sessions), false, &mut secrets);
        each_record(&mut |mut record| {
            Numbers::taken_from(&mut record);
            collect(&value(&record), false, &mut secrets);
        })?;
        collect(&value(&crash_runs), false, &mut secrets);
        secrets.add_own_of(header, names);
        secrets.settle();
        let mut can_be_read = |secrets: &Secrets| -> Result<bool, E> {
            let mut all = removed(header, secrets).is_some();
            all &= sessions.iter().all(|session| removed(session, secrets).is_some());
            all &= crash_runs.iter().all(|crash_run| removed(crash_run, secrets).is_some());
            if all {
                each_record(&mut |record| all = all && removed(&record, secrets).is_some())?;
            }
            Ok(all)
        };
        if secrets.changes_a_form() && !can_be_read(&secrets)? {
            secrets.keep_words(&mut can_be_read)?;
        }
        let mut plain = readable(header, &secrets);
        let sessions = sessions.iter().map(|session| readable(session, &secrets)).collect();
        let ids = identities(header, &mut plain);
        Ok(Self { header: plain, sessions, secrets, ids })
    }

    /// One of its records.
    ///
    /// # Panics
    /// Where it was none of those that were looked through.
    #[must_use]
    pub fn record(&self, mut record: TrialRecord) -> TrialRecord {
        let numbers = Numbers::taken_from(&mut record);
        let mut record = readable(&record, &self.secrets);
        numbers.put_back(&mut record);
        if let Some(id) = self.ids.get(&record.key.contender) {
            record.key.contender = id.clone();
        }
        record
    }

    /// One of its crash runs.
    ///
    /// # Panics
    /// Where it was none of those that were looked through.
    #[must_use]
    pub fn crash_run<C: Serialize + DeserializeOwned>(&self, crash_run: &C) -> C {
        readable(crash_run, &self.secrets)
    }
}

/// What of a record is numbers under names that are never changed: most of it, which need not be
/// looked through.
struct Numbers(Vec<NumbersOfPhase>);

struct NumbersOfPhase {
    latency: Option<LatencyHistogram>,
    write_latency: Option<LatencyHistogram>,
    windows: BTreeMap<Window, Counters>,
    series: Option<Series>,
}

impl Numbers {
    fn taken_from(record: &mut TrialRecord) -> Self {
        let of_phase = |phase: &mut PhaseRecord| NumbersOfPhase {
            latency: phase.latency.take(),
            write_latency: phase.write_latency.take(),
            windows: mem::take(&mut phase.windows),
            series: phase.series.take(),
        };
        Self(record.phases.iter_mut().map(of_phase).collect())
    }

    fn put_back(self, record: &mut TrialRecord) {
        for (phase, numbers) in record.phases.iter_mut().zip(self.0) {
            phase.latency = numbers.latency;
            phase.write_latency = numbers.write_latency;
            phase.windows = numbers.windows;
            phase.series = numbers.series;
        }
    }
}

/// A part of a RUN without what is removed; `None`: a word was changed that the form has itself.
fn removed<T: Serialize + DeserializeOwned>(part: &T, secrets: &Secrets) -> Option<T> {
    let mut part = value(part);
    scrub(&mut part, false, secrets);
    // From text, as everything else is read: what reads a type is compiled once.
    serde_json::from_str(&part.to_string()).ok()
}

/// The same where that is known not to be so.
fn readable<T: Serialize + DeserializeOwned>(part: &T, secrets: &Secrets) -> T {
    removed(part, secrets).expect("only free text was changed")
}

fn value(of: &impl Serialize) -> Value {
    let text = serde_json::to_string(of).expect("a RUN is plain data");
    serde_json::from_str(&text).expect("text that was just written")
}

/// The new identity of each contender. Two that differed in nothing but what was removed stay two.
fn identities(before: &RunHeader, after: &mut RunHeader) -> BTreeMap<ContenderId, ContenderId> {
    let mut seen = BTreeSet::new();
    let both = before.plan.contenders.iter().zip(&mut after.plan.contenders);
    both.map(|(old, new)| {
        while !seen.insert(new.id()) {
            // In a plan from elsewhere it may be any number.
            new.replicate = new.replicate.wrapping_add(1);
        }
        (old.id(), new.id())
    })
    .collect()
}

/// Looks for what is to be removed, and for words that stay.
fn collect(value: &Value, is_free: bool, secrets: &mut Secrets) {
    match value {
        Value::String(text) => {
            secrets.look_at(text);
            if !is_free {
                secrets.add_of_form(text);
                secrets.add_own(text, false);
                secrets.add_own_options(text);
            }
        }
        Value::Array(all) => all.iter().for_each(|one| collect(one, is_free, secrets)),
        Value::Object(map) => {
            for (key, one) in map {
                match one {
                    Value::String(text) if names_hardware(key) => secrets.add_serial(text),
                    Value::String(text) if key == "hostname" => secrets.add_other_host(text),
                    _ => collect(one, is_free || is_free_text(key), secrets),
                }
            }
        }
        _ => {}
    }
}

/// Removes it.
fn scrub(value: &mut Value, is_free: bool, secrets: &Secrets) {
    match value {
        Value::String(text) if is_free || secrets.is_to_be_looked_at(text) => {
            *text = secrets.removed_from(text);
        }
        Value::Array(all) => all.iter_mut().for_each(|one| scrub(one, is_free, secrets)),
        Value::Object(map) => scrub_map(map, is_free, secrets),
        _ => {}
    }
}

fn scrub_map(map: &mut Map<String, Value>, is_free: bool, secrets: &Secrets) {
    map.retain(|key, one| !(names_hardware(key) && one.is_string()));
    for (key, one) in map {
        match one {
            Value::String(text) if key == "boot_id" => *text = pseudonym(text),
            Value::String(text) if key == "hostname" => {
                *text = secrets.number_of_host(text).unwrap_or_default();
            }
            _ => scrub(one, is_free || is_free_text(key), secrets),
        }
    }
}

/// `boot-3f2a9c01d7`: the same for the same boot, in every RUN.
fn pseudonym(boot_id: &str) -> String {
    if boot_id.is_empty() {
        return String::new();
    }
    format!("boot-{}", digest(boot_id))
}

/// Directories that hold home directories, wherever they are mounted.
const HOMES: [&str; 2] = ["/home/", "/Users/"];
/// Directories in which desktops mount what a user plugs in, by the user's name: `/run/media` too.
const MOUNTS: [&str; 1] = ["/media/"];
/// Directories below [`MOUNTS`] that are no names of users.
const PLACES: [&str; 8] = ["cdrom", "cdrom0", "data", "disk", "floppy", "usb", "usb0", "usb1"];
/// Links of devices by names that the hardware, the file system or the user gave.
const BY_NAME: &str = "/dev/disk/by-";
/// Serial numbers of fewer characters are looked for as whole words: `1` stands in many texts.
const LONG: usize = 6;
/// Names that say nothing about whose machine it is.
const COMMON: [&str; 5] = ["localhost", "root", "user", "USER", "HOST"];

/// What is removed.
#[derive(Default)]
struct Secrets {
    hosts: Vec<String>,
    /// The host of the runner.
    runner: String,
    /// Other hosts that did a part of it, by their full names, so that two of them stay two.
    other_hosts: Vec<String>,
    /// In the order in which they were found, so that two of them stay two.
    users: Vec<String>,
    serials: Vec<String>,
    links: Vec<String>,
    /// Words that the plan or the program uses itself.
    own: BTreeSet<String>,
    /// All texts that are no free text, such as the words of an enum.
    of_form: BTreeSet<String>,
    /// Of these, words of the form of a RUN that have a name in them: a host `big` is in
    /// `big-read`.
    kept: BTreeSet<String>,
    /// What is no free text stays.
    is_free_text_alone: bool,
}

impl Secrets {
    /// A host: its name, and the first part of a name with dots.
    fn add_host(&mut self, name: &str) {
        let short = name.split('.').next().unwrap_or_default();
        for name in [name, short] {
            add(&mut self.hosts, name);
        }
    }

    /// A host that did a part of it.
    fn add_other_host(&mut self, name: &str) {
        if name != self.runner {
            add(&mut self.other_hosts, name);
            self.add_host(name);
        }
    }

    /// What stands for another host, by its name or the first part of that.
    fn number_of_host(&self, name: &str) -> Option<String> {
        let is_it = |host: &String| host == name || host.split('.').next() == Some(name);
        Some(format!("HOST{}", self.other_hosts.iter().position(is_it)? + 1))
    }

    /// A serial number, or another name of one piece of hardware.
    fn add_serial(&mut self, text: &str) {
        let text = text.trim();
        // `naa.5000c500a1b2c3d4` stands in paths without its kind.
        let bare = text.rsplit_once('.').map_or(text, |(_, rest)| rest);
        for one in [text, bare] {
            add(&mut self.serials, one);
        }
    }

    /// A word that stays; of other texts nothing, unless `is_key`.
    fn add_own(&mut self, text: &str, is_key: bool) {
        let word = match is_key {
            true => text.split('=').next().unwrap_or_default().trim(),
            false => text,
        };
        if !word.is_empty() && word.chars().all(|c| is_word(c) || c == '-') {
            self.own.insert(word.to_owned());
        }
    }

    fn add_of_form(&mut self, text: &str) {
        if !self.of_form.contains(text) {
            self.of_form.insert(text.to_owned());
        }
    }

    /// Whether anything but free text would be changed: else what is left can be read back.
    fn changes_a_form(&self) -> bool {
        self.of_form.iter().any(|text| self.removed_from(text) != *text)
    }

    /// Options stay: `data` of `data=writeback`.
    fn add_own_options(&mut self, text: &str) {
        for option in text.split([',', ' ']).filter(|option| option.contains('=')) {
            self.add_own(option, true);
        }
    }

    /// Users that are known, and words that the RUN uses itself.
    fn add_own_of(&mut self, header: &RunHeader, names: KnownNames<'_>) {
        names.users.iter().for_each(|name| self.add_user(name));
        let is_known = |name: &&str| names.workloads.contains(name);
        let workloads = header.plan.workloads.iter().map(Workload::base_name);
        for part in workloads.filter(is_known).flat_map(|name| name.split('-')) {
            self.add_own(part, false);
        }
        for argument in &header.arguments {
            self.add_own(argument.trim_start_matches('-'), argument.starts_with('-'));
        }
        for line in header.experiment_toml.lines() {
            let key = line.split_once('=').map(|(key, _)| key.trim());
            key.into_iter().for_each(|key| self.add_own(key, true));
        }
    }

    /// A user's name.
    fn add_user(&mut self, name: &str) {
        add(&mut self.users, name);
    }

    /// Takes note of home directories, of who is on which host, and of links of devices.
    fn look_at(&mut self, text: &str) {
        for home in HOMES {
            for (at, _) in text.match_indices(home) {
                add(&mut self.users, component(&text[at + home.len()..]));
            }
        }
        for mounts in MOUNTS {
            for (at, _) in text.match_indices(mounts) {
                let name = component(&text[at + mounts.len()..]);
                if !PLACES.contains(&name) {
                    self.add_user(name);
                }
            }
        }
        for (at, _) in text.match_indices('@') {
            if let Some((user, host)) = user_and_host(text, at) {
                self.add_user(user);
                self.add_host(host);
            }
        }
        for (at, _) in text.match_indices(BY_NAME) {
            add(&mut self.links, link(&text[at..]).unwrap_or_default());
        }
    }

    /// Everything was looked at: names that are also words of ours stay.
    fn settle(&mut self) {
        let own = &self.own;
        let is_secret = |word: &String| !own.contains(word) && !COMMON.contains(&word.as_str());
        self.hosts.retain(is_secret);
        self.serials.retain(|serial| serial.len() > 1 && is_secret(serial));
        // The longest first: the full name of a host before its first part.
        self.hosts.sort_by_key(|name| std::cmp::Reverse(name.len()));
        self.serials.sort_by_key(|serial| std::cmp::Reverse(serial.len()));
    }

    /// Finds the words without which a RUN cannot be read back: of those that would be changed as
    /// few as possible are kept. Should that not be enough, nothing but free text is changed.
    fn keep_words<E>(
        &mut self,
        can_be_read: &mut dyn FnMut(&Self) -> Result<bool, E>,
    ) -> Result<(), E> {
        let changed = self.own.iter().filter(|word| self.removed_from(word) != **word);
        let changed: Vec<String> = changed.cloned().collect();
        self.kept = changed.iter().cloned().collect();
        for word in &changed {
            self.kept.remove(word);
            if !can_be_read(self)? {
                self.kept.insert(word.clone());
            }
        }
        self.is_free_text_alone = !can_be_read(self)?;
        Ok(())
    }

    /// Whether a text that is not free is one in which names are looked for.
    fn is_to_be_looked_at(&self, text: &str) -> bool {
        !self.is_free_text_alone && !self.kept.contains(text)
    }

    /// A text without all that.
    fn removed_from(&self, text: &str) -> String {
        let mut text = self.without_links(text);
        text = without_uuids(&text);
        for serial in &self.serials {
            let stands_for = || format!("SERIAL-{}", digest(serial));
            text = match serial.chars().count() < LONG {
                true => without_word(&text, serial, &stands_for()),
                false => text.replace(serial.as_str(), &stands_for()),
            };
        }
        text = self.without_homes(&text);
        for host in &self.hosts {
            let stands_for = self.number_of_host(host).unwrap_or_else(|| "HOST".to_owned());
            text = without_word(&text, host, &stands_for);
        }
        for (at, user) in self.users.iter().enumerate() {
            let is_told = self.own.contains(user) || COMMON.contains(&user.as_str());
            if !is_told && user.chars().count() > 1 {
                text = without_word(&text, user, &numbered("USER", at));
            }
        }
        text
    }

    /// `/dev/disk/by-id/ata-MODEL_SERIAL-part1` becomes `/dev/disk/by-id/1`.
    fn without_links(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(BY_NAME) {
            let (before, from) = rest.split_at(at);
            out.push_str(before);
            let Some(name) = link(from) else {
                out.push_str(BY_NAME);
                rest = &from[BY_NAME.len()..];
                continue;
            };
            let end = name.as_ptr() as usize - from.as_ptr() as usize;
            out.push_str(&from[..end]);
            let number = self.links.iter().position(|known| known == name);
            out.push_str(&(number.unwrap_or(0) + 1).to_string());
            rest = &from[end + name.len()..];
        }
        out + rest
    }

    /// `/home/NAME`, `/Users/NAME` and `/root` at the start of a path become `~`; further inside a
    /// path, and of `/media/NAME`, the name alone goes.
    fn without_homes(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(slash) = rest.find('/') {
            let (before, from) = rest.split_at(slash);
            out.push_str(before);
            let starts = out.chars().next_back().is_none_or(|c| !is_path(c));
            let root = from.strip_prefix("/root").filter(|rest| !rest.starts_with(is_path_part));
            let home = HOMES.iter().chain(&MOUNTS).find(|home| from.starts_with(**home));
            let name = home.map(|home| component(&from[home.len()..]));
            let name = name.filter(|name| self.users.iter().any(|user| user == name));
            let is_home = home.is_some_and(|home| HOMES.contains(home));
            rest = match (home, name) {
                _ if starts && root.is_some() => {
                    out.push('~');
                    root.unwrap_or_default()
                }
                (Some(home), Some(name)) => {
                    let at = self.users.iter().position(|user| user == name).unwrap_or(0);
                    match starts && is_home {
                        true => out.push_str(&numbered("~", at)),
                        false => out.push_str(&format!("{home}{}", numbered("USER", at))),
                    }
                    &from[home.len() + name.len()..]
                }
                _ => {
                    out.push('/');
                    &from[1..]
                }
            };
        }
        out + rest
    }
}

fn add(to: &mut Vec<String>, one: &str) {
    if !one.is_empty() && !to.iter().any(|known| known == one) {
        to.push(one.to_owned());
    }
}

/// `~` for the first, `~2` for the second.
fn numbered(word: &str, at: usize) -> String {
    if at == 0 { word.to_owned() } else { format!("{word}{}", at + 1) }
}

/// Part of a word. A dash or dot ends one: `host-data` names the host.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// What a component of a path may go on with.
fn is_path_part(c: char) -> bool {
    is_word(c) || matches!(c, '.' | '-' | '@' | '+' | '~')
}

/// What may stand before a slash within a path.
fn is_path(c: char) -> bool {
    is_path_part(c) || c == '/'
}

/// The first component of a path.
fn component(text: &str) -> &str {
    text.find(|c| !is_path_part(c)).map_or(text, |end| &text[..end])
}

/// Who is on which host: `alice@nas:/backup` and `ssh://alice@nas`, with the `@` at `at`. Elsewhere
/// it may stand for anything: a unit, a subvolume, an address.
fn user_and_host(text: &str, at: usize) -> Option<(&str, &str)> {
    let is_name = |c: char| is_word(c) || matches!(c, '.' | '-');
    let (before, after) = (&text[..at], &text[at + 1..]);
    let user = before.rsplit(|c| !is_name(c)).next().unwrap_or_default();
    let host = after.split(|c| !is_name(c)).next().unwrap_or_default();
    let is_address = before[..before.len() - user.len()].ends_with("://");
    let is_place = after[host.len()..].starts_with(":/");
    ((is_address || is_place) && !user.is_empty() && !host.is_empty()).then_some((user, host))
}

/// The name in a text that begins with [`BY_NAME`].
fn link(text: &str) -> Option<&str> {
    let (_, name) = text[BY_NAME.len()..].split_once('/')?;
    let end = name.find(|c: char| !is_path_part(c) && c != ':' && c != '\\').unwrap_or(name.len());
    (end > 0).then(|| &name[..end])
}

/// Every place where `word` stands alone is taken by `by`.
fn without_word(text: &str, word: &str, by: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in text.match_indices(word) {
        let (before, after) =
            (text[..at].chars().next_back(), text[at + word.len()..].chars().next());
        if before.is_none_or(|c| !is_word(c)) && after.is_none_or(|c| !is_word(c)) {
            out.push_str(&text[done..at]);
            out.push_str(by);
            done = at + word.len();
        }
    }
    out + &text[done..]
}

/// Every UUID (8-4-4-4-12 hex digits) is replaced by a short name.
fn without_uuids(text: &str) -> String {
    const LENGTH: usize = 36;
    let is_uuid = |part: &[u8]| {
        part.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    };
    let bytes = text.as_bytes();
    let (mut out, mut done, mut at) = (String::with_capacity(text.len()), 0, 0);
    while at + LENGTH <= bytes.len() {
        let part = &bytes[at..at + LENGTH];
        if !is_uuid(part) {
            at += 1;
            continue;
        }
        out.push_str(&text[done..at]);
        out.push_str(&format!("uuid-{}", digest(&text[at..at + LENGTH].to_ascii_lowercase())));
        at += LENGTH;
        done = at;
    }
    out + &text[done..]
}

/// Ten digits derived from a text.
fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(5).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
