//! plain_directory
