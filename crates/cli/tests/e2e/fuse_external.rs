//! fuse_external
