//! Errors: a code for the program, a reason for its author.
use crate::cl::errors;
use std::borrow::Cow;

/// Why a call was refused.
#[derive(Clone, Debug, PartialEq)]
pub struct ClError {
    /// What the program gets: one of the API's negative codes.
    pub code: i32,
    /// What goes to the log and to the context's notify function.
    pub why: Cow<'static, str>,
}

impl ClError {
    /// An error with its reason.
    pub fn new(code: i32, why: impl Into<Cow<'static, str>>) -> ClError {
        ClError { code, why: why.into() }
    }
}

impl std::fmt::Display for ClError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", errors::name(self.code), self.why)
    }
}

impl std::error::Error for ClError {}

/// Result of a call.
pub type Result<T = ()> = std::result::Result<T, ClError>;

/// Returns an error: `fail!(CL_INVALID_VALUE, "size is {size}")`.
macro_rules! fail {
    ($code:ident, $($why:tt)+) => {
        return Err($crate::error::ClError::new($crate::cl::errors::$code, format!($($why)+)))
    };
}

/// Returns an error unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $code:ident, $($why:tt)+) => {
        if !$condition {
            $crate::error::fail!($code, $($why)+);
        }
    };
}

pub(crate) use {ensure, fail};
