//! A small OpenCL host program on the installed ICD loader.
use libloading::{Library, Symbol};
use std::ffi::{CString, c_char, c_void};
use std::ptr::{null, null_mut};

type Handle = *mut c_void;
type Status = i32;

/// A kernel argument.
pub enum Argument {
    Buffer(Vec<u8>),
    Value(Vec<u8>),
    Local(usize),
}

/// A device of a platform, with a context and a queue.
pub struct Device {
    library: Library,
    device: Handle,
    context: Handle,
    queue: Handle,
}

const MEM_READ_WRITE_COPY: u64 = 1 | 1 << 5;
const PLATFORM_NAME: u32 = 0x0902;
const PROGRAM_BUILD_LOG: u32 = 0x1183;
const DEVICE_TYPE_ALL: u64 = 0xFFFF_FFFF;

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
    if status == 0 { Ok(()) } else { Err(format!("{what} gives {status}")) }
}

impl Device {
    /// The first device of the platform called `name`.
    pub fn named(name: &str) -> Result<Device, String> {
        // SAFETY: loading the ICD loader runs its initialisers, which have no requirements.
        let library = unsafe { Library::new("libOpenCL.so.1") }
            .map_err(|e| format!("install ocl-icd-opencl-dev and pocl-opencl-icd: {e}"))?;
        let mut platforms: [Handle; 16] = [null_mut(); 16];
        let mut count = 0u32;
        let status = call!(
            library,
            b"clGetPlatformIDs",
            fn(u32, *mut Handle, *mut u32) -> Status,
            16,
            platforms.as_mut_ptr(),
            &mut count
        );
        ok(status, "clGetPlatformIDs")?;
        for &platform in &platforms[..count.min(16) as usize] {
            let mut text = [0u8; 256];
            let status = call!(
                library,
                b"clGetPlatformInfo",
                fn(Handle, u32, usize, *mut c_void, *mut usize) -> Status,
                platform,
                PLATFORM_NAME,
                text.len(),
                text.as_mut_ptr().cast(),
                null_mut()
            );
            ok(status, "clGetPlatformInfo")?;
            if text.starts_with(name.as_bytes()) {
                return Device::of_platform(library, platform);
            }
        }
        Err(format!("no OpenCL platform is called `{name}`: install pocl-opencl-icd"))
    }

    fn of_platform(library: Library, platform: Handle) -> Result<Device, String> {
        let mut device: Handle = null_mut();
        let status = call!(
            library,
            b"clGetDeviceIDs",
            fn(Handle, u64, u32, *mut Handle, *mut u32) -> Status,
            platform,
            DEVICE_TYPE_ALL,
            1,
            &mut device,
            null_mut()
        );
        ok(status, "clGetDeviceIDs")?;
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
        let queue = call!(
            library,
            b"clCreateCommandQueue",
            fn(Handle, Handle, u64, *mut Status) -> Handle,
            context,
            device,
            0,
            &mut status
        );
        ok(status, "clCreateCommandQueue")?;
        Ok(Device { library, device, context, queue })
    }

    /// Builds `source`, runs `kernel`, and returns the contents of all buffers (empty for other arguments).
    #[allow(clippy::too_many_arguments)]
    pub fn run(
        &self,
        source: &str,
        options: &str,
        kernel: &str,
        offset: &[u64],
        global: &[u64],
        local: &[u32],
        arguments: Vec<Argument>,
    ) -> Result<Vec<Vec<u8>>, String> {
        let program = self.build(source, options)?;
        let library = &self.library;
        let name = CString::new(kernel).map_err(|e| e.to_string())?;
        let mut status = 0;
        let kernel = call!(
            library,
            b"clCreateKernel",
            fn(Handle, *const c_char, *mut Status) -> Handle,
            program,
            name.as_ptr(),
            &mut status
        );
        ok(status, "clCreateKernel")?;
        let mut buffers = Vec::new();
        for (index, argument) in arguments.iter().enumerate() {
            buffers.push(self.set(kernel, index as u32, argument)?);
        }
        let sizes = |v: &[u64]| v.iter().map(|&v| v as usize).collect::<Vec<usize>>();
        let (global, offset) = (sizes(global), sizes(offset));
        let local: Vec<usize> = local.iter().map(|&l| l as usize).collect();
        let list = |v: &[usize]| if v.is_empty() { null() } else { v.as_ptr() };
        let status = call!(
            library,
            b"clEnqueueNDRangeKernel",
            fn(
                Handle,
                Handle,
                u32,
                *const usize,
                *const usize,
                *const usize,
                u32,
                *const Handle,
                *mut Handle,
            ) -> Status,
            self.queue,
            kernel,
            global.len() as u32,
            list(&offset),
            list(&global),
            list(&local),
            0,
            null(),
            null_mut()
        );
        ok(status, "clEnqueueNDRangeKernel")?;
        let mut results = Vec::new();
        for (argument, buffer) in arguments.iter().zip(&buffers) {
            let Argument::Buffer(bytes) = argument else {
                results.push(Vec::new());
                continue;
            };
            let mut out = vec![0u8; bytes.len()];
            let status = call!(
                library,
                b"clEnqueueReadBuffer",
                fn(Handle, Handle, u32, usize, usize, *mut c_void, u32, *const Handle, *mut Handle) -> Status,
                self.queue,
                *buffer,
                1,
                0,
                out.len(),
                out.as_mut_ptr().cast(),
                0,
                null(),
                null_mut()
            );
            ok(status, "clEnqueueReadBuffer")?;
            call!(library, b"clReleaseMemObject", fn(Handle) -> Status, *buffer);
            results.push(out);
        }
        call!(library, b"clReleaseKernel", fn(Handle) -> Status, kernel);
        call!(library, b"clReleaseProgram", fn(Handle) -> Status, program);
        Ok(results)
    }

    fn build(&self, source: &str, options: &str) -> Result<Handle, String> {
        let library = &self.library;
        let (text, length) = (source.as_ptr().cast::<c_char>(), source.len());
        let mut status = 0;
        let program = call!(
            library,
            b"clCreateProgramWithSource",
            fn(Handle, u32, *const *const c_char, *const usize, *mut Status) -> Handle,
            self.context,
            1,
            &text,
            &length,
            &mut status
        );
        ok(status, "clCreateProgramWithSource")?;
        let options = CString::new(options).map_err(|e| e.to_string())?;
        let status = call!(
            library,
            b"clBuildProgram",
            fn(Handle, u32, *const Handle, *const c_char, *const c_void, *mut c_void) -> Status,
            program,
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
            program,
            self.device,
            PROGRAM_BUILD_LOG,
            log.len(),
            log.as_mut_ptr().cast(),
            null_mut()
        );
        Err(format!("clBuildProgram gives {status}: {}", String::from_utf8_lossy(&log).trim_end_matches('\0')))
    }

    /// Sets one argument; returns the buffer, or NULL for other kinds.
    fn set(&self, kernel: Handle, index: u32, argument: &Argument) -> Result<Handle, String> {
        let library = &self.library;
        let mut buffer: Handle = null_mut();
        let (size, value): (usize, *const c_void) = match argument {
            Argument::Buffer(bytes) => {
                let mut status = 0;
                buffer = call!(
                    library,
                    b"clCreateBuffer",
                    fn(Handle, u64, usize, *const c_void, *mut Status) -> Handle,
                    self.context,
                    MEM_READ_WRITE_COPY,
                    bytes.len(),
                    bytes.as_ptr().cast(),
                    &mut status
                );
                ok(status, "clCreateBuffer")?;
                (size_of::<Handle>(), (&raw const buffer).cast())
            }
            Argument::Value(bytes) => (bytes.len(), bytes.as_ptr().cast()),
            Argument::Local(size) => (*size, null()),
        };
        let status = call!(
            library,
            b"clSetKernelArg",
            fn(Handle, u32, usize, *const c_void) -> Status,
            kernel,
            index,
            size,
            value
        );
        ok(status, &format!("clSetKernelArg of argument {index}"))?;
        Ok(buffer)
    }
}
