//! loop_disturbances
