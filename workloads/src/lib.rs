//! Workloads: kernel sources and their SPIR-V, suite manifests, CPU references, the suite runner and the benchmark.
pub mod bench;
pub mod check;
pub mod compile;
pub mod data;
pub mod manifest;
pub mod measure;
pub mod references;
pub mod suite;
