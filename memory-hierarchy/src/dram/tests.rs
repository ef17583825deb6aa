//! Tests of the dram.
