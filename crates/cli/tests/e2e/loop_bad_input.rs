//! loop_bad_input
