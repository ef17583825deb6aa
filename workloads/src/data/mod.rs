//! Contents of buffers: element types, initial patterns, files, digests.
pub mod digest;
pub mod element;
pub mod expr;
pub mod files;
pub mod pattern;
