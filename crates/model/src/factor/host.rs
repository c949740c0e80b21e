//! Factors of the machine: memory of the work, state of the caches.

use super::descriptor::{ActsOn, Factor, Illegal, Target};
use super::level::{LevelError, bytes, known_bytes, size_words, word};
use crate::contender::{Cache, Levels};
use crate::units::{Bytes, size_text};

/// Smallest memory limit: below it a program and its page tables hardly live.
const MIN_MEMORY_BYTES: u64 = 16 << 20;
/// Reason for a file system in memory that would have to run under a memory limit.
pub const LIVES_IN_LIMITED_MEMORY: &str = "it lives in the limited memory";

pub(super) struct Memory;

impl Factor for Memory {
    fn key(&self) -> &'static str {
        "memory"
    }
    fn title(&self) -> &'static str {
        "memory limit"
    }
    fn head(&self) -> &'static str {
        "memory"
    }
    fn help(&self) -> &'static str {
        "Memory limit of the work, such as 64M; `none` for the whole machine"
    }
    fn example(&self) -> &'static str {
        "\"64M\""
    }
    fn takes_number(&self) -> bool {
        true
    }
    fn default_level(&self) -> &'static str {
        "none"
    }
    fn parse(&self, text: &str) -> Result<String, LevelError> {
        if text == self.default_level() {
            return Ok(text.to_owned());
        }
        let limit = bytes(text)?;
        if limit < MIN_MEMORY_BYTES {
            return Err(LevelError::new(
                format!("a memory limit of {} is too small to work in", Bytes(limit)),
                format!("use {} or more, or \"none\"", Bytes(MIN_MEMORY_BYTES)),
            ));
        }
        Ok(size_text(limit))
    }
    fn acts_on(&self) -> ActsOn {
        ActsOn::Host
    }
    fn get(&self, levels: &Levels) -> String {
        levels.memory_bytes.map_or_else(|| self.default_level().to_owned(), size_text)
    }
    fn set(&self, levels: &mut Levels, level: &str) {
        levels.memory_bytes = known_bytes(level);
    }
    fn illegal(&self, target: &Target<'_>) -> Option<Illegal> {
        let limited = target.levels.is_in_memory() && target.levels.memory_bytes.is_some();
        limited.then_some(Illegal::LeftOut(LIVES_IN_LIMITED_MEMORY))
    }
    fn label(&self, level: &str) -> String {
        format!("in {}", if level == self.default_level() { "all memory" } else { level })
    }
    fn words(&self, level: &str) -> String {
        size_words(level, "whole")
    }
}

pub(super) struct Caches;

const CACHES: [(&str, Cache); 3] =
    [("cold", Cache::Cold), ("warm", Cache::Warm), ("cold-start", Cache::ColdStart)];

impl Factor for Caches {
    fn key(&self) -> &'static str {
        "cache"
    }
    fn help(&self) -> &'static str {
        "State of the caches before each timed phase: cold, warm, or cold-start (cold before the \
         first phase of a trial, warm after it)"
    }
    fn example(&self) -> &'static str {
        "\"cold\""
    }
    fn default_level(&self) -> &'static str {
        "cold"
    }
    fn parse(&self, text: &str) -> Result<String, LevelError> {
        word(text, "cache state", &CACHES.map(|known| known.0))
    }
    fn acts_on(&self) -> ActsOn {
        ActsOn::Host
    }
    fn get(&self, levels: &Levels) -> String {
        let name = CACHES.iter().find(|known| known.1 == levels.cache);
        name.map_or(self.default_level(), |known| known.0).to_owned()
    }
    fn set(&self, levels: &mut Levels, level: &str) {
        levels.cache = CACHES.iter().find(|known| known.0 == level).map_or(Cache::Cold, |k| k.1);
    }
    /// Where nothing can be made cold, everything is warm.
    fn without_meaning(&self, levels: &Levels) -> Option<&'static str> {
        levels.warm_reason()
    }
    fn resolve(&self, levels: &mut Levels) {
        if self.without_meaning(levels).is_some() {
            levels.cache = Cache::Warm;
        }
    }
    fn label(&self, level: &str) -> String {
        level.to_owned()
    }
    /// Cold is a state that was asked for.
    fn is_unset(&self, _level: &str) -> bool {
        false
    }
}
