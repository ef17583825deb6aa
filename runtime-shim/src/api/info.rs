//! The size protocol of every info query: a value may be asked for, its size, or both.
use crate::error::{Result, ensure};
use std::ffi::c_void;

/// Where a query's answer goes.
pub struct Query {
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
}

/// Proof that a query was answered.
#[must_use]
pub struct Written(());

impl Query {
    /// The program's place for the answer.
    pub fn new(size: usize, value: *mut c_void, size_ret: *mut usize) -> Query {
        Query { size, value, size_ret }
    }

    /// Bytes that the program has room for.
    pub fn room(&self) -> usize {
        self.size
    }

    /// What the program put where the answer goes, if there is room for one.
    pub unsafe fn given<T: Copy>(&self) -> Option<T> {
        let there = !self.value.is_null() && self.size >= size_of::<T>();
        there.then(|| self.value.cast::<T>().read_unaligned())
    }

    /// Answers with the elements of a slice.
    pub unsafe fn slice<T: Copy>(&self, values: &[T]) -> Result<Written> {
        let bytes = size_of_val(values);
        if !self.value.is_null() {
            // "if size in bytes specified by param_value_size is < size of return type and param_value is not NULL"
            ensure!(
                self.size >= bytes,
                CL_INVALID_VALUE,
                "the answer takes {bytes} bytes; there is room for {}",
                self.size
            );
            std::ptr::copy_nonoverlapping(values.as_ptr().cast::<u8>(), self.value.cast(), bytes);
        }
        if !self.size_ret.is_null() {
            self.size_ret.write_unaligned(bytes);
        }
        Ok(Written(()))
    }

    /// Answers with one value.
    pub unsafe fn value<T: Copy>(&self, value: T) -> Result<Written> {
        self.slice(&[value])
    }

    /// Answers with a truth value.
    pub unsafe fn truth(&self, value: bool) -> Result<Written> {
        self.value(u32::from(value))
    }

    /// Answers with text, terminated by a zero byte.
    pub unsafe fn text(&self, text: &str) -> Result<Written> {
        let mut bytes: Vec<u8> = text.bytes().filter(|b| *b != 0).collect();
        bytes.push(0);
        self.slice(&bytes)
    }
}
