//! Where clang, opt and llvm-spirv are.
use std::path::{Path, PathBuf};

/// The LLVM release whose tools work together here: later bitcode is not read by the translator.
const RELEASE: &str = "15";

/// A tool was not found.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "{tool} is needed to compile OpenCL C but was not found; on Debian or Ubuntu `apt install clang-{RELEASE} \
     llvm-{RELEASE} llvm-spirv-{RELEASE}` installs what is needed, {variable} can name the executable, and a kernel \
     that is compiled already (SPIR-V, .spv) needs none of it"
)]
pub struct ToolError {
    /// Name of the executable.
    pub tool: String,
    /// Environment variable that can name it.
    pub variable: &'static str,
}

/// The external tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tools {
    /// The C front end.
    pub clang: PathBuf,
    /// The optimiser.
    pub opt: PathBuf,
    /// The translator from bitcode to SPIR-V.
    pub llvm_spirv: PathBuf,
}

impl Tools {
    /// Looks at the environment variables, then along `PATH`, then where the distributions put the releases.
    pub fn find() -> Result<Tools, ToolError> {
        Ok(Tools {
            clang: locate("clang", "WARPSCOPE_CLANG")?,
            opt: locate("opt", "WARPSCOPE_OPT")?,
            llvm_spirv: locate("llvm-spirv", "WARPSCOPE_LLVM_SPIRV")?,
        })
    }
}

fn locate(tool: &str, variable: &'static str) -> Result<PathBuf, ToolError> {
    let versioned = format!("{tool}-{RELEASE}");
    if let Some(named) = std::env::var_os(variable).filter(|v| !v.is_empty()) {
        let path = PathBuf::from(&named);
        return if is_executable(&path) {
            Ok(path)
        } else {
            Err(ToolError { tool: format!("{tool} ({variable}={})", path.display()), variable })
        };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|directory| directory.join(&versioned))
        .chain([PathBuf::from(format!("/usr/lib/llvm-{RELEASE}/bin/{tool}"))])
        .find(|candidate| is_executable(candidate))
        .ok_or(ToolError { tool: versioned, variable })
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}
