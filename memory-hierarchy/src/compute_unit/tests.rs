//! Tests of the compute unit.
