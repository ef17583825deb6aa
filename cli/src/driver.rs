//! Where the OpenCL driver is.
use crate::failure::Failure;
use std::path::PathBuf;

/// File name of the driver.
const LIBRARY: &str = "libwarpscope_opencl.so";

/// The driver: `WARPSCOPE_ICD`, or beside the executable, or in `../lib/warpscope` from there.
pub fn find() -> Result<PathBuf, Failure> {
    if let Some(path) = std::env::var_os("WARPSCOPE_ICD").filter(|p| !p.is_empty()) {
        let path = PathBuf::from(path);
        return path.canonicalize().map_err(|e| Failure::Usage(format!("WARPSCOPE_ICD={}: {e}", path.display())));
    }
    let exe = std::env::current_exe().and_then(|p| p.canonicalize()).map_err(Failure::failed)?;
    let Some(directory) = exe.parent() else { return Err(Failure::failed("the executable has no directory")) };
    let candidates = [directory.join(LIBRARY), directory.join("../lib/warpscope").join(LIBRARY)];
    candidates.iter().find_map(|p| p.canonicalize().ok()).ok_or_else(|| {
        Failure::Usage(format!(
            "{LIBRARY} is neither beside {} nor in ../lib/warpscope from there; build it with \
             `cargo build --release`, or name it in WARPSCOPE_ICD",
            exe.display()
        ))
    })
}
