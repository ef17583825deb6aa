//! Timing mode: the same `step` as in functional mode, with its time charged.
mod access;
mod atomics;
mod classes;
mod code;
mod compute_unit;
mod constants;
mod dispatch;
mod engine;
mod fetch_cache;
mod frontend;
mod groups;
mod issue;
mod lsu;
mod overlay;
mod prefetch;
mod scheduler;
mod slot;
mod sub_core;

pub(crate) use engine::{Engine, Limits};
