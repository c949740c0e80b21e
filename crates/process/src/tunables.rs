//! What the C library of programs takes from the processor, fixed for guests.
//!
//! For memcpy(3), strlen(3) and the like glibc has several functions, and takes one by what the
//! processor can and who made it. Which pages of the library are read depends on it, and on that
//! which memory a guest has left: the times of its file systems were others on another kind of
//! processor. With all choices switched off it is the functions that every processor has
//! (<https://www.gnu.org/software/libc/manual/html_node/Hardware-Capability-Tunables.html>).

/// Its tunables, as a variable of the environment: a name and a value.
pub const TUNABLES: (&str, &str) = (
    "GLIBC_TUNABLES",
    "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-AVX512CD,-AVX2,-AVX,-FMA,-FMA4,-BMI1,\
     -BMI2,-LZCNT,-MOVBE,-POPCNT,-SSE4_2,-SSE4_1,-SSSE3,-ERMS,-RTM,-XSAVEC,-XSAVE,\
     -AVX_Fast_Unaligned_Load,-Fast_Unaligned_Load,-Fast_Unaligned_Copy,-Fast_Copy_Backward,\
     -Fast_Rep_String,-Slow_BSF,-Prefer_PMINUB_for_stringop,-Prefer_No_VZEROUPPER,-Prefer_ERMS,\
     -Prefer_FSRM\
     :glibc.cpu.x86_data_cache_size=0x8000:glibc.cpu.x86_shared_cache_size=0x100000\
     :glibc.cpu.x86_non_temporal_threshold=0xc0000",
);

/// The same, where this process was started with them; to be given on where an environment is
/// cleared. Other tunables, which a user may have set, are not.
#[must_use]
pub fn inherited() -> Option<(&'static str, &'static str)> {
    let own = std::env::var_os(TUNABLES.0);
    own.is_some_and(|value| value == TUNABLES.1).then_some(TUNABLES)
}
