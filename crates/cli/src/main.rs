//! The program. All of it is a library, so that it is compiled while other crates still are.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    fsarena_cli::main()
}
