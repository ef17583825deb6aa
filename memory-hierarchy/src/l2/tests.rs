//! Tests of the l2.
