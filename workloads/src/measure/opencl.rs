//! Any vendor's OpenCL, through the system's ICD loader.
use super::{Host, Prepared, Shape};
use crate::manifest::{Arg, Case};
use libloading::{Library, Symbol};
use std::collections::HashMap;
use std::ffi::{CString, c_char, c_void};
use std::path::PathBuf;
use std::ptr::{null, null_mut};
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

type Handle = *mut c_void;
type Status = i32;

const PLATFORM_NAME: u32 = 0x0902;
const DEVICE_TYPE_ALL: u64 = 0xFFFF_FFFF;
const QUEUE_PROFILING_ENABLE: u64 = 2;
const MEM_READ_WRITE: u64 = 1;
const PROGRAM_BINARY_SIZES: u32 = 0x1165;
const PROGRAM_BINARIES: u32 = 0x1166;
const PROGRAM_BUILD_LOG: u32 = 0x1183;
const COMMAND_START: u32 = 0x1282;
const COMMAND_END: u32 = 0x1283;

/// Reads the flush buffer, so that caches hold nothing else and nothing that must be written back; and nothing at all.
const HELPERS: &str = "__kernel void flush(__global const uint4 *p, __global uint *out, uint n) { uint4 s = 0;\n\
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) s ^= p[i];\n\
    if ((s.x ^ s.y ^ s.z ^ s.w) == 0x9e3779b9u) out[0] = s.x; }\n\
    __kernel void empty(__global uint *out) {}\n";
/// Bytes of the flush buffer at least, and in proportion to the device's cache.
const FLUSH_BYTES: u64 = 256 << 20;
const FLUSH_CACHES: u64 = 4;

/// Calls an OpenCL function by name with the given type.
macro_rules! call {
    ($library:expr, $name:literal, fn($($t:ty),* $(,)?) -> $r:ty, $($a:expr),* $(,)?) => {{
        // SAFETY: the type is the one that the OpenCL specification gives the function; every pointer passed is valid
        // for the call.
        unsafe {
            let function: Symbol<unsafe extern "C" fn($($t),*) -> $r> =
                $library.get($name).map_err(|e| e.to_string())?;
            function($($a),*)
        }
    }};
}

fn ok(status: Status, what: &str) -> Result<(), String> {
    if status == 0 { Ok(()) } else { Err(format!("{what} gives {}", error_name(status))) }
}

/// The errors that programs meet, by name (OpenCL 3.0, `cl.h`).
fn error_name(status: Status) -> String {
    let name = match status {
        -1 => "CL_DEVICE_NOT_FOUND",
        -3 => "CL_COMPILER_NOT_AVAILABLE",
        -4 => "CL_MEM_OBJECT_ALLOCATION_FAILURE",
        -5 => "CL_OUT_OF_RESOURCES",
        -6 => "CL_OUT_OF_HOST_MEMORY",
        -7 => "CL_PROFILING_INFO_NOT_AVAILABLE",
        -11 => "CL_BUILD_PROGRAM_FAILURE",
        -43 => "CL_INVALID_BUILD_OPTIONS",
        -46 => "CL_INVALID_KERNEL_NAME",
        -51 => "CL_INVALID_ARG_SIZE",
        -54 => "CL_INVALID_WORK_GROUP_SIZE",
        -55 => "CL_INVALID_WORK_ITEM_SIZE",
        -61 => "CL_INVALID_BUFFER_SIZE",
        -1001 => "CL_PLATFORM_NOT_FOUND_KHR",
        _ => return status.to_string(),
    };
    format!("{name} ({status})")
}

/// An object of OpenCL, released when dropped.
struct Object {
    library: Rc<Library>,
    handle: Handle,
    release: &'static [u8],
}

/// OpenCL passes buffers, not addresses.
const NO_ADDRESSES: &str = "an argument is an address inside a buffer (`at`, `same`), which OpenCL cannot pass";

impl Object {
    fn new(library: &Rc<Library>, handle: Handle, release: &'static [u8]) -> Object {
        Object { library: library.clone(), handle, release }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: every release function takes the handle that its create function gave; it is released once. A failure
        // leaves nothing to do.
        unsafe {
            if let Ok(release) = self.library.get::<unsafe extern "C" fn(Handle) -> Status>(self.release) {
                release(self.handle);
            }
        }
    }
}

/// A device of a platform, with a context and a queue that takes times.
pub struct Device {
    library: Rc<Library>,
    device: Handle,
    platform_name: String,
    // Released in this order.
    flush: Option<Flush>,
    programs: HashMap<(PathBuf, String), Rc<Object>>,
    queue: Rc<Object>,
    context: Rc<Object>,
}

/// The buffer that takes the caches, and the kernel that reads it.
struct Flush {
    kernel: Object,
    bytes: u64,
    // Kept for the kernel's arguments.
    _buffers: [Object; 2],
}

/// Held while platforms and devices are looked up for the first time: drivers initialise themselves then, and not all
/// (PoCL 3.1) bear two threads doing so.
static OPENING: Mutex<()> = Mutex::new(());

fn load() -> Result<Rc<Library>, String> {
    // SAFETY: loading the ICD loader runs its initialisers, which have no requirements.
    let library = unsafe { Library::new("libOpenCL.so.1") };
    library.map(Rc::new).map_err(|e| {
        format!("no OpenCL loader: {e}; install one (Debian, Ubuntu: ocl-icd-libopencl1) and the driver of the device")
    })
}

fn platforms(library: &Library) -> Result<Vec<(Handle, String)>, String> {
    let mut handles: [Handle; 32] = [null_mut(); 32];
    let mut count = 0u32;
    let status = call!(
        library,
        b"clGetPlatformIDs",
        fn(u32, *mut Handle, *mut u32) -> Status,
        handles.len() as u32,
        handles.as_mut_ptr(),
        &mut count
    );
    ok(status, "clGetPlatformIDs")?;
    let mut out = Vec::new();
    for &platform in &handles[..(count as usize).min(handles.len())] {
        out.push((platform, info_text(library, b"clGetPlatformInfo", platform, PLATFORM_NAME)?));
    }
    Ok(out)
}

fn devices(library: &Library, platform: Handle) -> Result<Vec<Handle>, String> {
    let mut handles: [Handle; 64] = [null_mut(); 64];
    let mut count = 0u32;
    let status = call!(
        library,
        b"clGetDeviceIDs",
        fn(Handle, u64, u32, *mut Handle, *mut u32) -> Status,
        platform,
        DEVICE_TYPE_ALL,
        handles.len() as u32,
        handles.as_mut_ptr(),
        &mut count
    );
    ok(status, "clGetDeviceIDs")?;
    Ok(handles[..(count as usize).min(handles.len())].to_vec())
}

/// A query that gives text.
fn info_text(library: &Library, function: &[u8], object: Handle, what: u32) -> Result<String, String> {
    let mut bytes = vec![0u8; 4096];
    let mut size = 0;
    // SAFETY: the platform's and the device's query have this type; the sizes are those of the buffers.
    let status = unsafe {
        let query: Symbol<unsafe extern "C" fn(Handle, u32, usize, *mut c_void, *mut usize) -> Status> =
            library.get(function).map_err(|e| e.to_string())?;
        query(object, what, bytes.len(), bytes.as_mut_ptr().cast(), &mut size)
    };
    ok(status, "a query")?;
    bytes.truncate(size.min(4096));
    Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\0').trim().to_string())
}

/// A number that a device query gives, of 4 or 8 bytes; 0 where the device does not know it.
fn info_number(library: &Library, device: Handle, what: u32) -> Result<u64, String> {
    let mut value = 0u64;
    let status = call!(
        library,
        b"clGetDeviceInfo",
        fn(Handle, u32, usize, *mut c_void, *mut usize) -> Status,
        device,
        what,
        8,
        (&raw mut value).cast(),
        null_mut()
    );
    Ok(if status == 0 { value } else { 0 })
}

/// Every platform's name with the names of its devices.
pub fn list() -> Result<Vec<(String, Vec<String>)>, String> {
    let _alone = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
    let library = load()?;
    let mut out = Vec::new();
    for (platform, name) in platforms(&library)? {
        let names = devices(&library, platform).unwrap_or_default();
        let names = names.iter().map(|d| info_text(&library, b"clGetDeviceInfo", *d, 0x102B));
        out.push((name, names.collect::<Result<_, _>>()?));
    }
    Ok(out)
}

impl Device {
    /// Device `index` of the platform whose name contains `platform` (upper and lower case are the same).
    pub fn open(platform: &str, index: usize) -> Result<Device, String> {
        let _alone = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
        let library = load()?;
        let all = platforms(&library)?;
        let wanted = platform.to_lowercase();
        let Some((handle, platform_name)) = all.iter().find(|(_, name)| name.to_lowercase().contains(&wanted)) else {
            let names: Vec<&str> = all.iter().map(|(_, name)| name.as_str()).collect();
            let there = if names.is_empty() { "none".to_string() } else { names.join(", ") };
            return Err(format!("no OpenCL platform is called `{platform}`; there is {there}"));
        };
        let list = devices(&library, *handle)?;
        let device = *list.get(index).ok_or_else(|| {
            format!("platform {platform_name} has {} devices, counted from 0: there is no device {index}", list.len())
        })?;
        let mut status = 0;
        let context = call!(
            library,
            b"clCreateContext",
            fn(*const isize, u32, *const Handle, *const c_void, *mut c_void, *mut Status) -> Handle,
            null(),
            1,
            &device,
            null(),
            null_mut(),
            &mut status
        );
        ok(status, "clCreateContext")?;
        let context = Rc::new(Object::new(&library, context, b"clReleaseContext"));
        let queue = call!(
            library,
            b"clCreateCommandQueue",
            fn(Handle, Handle, u64, *mut Status) -> Handle,
            context.handle,
            device,
            QUEUE_PROFILING_ENABLE,
            &mut status
        );
        ok(status, "clCreateCommandQueue")?;
        let queue = Rc::new(Object::new(&library, queue, b"clReleaseCommandQueue"));
        let platform_name = platform_name.clone();
        Ok(Device { library, device, platform_name, flush: None, programs: HashMap::new(), queue, context })
    }

    /// What the device says about itself, as the lines of a TOML file.
    pub fn describe(&self) -> Result<String, String> {
        let mut out = format!("platform = {:?}\n", self.platform_name);
        let texts =
            [("device", 0x102B), ("vendor", 0x102C), ("driver", 0x102D), ("version", 0x102F), ("opencl_c", 0x103D)];
        for (name, what) in texts {
            out += &format!("{name} = {:?}\n", info_text(&self.library, b"clGetDeviceInfo", self.device, what)?);
        }
        let numbers = [
            ("compute_units", 0x1002),
            ("clock_mhz", 0x100C),
            ("memory_bytes", 0x101F),
            ("cache_bytes", 0x101E),
            ("local_memory_bytes", 0x1023),
            ("timer_ns", 0x1025),
        ];
        for (name, what) in numbers {
            out += &format!("{name} = {}\n", info_number(&self.library, self.device, what)?);
        }
        Ok(out)
    }

    /// The median time of a kernel that does nothing, in ns: what a launch costs in every measured time.
    pub fn empty_launch(&self) -> Result<f64, String> {
        let program = self.build(HELPERS, "")?;
        let kernel = self.kernel(&program, "empty")?;
        let out = self.buffer(4)?;
        self.set(&kernel, 0, size_of::<Handle>(), (&raw const out.handle).cast())?;
        let shape = Shape { dimensions: 1, global: [32, 1, 1], local: Some([32, 1, 1]), offset: [0; 3] };
        let mut times = (0..31).map(|_| self.timed(&kernel, &shape)).collect::<Result<Vec<_>, _>>()?;
        times.sort_by(f64::total_cmp);
        Ok(times[15])
    }

    /// The binary of the program of a case that has been prepared.
    pub fn binary(&self, case: &Case) -> Result<Vec<u8>, String> {
        let key = (case.source.clone(), case.options.clone());
        let program = self.programs.get(&key).ok_or("the program has not been built")?;
        let query = |what: u32, size: usize, value: *mut c_void| {
            let status = call!(
                self.library,
                b"clGetProgramInfo",
                fn(Handle, u32, usize, *mut c_void, *mut usize) -> Status,
                program.handle,
                what,
                size,
                value,
                null_mut()
            );
            ok(status, "clGetProgramInfo")
        };
        let mut size = 0usize;
        query(PROGRAM_BINARY_SIZES, size_of::<usize>(), (&raw mut size).cast())?;
        let mut bytes = vec![0u8; size];
        let mut pointer = bytes.as_mut_ptr();
        query(PROGRAM_BINARIES, size_of::<*mut u8>(), (&raw mut pointer).cast())?;
        Ok(bytes)
    }

    fn build(&self, source: &str, options: &str) -> Result<Object, String> {
        let library = &self.library;
        let (text, length) = (source.as_ptr().cast::<c_char>(), source.len());
        let mut status = 0;
        let program = call!(
            library,
            b"clCreateProgramWithSource",
            fn(Handle, u32, *const *const c_char, *const usize, *mut Status) -> Handle,
            self.context.handle,
            1,
            &text,
            &length,
            &mut status
        );
        ok(status, "clCreateProgramWithSource")?;
        let program = Object::new(library, program, b"clReleaseProgram");
        let options = CString::new(options).map_err(|e| e.to_string())?;
        let status = call!(
            library,
            b"clBuildProgram",
            fn(Handle, u32, *const Handle, *const c_char, *const c_void, *mut c_void) -> Status,
            program.handle,
            1,
            &self.device,
            options.as_ptr(),
            null(),
            null_mut()
        );
        if status == 0 {
            return Ok(program);
        }
        let mut log = vec![0u8; 16384];
        call!(
            library,
            b"clGetProgramBuildInfo",
            fn(Handle, Handle, u32, usize, *mut c_void, *mut usize) -> Status,
            program.handle,
            self.device,
            PROGRAM_BUILD_LOG,
            log.len(),
            log.as_mut_ptr().cast(),
            null_mut()
        );
        let log = String::from_utf8_lossy(&log);
        Err(format!("clBuildProgram gives {}: {}", error_name(status), log.trim_end_matches('\0').trim()))
    }

    fn kernel(&self, program: &Object, name: &str) -> Result<Object, String> {
        let text = CString::new(name).map_err(|e| e.to_string())?;
        let mut status = 0;
        let kernel = call!(
            self.library,
            b"clCreateKernel",
            fn(Handle, *const c_char, *mut Status) -> Handle,
            program.handle,
            text.as_ptr(),
            &mut status
        );
        ok(status, &format!("clCreateKernel of {name}"))?;
        Ok(Object::new(&self.library, kernel, b"clReleaseKernel"))
    }

    fn buffer(&self, bytes: usize) -> Result<Object, String> {
        let mut status = 0;
        let buffer = call!(
            self.library,
            b"clCreateBuffer",
            fn(Handle, u64, usize, *const c_void, *mut Status) -> Handle,
            self.context.handle,
            MEM_READ_WRITE,
            bytes,
            null(),
            &mut status
        );
        ok(status, &format!("clCreateBuffer of {bytes} bytes"))?;
        Ok(Object::new(&self.library, buffer, b"clReleaseMemObject"))
    }

    fn set(&self, kernel: &Object, index: usize, size: usize, value: *const c_void) -> Result<(), String> {
        let status = call!(
            self.library,
            b"clSetKernelArg",
            fn(Handle, u32, usize, *const c_void) -> Status,
            kernel.handle,
            index as u32,
            size,
            value
        );
        ok(status, &format!("clSetKernelArg of argument {index}"))
    }

    fn timed(&self, kernel: &Object, shape: &Shape) -> Result<f64, String> {
        timed(&self.library, self.queue.handle, kernel.handle, shape)
    }

    fn make_flush(&self) -> Result<Flush, String> {
        let cache = info_number(&self.library, self.device, 0x101E)?;
        let most = info_number(&self.library, self.device, 0x1010)?.max(1 << 20);
        let bytes = FLUSH_BYTES.max(cache.saturating_mul(FLUSH_CACHES)).min(most).min(u64::from(u32::MAX)) & !15;
        let program = self.build(HELPERS, "")?;
        let kernel = self.kernel(&program, "flush")?;
        let buffers = [self.buffer(bytes as usize)?, self.buffer(4)?];
        let zero = 0u32;
        let status = call!(
            self.library,
            b"clEnqueueFillBuffer",
            fn(Handle, Handle, *const c_void, usize, usize, usize, u32, *const Handle, *mut Handle) -> Status,
            self.queue.handle,
            buffers[0].handle,
            (&raw const zero).cast(),
            4,
            0,
            bytes as usize,
            0,
            null(),
            null_mut()
        );
        ok(status, "clEnqueueFillBuffer")?;
        for (index, buffer) in buffers.iter().enumerate() {
            self.set(&kernel, index, size_of::<Handle>(), (&raw const buffer.handle).cast())?;
        }
        let count = (bytes / 16) as u32;
        self.set(&kernel, 2, 4, (&raw const count).cast())?;
        Ok(Flush { kernel, bytes, _buffers: buffers })
    }

    /// Bytes that are read to overwrite the caches; 0 before the first flush.
    pub fn flush_bytes(&self) -> u64 {
        self.flush.as_ref().map_or(0, |f| f.bytes)
    }
}

/// Launches, waits, and gives the time from the event.
fn timed(library: &Library, queue: Handle, kernel: Handle, shape: &Shape) -> Result<f64, String> {
    let mut event: Handle = null_mut();
    let local = shape.local.as_ref().map_or(null(), |l| l.as_ptr());
    let offset = if shape.offset == [0; 3] { null() } else { shape.offset.as_ptr() };
    let status = call!(
        library,
        b"clEnqueueNDRangeKernel",
        fn(Handle, Handle, u32, *const usize, *const usize, *const usize, u32, *const Handle, *mut Handle) -> Status,
        queue,
        kernel,
        shape.dimensions,
        offset,
        shape.global.as_ptr(),
        local,
        0,
        null(),
        &mut event
    );
    ok(status, "clEnqueueNDRangeKernel")?;
    let finished = call!(library, b"clFinish", fn(Handle) -> Status, queue);
    let mut times = [0u64; 2];
    let mut queried = 0;
    for (time, what) in times.iter_mut().zip([COMMAND_START, COMMAND_END]) {
        queried = call!(
            library,
            b"clGetEventProfilingInfo",
            fn(Handle, u32, usize, *mut c_void, *mut usize) -> Status,
            event,
            what,
            8,
            (time as *mut u64).cast(),
            null_mut()
        );
    }
    call!(library, b"clReleaseEvent", fn(Handle) -> Status, event);
    ok(finished, "the kernel")?;
    ok(queried, "clGetEventProfilingInfo")?;
    Ok(times[1].saturating_sub(times[0]) as f64)
}

/// A kernel with its arguments set.
struct Ready {
    library: Rc<Library>,
    queue: Rc<Object>,
    kernel: Object,
    buffers: Vec<Option<Object>>,
    shape: Shape,
}

impl Ready {
    /// Copies between a buffer and the host.
    fn copy(&self, name: &'static [u8], argument: usize, size: usize, host: *mut c_void) -> Result<(), String> {
        let Some(Some(buffer)) = self.buffers.get(argument) else { return Ok(()) };
        // SAFETY: reading and writing a buffer have the same type but for the constness of the host's pointer, which is
        // valid for `size` bytes; the call blocks.
        let status = unsafe {
            let copy: Symbol<
                unsafe extern "C" fn(
                    Handle,
                    Handle,
                    u32,
                    usize,
                    usize,
                    *mut c_void,
                    u32,
                    *const Handle,
                    *mut Handle,
                ) -> Status,
            > = self.library.get(name).map_err(|e| e.to_string())?;
            copy(self.queue.handle, buffer.handle, 1, 0, size, host, 0, null(), null_mut())
        };
        ok(status, &format!("the transfer of argument {argument}"))
    }
}

impl Prepared for Ready {
    fn restore(&mut self, argument: usize, bytes: &[u8]) -> Result<(), String> {
        self.copy(b"clEnqueueWriteBuffer", argument, bytes.len(), bytes.as_ptr().cast_mut().cast())
    }

    fn launch(&mut self) -> Result<f64, String> {
        timed(&self.library, self.queue.handle, self.kernel.handle, &self.shape)
    }

    fn read(&mut self, argument: usize, bytes: &mut [u8]) -> Result<(), String> {
        self.copy(b"clEnqueueReadBuffer", argument, bytes.len(), bytes.as_mut_ptr().cast())
    }
}

impl Host for Device {
    fn prepare(&mut self, case: &Case, contents: &[Vec<u8>]) -> Result<Box<dyn Prepared>, String> {
        let key = (case.source.clone(), case.options.clone());
        let program = match self.programs.get(&key) {
            Some(program) => program.clone(),
            None => {
                let source = std::fs::read_to_string(&case.source)
                    .map_err(|e| format!("{}: {e}; sources are built by the device", case.source.display()))?;
                let program = Rc::new(self.build(&source, &case.options)?);
                self.programs.entry(key).or_insert(program).clone()
            }
        };
        let kernel = self.kernel(&program, &case.kernel)?;
        let mut buffers = Vec::new();
        for (index, (arg, bytes)) in case.args.iter().zip(contents).enumerate() {
            let mut buffer = None;
            match arg {
                Arg::Buffer(_) if bytes.is_empty() => {
                    let none: Handle = null_mut();
                    self.set(&kernel, index, size_of::<Handle>(), (&raw const none).cast())?;
                }
                Arg::Same { .. } => return Err(NO_ADDRESSES.into()),
                Arg::Buffer(given) if given.at != 0 => return Err(NO_ADDRESSES.into()),
                Arg::Buffer(_) => {
                    let object = self.buffer(bytes.len())?;
                    self.set(&kernel, index, size_of::<Handle>(), (&raw const object.handle).cast())?;
                    buffer = Some(object);
                }
                Arg::Scalar { .. } | Arg::Struct { .. } => {
                    self.set(&kernel, index, bytes.len(), bytes.as_ptr().cast())?;
                }
                Arg::Local { bytes } => self.set(&kernel, index, *bytes as usize, null())?,
            }
            buffers.push(buffer);
        }
        let (library, queue) = (self.library.clone(), self.queue.clone());
        let mut ready = Ready { library, queue, kernel, buffers, shape: Shape::of(case) };
        for (index, bytes) in contents.iter().enumerate() {
            ready.restore(index, bytes)?;
        }
        Ok(Box::new(ready))
    }

    fn flush(&mut self) -> Result<(), String> {
        if self.flush.is_none() {
            self.flush = Some(self.make_flush()?);
        }
        let Some(flush) = &self.flush else { return Ok(()) };
        let shape = Shape { dimensions: 1, global: [1 << 18, 1, 1], local: None, offset: [0; 3] };
        self.timed(&flush.kernel, &shape).map(|_| ())
    }
}
