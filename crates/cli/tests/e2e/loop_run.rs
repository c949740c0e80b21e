//! loop_run
