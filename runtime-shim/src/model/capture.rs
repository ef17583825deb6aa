//! Capturing launches (`WARPSCOPE_CAPTURE`): module, arguments and the buffers before and after become a case of a suite
//! manifest that runs without the program (`docs/manifest.md`).
//!
//! A launch is written when it has ended: files first, each under the hash of its contents and whole or not at all, then
//! the case in one write, so that a program that is killed leaves a manifest that can be used.
use super::Kernel;
use super::spirv::Words;
use crate::sync::Mutex;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use warpscope_isa::ir::Ty;
use warpscope_memory::device_memory::{Allocation, AllocationId, DeviceMemory};
use warpscope_sim::{Argument, Launch, without_pointers};

/// Captures the launches of one context.
pub struct Capture {
    directory: PathBuf,
    manifest: Mutex<File>,
    context: u32,
    launches: u32,
}

/// An argument of a launch under capture.
enum Captured {
    /// A line of the manifest.
    Text(String),
    /// The address `at` bytes into a buffer; the first argument to name it brings the buffer.
    Buffer { buffer: usize, at: u64 },
}

/// A launch that runs: what was there before it.
pub struct Before {
    name: String,
    kernel: String,
    module: PathBuf,
    geometry: String,
    arguments: Vec<Captured>,
    buffers: Vec<(Allocation, Vec<u8>)>,
    /// Variables in global memory: place in the module, name, contents.
    globals: Vec<(usize, String, Vec<u8>)>,
}

impl Capture {
    /// Appends to `$WARPSCOPE_CAPTURE/<pid>.toml`; nothing is captured where that is not set.
    pub fn from_environment() -> Option<Capture> {
        static CONTEXTS: AtomicU32 = AtomicU32::new(0);
        let directory = PathBuf::from(std::env::var_os("WARPSCOPE_CAPTURE").filter(|d| !d.is_empty())?);
        let path = directory.join(format!("{}.toml", std::process::id()));
        let opened = std::fs::create_dir_all(directory.join("data"))
            .and_then(|()| std::fs::create_dir_all(directory.join("modules")))
            .and_then(|()| File::options().create(true).append(true).open(&path));
        match opened {
            Ok(file) => {
                let context = CONTEXTS.fetch_add(1, Ordering::Relaxed);
                Some(Capture { directory, manifest: Mutex::new(file), context, launches: 0 })
            }
            Err(e) => {
                eprintln!("warpscope: launches are not captured: {}: {e}", path.display());
                None
            }
        }
    }

    /// Takes down what `launch` finds. A launch that cannot run alone is only named in the manifest, with the reason.
    pub fn begin(&mut self, launch: &Launch, kernel: &Kernel, memory: &DeviceMemory) -> Option<Before> {
        let name = &launch.program.name;
        let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '.' }).collect();
        let case = format!("{}_{:04}_{plain}", self.context, self.launches);
        self.launches += 1;
        if launch.global.contains(&0) {
            self.append(&format!("# {case} is not captured: its range is empty\n\n"));
            return None;
        }
        let before = self.take_down(launch, kernel, memory, case.clone());
        before.map_err(|why| self.append(&format!("# {case} is not captured: {why}\n\n"))).ok()
    }

    fn take_down(
        &self,
        launch: &Launch,
        kernel: &Kernel,
        memory: &DeviceMemory,
        name: String,
    ) -> Result<Before, String> {
        let binary = kernel.program.binary().ok_or("its program has no module")?;
        let globals = variables(kernel)?;
        // A case has no place for specialization constants.
        let module = match binary.constants.is_empty() {
            true => Cow::Borrowed(&binary.spirv),
            false => Cow::Owned(Words::new(&binary.spirv).specialised(&binary.constants)),
        };
        let module = self.keep("modules", "spv", &module).map_err(|e| self.failed(&e))?;
        let mut known: BTreeMap<AllocationId, usize> = BTreeMap::new();
        let mut buffers = Vec::new();
        let mut arguments = Vec::new();
        for argument in &launch.arguments {
            arguments.push(match argument {
                Argument::Pointer(0) => Captured::Text("{ buffer = \"u8\", count = 0, init = \"zeros\" }".into()),
                Argument::Pointer(address) => {
                    let allocation = memory.allocation_at(*address).ok_or("an argument points to no buffer")?;
                    let buffer = *known.entry(allocation.id).or_insert(buffers.len());
                    if buffer == buffers.len() {
                        buffers.push((allocation, contents(memory, &allocation)?));
                    }
                    Captured::Buffer { buffer, at: address - allocation.address }
                }
                Argument::Value(bytes) => {
                    let digits = bytes.iter().fold(String::new(), |mut text, b| {
                        // Writing to a string cannot fail.
                        let _ = write!(text, "{b:02x}");
                        text
                    });
                    Captured::Text(format!("{{ bytes = \"{digits}\" }}"))
                }
                Argument::Local(bytes) => Captured::Text(format!("{{ local = \"u8\", count = {bytes} }}")),
            });
        }
        let n = launch.work_dim as usize;
        let (global, local, offset) = (&launch.global[..n], &launch.local[..n], &launch.offset[..n]);
        let geometry = format!("global = {global:?}\nlocal = {local:?}\noffset = {offset:?}\n");
        Ok(Before { name, kernel: launch.program.name.clone(), module, geometry, arguments, buffers, globals })
    }

    /// The launch has ended: compares the buffers with what they were and appends the case.
    pub fn end(&mut self, before: Before, kernel: &Kernel, memory: &DeviceMemory) {
        match self.case(&before, kernel, memory) {
            Ok(text) => self.append(&text),
            Err(why) => self.append(&format!("# {} is not captured: {why}\n\n", before.name)),
        }
    }

    fn case(&self, before: &Before, kernel: &Kernel, memory: &DeviceMemory) -> Result<String, String> {
        let mut first = vec![None; before.buffers.len()];
        let mut lines = String::new();
        for (index, argument) in before.arguments.iter().enumerate() {
            let line = match argument {
                Captured::Text(text) => text.clone(),
                Captured::Buffer { buffer, at } => match first[*buffer] {
                    Some(argument) => format!("{{ same = {argument}, at = {at} }}"),
                    None => {
                        first[*buffer] = Some(index);
                        let (allocation, bytes) = &before.buffers[*buffer];
                        self.buffer(allocation, bytes, *at, memory)?
                    }
                },
            };
            lines += &format!("  {line},\n");
        }
        let globals = self.globals(before, kernel)?;
        let Before { name, kernel, module, geometry, .. } = before;
        let (kernel, module) = (quoted(kernel), quoted(&module.to_string_lossy()));
        Ok(format!(
            "[[case]]\nname = \"{name}\"\nsource = {module}\nkernel = {kernel}\n{geometry}args = [\n{lines}]\n{globals}\n"
        ))
    }

    /// The key `globals`: variables that were not as initialised, or that the launch changed.
    fn globals(&self, before: &Before, kernel: &Kernel) -> Result<String, String> {
        let keep = |bytes: &[u8]| {
            let path = self.keep("data", "bin", bytes).map_err(|e| self.failed(&e))?;
            Ok::<_, String>(quoted(&path.to_string_lossy()))
        };
        let mut lines = String::new();
        for ((index, name, was), (_, _, is)) in before.globals.iter().zip(variables(kernel)?) {
            let global = &kernel.built.module.globals[*index];
            let mut initial = global.init.clone();
            without_pointers(global, &mut initial);
            let file = if *was == initial { String::new() } else { format!(", file = {}", keep(was)?) };
            let expected = if *was == is { String::new() } else { format!(", expected = {}", keep(&is)?) };
            if !(file.is_empty() && expected.is_empty()) {
                lines += &format!("  {{ name = {}{file}{expected} }},\n", quoted(name));
            }
        }
        Ok(if lines.is_empty() { lines } else { format!("globals = [\n{lines}]\n") })
    }

    fn buffer(&self, allocation: &Allocation, before: &[u8], at: u64, memory: &DeviceMemory) -> Result<String, String> {
        let element = if before.len().is_multiple_of(4) { "u32" } else { "u8" };
        let keep = |bytes: &[u8]| self.keep("data", "bin", bytes).map_err(|e| self.failed(&e));
        let file = keep(before)?;
        let mut line = format!("{{ buffer = \"{element}\", file = {}", quoted(&file.to_string_lossy()));
        if at != 0 {
            line += &format!(", at = {at}");
        }
        let after = contents(memory, allocation)?;
        if after != before {
            line += &format!(", role = \"inout\", expected = {}", quoted(&keep(&after)?.to_string_lossy()));
        }
        Ok(line + " }")
    }

    /// Keeps bytes in a file named by their hash; gives its path relative to the manifest.
    fn keep(&self, folder: &str, extension: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let hash =
            bytes.iter().fold(0xcbf2_9ce4_8422_2325u64, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        for copy in 0.. {
            let relative = Path::new(folder).join(format!("{hash:016x}-{}-{copy}.{extension}", bytes.len()));
            let path = self.directory.join(&relative);
            match std::fs::read(&path) {
                Ok(there) if there == bytes => return Ok(relative),
                // Other contents with the same hash.
                Ok(_) => continue,
                Err(_) => {}
            }
            let partial = path.with_extension(format!("{}.part", std::process::id()));
            let written = std::fs::write(&partial, bytes).and_then(|()| std::fs::rename(&partial, &path));
            return written.map(|()| relative).inspect_err(|_| {
                // Best effort: the error to tell about is the first one.
                let _ = std::fs::remove_file(&partial);
            });
        }
        Err(io::Error::other("too many files with one hash"))
    }

    fn failed(&self, error: &io::Error) -> String {
        let why = format!("{} cannot be written: {error}", self.directory.display());
        eprintln!("warpscope: a launch is not captured: {why}");
        why
    }

    fn append(&self, text: &str) {
        if let Err(e) = self.manifest.lock().write_all(text.as_bytes()) {
            eprintln!("warpscope: a launch is not captured: {} cannot be written: {e}", self.directory.display());
        }
    }
}

/// Place in the module, name and contents of a program's variables in global memory.
fn variables(kernel: &Kernel) -> Result<Vec<(usize, String, Vec<u8>)>, String> {
    let globals = &kernel.built.module.globals;
    let mut out = Vec::new();
    for (index, global) in globals.iter().enumerate().filter(|(_, g)| g.space == Ty::PtrGlobal && !g.printf) {
        let name = &global.name;
        if name.is_empty() || globals.iter().filter(|g| &g.name == name).count() > 1 {
            return Err("its program has a variable in global memory without a name of its own".into());
        }
        let held = kernel.built.lowered.variables().contents(globals, index).map_err(|e| e.to_string())?;
        let held = held.ok_or_else(|| format!("a pointer of its program's variable `{name}` was changed"))?;
        out.push((index, name.clone(), held));
    }
    Ok(out)
}

fn contents(memory: &DeviceMemory, allocation: &Allocation) -> Result<Vec<u8>, String> {
    let mut bytes = vec![0; allocation.size as usize];
    memory.read(allocation.address, &mut bytes).map_err(|e| e.to_string())?;
    Ok(bytes)
}

/// A TOML basic string: JSON's form is one.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
