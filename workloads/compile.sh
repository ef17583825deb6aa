#!/usr/bin/env bash
# Compiles every kernel of the suites to the committed SPIR-V modules; `--check` only compares.
# Needs clang-15, llvm-15 and llvm-spirv-15.
set -euo pipefail
cd "$(dirname "$0")"
manifests=(validation/suite.toml)
for m in full.toml builtins.toml; do [ -e "$m" ] && manifests+=("$m"); done
exec cargo run --quiet --package warpscope-workloads --bin compile-kernels -- "$@" "${manifests[@]}"
