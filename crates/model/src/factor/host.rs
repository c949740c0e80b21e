//! Factors of the machine: memory of the work, state of the caches.

use super::descriptor::{ActsOn, Factor, FactorInfo, Illegal, Target};
use super::level::{LevelError, bytes, known_bytes, size_words, word};
use crate::contender::{CACHE, Cache, Levels};
use crate::units::{Bytes, size_text};

/// Smallest memory limit: below it a program and its page tables hardly live.
const MIN_MEMORY_BYTES: u64 = 16 << 20;
/// Reason for a file system in memory that would have to run under a memory limit.
pub const LIVES_IN_LIMITED_MEMORY: &str = "it lives in the limited memory";

pub(super) struct Memory;

impl Factor for Memory {
    fn info(&self) -> FactorInfo {
        FactorInfo {
            title: "memory limit",
            head: Some("memory"),
            help: "Memory limit of the work, such as 64M; `none` for the whole machine",
            example: "\"64M\"",
            takes_number: true,
            default_level: "none",
            ..FactorInfo::new("memory", ActsOn::Host)
        }
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

impl Factor for Caches {
    fn info(&self) -> FactorInfo {
        FactorInfo {
            help: "State of the caches before each timed phase: cold, warm, cold-start (cold \
                   before the first phase of a trial, warm after it), or cold-clients (those of \
                   every host of --hosts)",
            example: "\"cold\"",
            default_level: "cold",
            ..FactorInfo::new(CACHE, ActsOn::Host)
        }
    }
    fn parse(&self, text: &str) -> Result<String, LevelError> {
        let asked = Cache::ALL.into_iter().filter(|cache| *cache != Cache::Unknown);
        word(text, "cache state", &asked.map(Cache::name).collect::<Vec<_>>())
    }
    fn get(&self, levels: &Levels) -> String {
        levels.cache.name().to_owned()
    }
    fn set(&self, levels: &mut Levels, level: &str) {
        levels.cache = Cache::named(level).unwrap_or(Cache::Cold);
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
