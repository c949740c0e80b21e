//! bad_database
