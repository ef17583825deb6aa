//! The CUDA driver: runs the machine code (or PTX) of OpenCL programs, so that NVIDIA's profiler sees the launches.
use super::{Host, Prepared, Resources, Shape};
use crate::compile::module_path;
use crate::data::digest::fnv1a;
use crate::manifest::{Arg, Case};
use libloading::{Library, Symbol};
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::rc::Rc;

type Handle = *mut c_void;
type Pointer = u64;
type Status = i32;

/// Attributes (`cuda.h`).
const FUNCTION_SHARED_SIZE: i32 = 1;
const FUNCTION_LOCAL_SIZE: i32 = 3;
const FUNCTION_REGISTERS: i32 = 4;
const FUNCTION_MAX_DYNAMIC_SHARED: i32 = 8;
const DEVICE_RESERVED_SHARED: i32 = 111;
/// Bytes that are overwritten to flush the caches.
const FLUSH_BYTES: usize = 256 << 20;

/// Name of a case's program without its extension: the source's name and the options, and a digest of the text.
pub fn program_name(case: &Case) -> Result<String, String> {
    let text = std::fs::read(&case.source).map_err(|e| format!("{}: {e}", case.source.display()))?;
    let stem = module_path(&case.source, &case.options).with_extension("");
    let stem = stem.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(format!("{stem}-{:08x}", fnv1a(&text) as u32))
}

/// Calls a function of the driver by name with the given type, and turns its status into an error.
macro_rules! call {
    ($library:expr, $name:expr, fn($($t:ty),* $(,)?), $($a:expr),* $(,)?) => {{
        let name: &CStr = $name;
        // SAFETY: the type is the one that cuda.h gives the function; every pointer passed is valid for the call.
        let status = unsafe {
            let function: Symbol<unsafe extern "C" fn($($t),*) -> Status> =
                $library.get(name.to_bytes_with_nul()).map_err(|e| e.to_string())?;
            function($($a),*)
        };
        if status == 0 { Ok(()) } else { Err(format!("{} gives {}", name.to_string_lossy(), describe($library, status))) }
    }};
}

/// The driver's own sentence for an error.
fn describe(library: &Library, status: Status) -> String {
    let mut text: *const c_char = std::ptr::null();
    // SAFETY: cuGetErrorString sets the pointer to a constant text of the driver, or leaves it alone.
    unsafe {
        if let Ok(f) = library.get::<unsafe extern "C" fn(Status, *mut *const c_char) -> Status>(b"cuGetErrorString") {
            f(status, &mut text);
        }
        if text.is_null() {
            status.to_string()
        } else {
            format!("{status} ({})", CStr::from_ptr(text).to_string_lossy())
        }
    }
}

/// A device of the CUDA driver with its primary context current, and the folder of programs.
pub struct Driver {
    library: Rc<Library>,
    device: i32,
    programs: PathBuf,
    modules: HashMap<String, Handle>,
    reserved_local: usize,
    flush: Option<Memory>,
}

/// Device memory, freed when dropped.
struct Memory {
    library: Rc<Library>,
    address: Pointer,
}

impl Memory {
    fn new(library: &Rc<Library>, bytes: usize) -> Result<Memory, String> {
        let mut address = 0;
        call!(library, c"cuMemAlloc_v2", fn(*mut Pointer, usize), &mut address, bytes)?;
        Ok(Memory { library: library.clone(), address })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let library = &self.library;
        // A failure leaves nothing to do.
        let _: Result<(), String> = (|| call!(library, c"cuMemFree_v2", fn(Pointer), self.address))();
    }
}

impl Driver {
    /// Device `index`; `programs` holds a `.cubin` or `.ptx` for each program ([`program_name`]).
    pub fn open(index: usize, programs: &Path) -> Result<Driver, String> {
        // SAFETY: loading the driver runs its initialisers, which have no requirements.
        let library = unsafe { Library::new("libcuda.so.1") }.map_err(|e| format!("no CUDA driver: {e}"))?;
        let library = Rc::new(library);
        call!(&library, c"cuInit", fn(u32), 0)?;
        let (mut device, mut context) = (0, null_mut());
        call!(&library, c"cuDeviceGet", fn(*mut i32, i32), &mut device, index as i32)?;
        call!(&library, c"cuDevicePrimaryCtxRetain", fn(*mut Handle, i32), &mut context, device)?;
        call!(&library, c"cuCtxSetCurrent", fn(Handle), context)?;
        let mut reserved = 0;
        let attribute = c"cuDeviceGetAttribute";
        call!(&library, attribute, fn(*mut i32, i32, i32), &mut reserved, DEVICE_RESERVED_SHARED, device)?;
        Ok(Driver {
            library,
            device,
            programs: programs.to_path_buf(),
            modules: HashMap::new(),
            reserved_local: reserved.max(0) as usize,
            flush: None,
        })
    }

    /// What the device is, as the lines of a TOML file.
    pub fn describe(&self) -> Result<String, String> {
        let mut name = [0u8; 256];
        let length = name.len() as i32;
        call!(&self.library, c"cuDeviceGetName", fn(*mut u8, i32, i32), name.as_mut_ptr(), length, self.device)?;
        let mut version = 0;
        call!(&self.library, c"cuDriverGetVersion", fn(*mut i32), &mut version)?;
        let name = String::from_utf8_lossy(&name);
        Ok(format!("platform = \"CUDA driver\"\ndevice = {:?}\nversion = {version}\n", name.trim_end_matches('\0')))
    }

    fn module(&mut self, case: &Case) -> Result<Handle, String> {
        let name = program_name(case)?;
        if let Some(module) = self.modules.get(&name) {
            return Ok(*module);
        }
        let path =
            ["cubin", "ptx"].map(|e| self.programs.join(format!("{name}.{e}"))).into_iter().find(|p| p.is_file());
        let path = path.ok_or_else(|| {
            format!(
                "{} has no {name}.cubin and no {name}.ptx; `warpscope measure --ptx` writes it",
                self.programs.display()
            )
        })?;
        let mut image = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        image.push(0);
        let mut module: Handle = null_mut();
        call!(&self.library, c"cuModuleLoadData", fn(*mut Handle, *const c_void), &mut module, image.as_ptr().cast())
            .map_err(|e| format!("{}: {e}", path.display()))?;
        self.modules.insert(name, module);
        Ok(module)
    }

    fn attribute(&self, function: Handle, attribute: i32) -> Result<usize, String> {
        let mut value = 0;
        let name = c"cuFuncGetAttribute";
        call!(&self.library, name, fn(*mut i32, i32, Handle), &mut value, attribute, function)?;
        Ok(value.max(0) as usize)
    }
}

/// A function with its arguments.
struct Ready {
    library: Rc<Library>,
    function: Handle,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_local: usize,
    /// The bytes of each argument.
    values: Vec<Vec<u8>>,
    buffers: Vec<Option<Memory>>,
    resources: Resources,
}

impl Host for Driver {
    fn prepare(&mut self, case: &Case, contents: &[Vec<u8>]) -> Result<Box<dyn Prepared>, String> {
        let shape = Shape::of(case);
        let local = shape.local.ok_or("the work-group's size must be given to run under CUDA")?;
        if shape.offset != [0; 3] {
            return Err("a launch with a global offset cannot run under CUDA, which has none".into());
        }
        if (0..3).any(|d| local[d] == 0 || !shape.global[d].is_multiple_of(local[d])) {
            return Err("a launch whose last work-groups are smaller cannot run under CUDA, which has none".into());
        }
        let module = self.module(case)?;
        let name = CString::new(case.kernel.as_str()).map_err(|e| e.to_string())?;
        let mut function: Handle = null_mut();
        let get = c"cuModuleGetFunction";
        call!(&self.library, get, fn(*mut Handle, Handle, *const c_char), &mut function, module, name.as_ptr())?;
        let declared = self.attribute(function, FUNCTION_SHARED_SIZE)?;
        let (mut values, mut buffers) = (Vec::new(), Vec::new());
        // Local memory from arguments follows what the kernel declares, which follows what the system reserves.
        let mut dynamic = 0;
        for (arg, bytes) in case.args.iter().zip(contents) {
            let mut buffer = None;
            values.push(match arg {
                Arg::Buffer(_) if bytes.is_empty() => vec![0; size_of::<Pointer>()],
                Arg::Buffer(given) => {
                    let memory = Memory::new(&self.library, bytes.len())?;
                    let address = memory.address + given.at;
                    buffer = Some(memory);
                    address.to_le_bytes().to_vec()
                }
                Arg::Same { argument, at } => {
                    let memory: Option<&Memory> = buffers.get(*argument).and_then(|b: &Option<Memory>| b.as_ref());
                    memory.map_or(0, |m| m.address + at).to_le_bytes().to_vec()
                }
                Arg::Scalar { .. } | Arg::Struct { .. } => bytes.clone(),
                Arg::Local { bytes } => {
                    let start = (declared + dynamic).next_multiple_of(128);
                    dynamic = start + *bytes as usize - declared;
                    ((self.reserved_local + start) as u64).to_le_bytes().to_vec()
                }
            });
            buffers.push(buffer);
        }
        if dynamic > 0 {
            let set = c"cuFuncSetAttribute";
            call!(&self.library, set, fn(Handle, i32, i32), function, FUNCTION_MAX_DYNAMIC_SHARED, dynamic as i32)?;
        }
        let resources = Resources {
            registers: self.attribute(function, FUNCTION_REGISTERS)? as u32,
            local_memory: declared as u32,
            private_memory: self.attribute(function, FUNCTION_LOCAL_SIZE)? as u32,
        };
        let mut ready = Ready {
            library: self.library.clone(),
            function,
            grid: [0, 1, 2].map(|d| (shape.global[d] / local[d]) as u32),
            block: local.map(|l| l as u32),
            dynamic_local: dynamic,
            values,
            buffers,
            resources,
        };
        for (index, bytes) in contents.iter().enumerate() {
            ready.restore(index, bytes)?;
        }
        Ok(Box::new(ready))
    }

    fn flush(&mut self) -> Result<(), String> {
        if self.flush.is_none() {
            self.flush = Some(Memory::new(&self.library, FLUSH_BYTES)?);
        }
        if let Some(memory) = &self.flush {
            call!(&self.library, c"cuMemsetD8_v2", fn(Pointer, u8, usize), memory.address, 1, FLUSH_BYTES)?;
            call!(&self.library, c"cuCtxSynchronize", fn(),)?;
        }
        Ok(())
    }
}

impl Prepared for Ready {
    fn restore(&mut self, argument: usize, bytes: &[u8]) -> Result<(), String> {
        let Some(Some(memory)) = self.buffers.get(argument) else { return Ok(()) };
        let copy = c"cuMemcpyHtoD_v2";
        call!(
            &self.library,
            copy,
            fn(Pointer, *const c_void, usize),
            memory.address,
            bytes.as_ptr().cast(),
            bytes.len()
        )
    }

    fn launch(&mut self) -> Result<f64, String> {
        let library = &*self.library;
        let mut events: [Handle; 2] = [null_mut(); 2];
        for event in &mut events {
            call!(library, c"cuEventCreate", fn(*mut Handle, u32), event, 0)?;
        }
        let mut parameters: Vec<*mut c_void> = self.values.iter_mut().map(|v| v.as_mut_ptr().cast()).collect();
        let ([gx, gy, gz], [bx, by, bz]) = (self.grid, self.block);
        let stream: Handle = null_mut();
        let mut milliseconds = 0f32;
        call!(library, c"cuEventRecord", fn(Handle, Handle), events[0], stream)?;
        call!(
            library,
            c"cuLaunchKernel",
            fn(Handle, u32, u32, u32, u32, u32, u32, u32, Handle, *mut *mut c_void, *mut *mut c_void),
            self.function,
            gx,
            gy,
            gz,
            bx,
            by,
            bz,
            self.dynamic_local as u32,
            stream,
            parameters.as_mut_ptr(),
            null_mut()
        )?;
        call!(library, c"cuEventRecord", fn(Handle, Handle), events[1], stream)?;
        call!(library, c"cuCtxSynchronize", fn(),)?;
        let elapsed = c"cuEventElapsedTime";
        call!(library, elapsed, fn(*mut f32, Handle, Handle), &mut milliseconds, events[0], events[1])?;
        for event in events {
            call!(library, c"cuEventDestroy_v2", fn(Handle), event)?;
        }
        Ok(f64::from(milliseconds) * 1e6)
    }

    fn read(&mut self, argument: usize, bytes: &mut [u8]) -> Result<(), String> {
        let Some(Some(memory)) = self.buffers.get(argument) else { return Ok(()) };
        let copy = c"cuMemcpyDtoH_v2";
        call!(
            &self.library,
            copy,
            fn(*mut c_void, Pointer, usize),
            bytes.as_mut_ptr().cast(),
            memory.address,
            bytes.len()
        )
    }

    fn resources(&self) -> Option<Resources> {
        Some(self.resources)
    }
}
