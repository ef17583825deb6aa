//! The entry points: one table row a function. The C stub, the slot in the loader's dispatch table (Khronos ICD order,
//! OpenCL 3.0) and the look-up by name all come from the row in `table`.
use crate::cl::*;
use crate::error::{ClError, Result};
use crate::model::handle;
use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// A slot of the dispatch table.
#[repr(transparent)]
pub struct Slot(*const ());
// SAFETY: a slot holds the address of a function.
unsafe impl Sync for Slot {}

/// Runs a call: no panic leaves it, and its error reaches the log and the context.
fn guard<T>(name: &'static str, call: impl FnOnce() -> Result<T>) -> Result<T> {
    handle::begin_call();
    let result = catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
        Err(ClError::new(CL_OUT_OF_HOST_MEMORY, "the simulator failed in this call; please report it"))
    });
    if let Err(error) = &result {
        log_error(name, error);
    }
    result
}

/// Tells the log and the context of an error.
fn log_error(name: &'static str, error: &ClError) {
    static LOG: OnceLock<bool> = OnceLock::new();
    if *LOG.get_or_init(|| std::env::var_os("WARPSCOPE_LOG").is_some_and(|v| !v.is_empty())) {
        eprintln!("warpscope: {name}: {error}");
    }
    if let Some(context) = handle::current_context() {
        context.tell(&format!("{name}: {error}"));
    }
}

fn unsupported(name: &'static str) -> cl_int {
    let refuse = || -> Result { Err(ClError::new(CL_INVALID_OPERATION, "this extension is not offered")) };
    guard(name, refuse).map_or_else(|e| e.code, |()| CL_SUCCESS)
}

/// What a creating call returns; its error code goes where the program wants it.
unsafe fn give(result: Result<Raw>, errcode_ret: *mut cl_int) -> Raw {
    let (value, code) = match result {
        Ok(value) => (value, CL_SUCCESS),
        Err(error) => (std::ptr::null_mut(), error.code),
    };
    if !errcode_ret.is_null() {
        // SAFETY: the program keeps the API's rules on pointers.
        unsafe { errcode_ret.write(code) };
    }
    value
}

macro_rules! stub {
    (absent $name:ident) => {
        extern "C" fn $name() -> cl_int {
            unsupported(stringify!($name))
        }
    };
    (no_object $name:ident) => {
        extern "C" fn $name() -> Raw {
            unsupported(stringify!($name));
            std::ptr::null_mut()
        }
    };
    (status $name:ident $function:path, ($($arg:ident : $type:ty),*)) => {
        pub(super) unsafe extern "C" fn $name($($arg: $type),*) -> cl_int {
            // SAFETY: the program keeps the API's rules on pointers.
            guard(stringify!($name), || unsafe { $function($($arg),*) }).map_or_else(|e| e.code, |()| CL_SUCCESS)
        }
    };
    (create $name:ident $function:path, ($($arg:ident : $type:ty),*)) => {
        pub(super) unsafe extern "C" fn $name($($arg: $type,)* errcode_ret: *mut cl_int) -> Raw {
            // SAFETY: the program keeps the API's rules on pointers.
            let result = guard(stringify!($name), || unsafe { $function($($arg),*) });
            // SAFETY: as above.
            unsafe { give(result, errcode_ret) }
        }
    };
    // An info query: the size protocol's three arguments come last and become one.
    (query $name:ident $function:path, ($($arg:ident : $type:ty),*)) => {
        pub(super) unsafe extern "C" fn $name(
            $($arg: $type,)*
            param_value_size: usize,
            param_value: *mut c_void,
            param_value_size_ret: *mut usize,
        ) -> cl_int {
            let query = Query::new(param_value_size, param_value, param_value_size_ret);
            // SAFETY: the program keeps the API's rules on pointers.
            let result = guard(stringify!($name), || unsafe { $function($($arg,)* &query) });
            result.map_or_else(|e| e.code, |_| CL_SUCCESS)
        }
    };
    // A call that enqueues: the queue comes first, the wait list and the event last, and become one.
    (enqueue $name:ident $function:path, ($($arg:ident : $type:ty),*)) => {
        pub(super) unsafe extern "C" fn $name(
            command_queue: Raw,
            $($arg: $type,)*
            num_events_in_wait_list: u32,
            event_wait_list: *const Raw,
            event: *mut Raw,
        ) -> cl_int {
            // SAFETY: the program keeps the API's rules on pointers.
            let result = guard(stringify!($name), || unsafe {
                let call = Call::new(command_queue, num_events_in_wait_list, event_wait_list, event)?;
                $function(call, $($arg),*)
            });
            result.map_or_else(|e| e.code, |()| CL_SUCCESS)
        }
    };
    // The same with a result, and the error behind the event: mapping.
    (map $name:ident $function:path, ($($arg:ident : $type:ty),*)) => {
        pub(super) unsafe extern "C" fn $name(
            command_queue: Raw,
            $($arg: $type,)*
            num_events_in_wait_list: u32,
            event_wait_list: *const Raw,
            event: *mut Raw,
            errcode_ret: *mut cl_int,
        ) -> Raw {
            // SAFETY: the program keeps the API's rules on pointers.
            let result = guard(stringify!($name), || unsafe {
                let call = Call::new(command_queue, num_events_in_wait_list, event_wait_list, event)?;
                $function(call, $($arg),*)
            });
            // SAFETY: as above.
            unsafe { give(result, errcode_ret) }
        }
    };
    // Returns an object also where what it was made for failed.
    (create_with_status $name:ident $function:path, ($($arg:ident : $type:ty),*)) => {
        pub(super) unsafe extern "C" fn $name($($arg: $type,)* errcode_ret: *mut cl_int) -> Raw {
            // SAFETY: the program keeps the API's rules on pointers.
            let result = guard(stringify!($name), || unsafe { $function($($arg),*) });
            let (value, code) = match result {
                Ok((value, None)) => (value, CL_SUCCESS),
                Ok((value, Some(error))) => {
                    log_error(stringify!($name), &error);
                    (value, error.code)
                }
                Err(error) => (std::ptr::null_mut(), error.code),
            };
            if !errcode_ret.is_null() {
                // SAFETY: as above.
                unsafe { errcode_ret.write(code) };
            }
            value
        }
    };
    (pointer $name:ident $function:path, ($($arg:ident : $type:ty),*)) => {
        pub(super) unsafe extern "C" fn $name($($arg: $type),*) -> Raw {
            // SAFETY: the program keeps the API's rules on pointers.
            guard(stringify!($name), || unsafe { $function($($arg),*) }).unwrap_or(std::ptr::null_mut())
        }
    };
    (nothing $name:ident $function:path, ($($arg:ident : $type:ty),*)) => {
        pub(super) unsafe extern "C" fn $name($($arg: $type),*) {
            // SAFETY: the program keeps the API's rules on pointers. There is nowhere to return an error to.
            let _ = guard(stringify!($name), || unsafe { $function($($arg),*) });
        }
    };
}

macro_rules! entries {
    ($($kind:ident $name:ident $(= $function:path, ($($arg:ident : $type:ty),* $(,)?))? ;)*) => {
        $(stub!($kind $name $($function, ($($arg: $type),*))?);)*

        /// The loader's dispatch table.
        #[repr(C)]
        #[allow(missing_docs)]
        pub struct Dispatch {
            $(pub $name: Slot),*
        }

        /// The table that every object's header points to.
        pub static DISPATCH: Dispatch = Dispatch { $($name: Slot($name as *const ())),* };

        /// Functions of the table by name; those of extensions that are not offered are left out.
        static NAMES: &[(&str, Slot)] = &[$((stringify!($name), named!($kind $name))),*];
    };
}

macro_rules! named {
    (absent $name:ident) => {
        Slot(std::ptr::null())
    };
    (no_object $name:ident) => {
        Slot(std::ptr::null())
    };
    ($kind:ident $name:ident) => {
        Slot($name as *const ())
    };
}

mod table;
pub use table::{DISPATCH, Dispatch};

/// Address of a function by name: those of the table and of the extensions that are offered.
pub(crate) fn address(name: &CStr) -> *const () {
    let name = name.to_bytes();
    if let Some(slot) = table::find(name) {
        return slot;
    }
    match name {
        b"clIcdGetPlatformIDsKHR" => get_platform_ids as *const (),
        b"clCreateProgramWithILKHR" => table::find(b"clCreateProgramWithIL").unwrap_or(std::ptr::null()),
        _ => std::ptr::null(),
    }
}

/// `clGetExtensionFunctionAddress`, exported by the driver.
///
/// # Safety
/// As the API's.
pub unsafe fn get_extension_function_address(name: *const c_char) -> *mut c_void {
    // SAFETY: the caller's promise.
    if name.is_null() { std::ptr::null_mut() } else { address(unsafe { CStr::from_ptr(name) }).cast_mut().cast() }
}

/// `clIcdGetPlatformIDsKHR`, exported by the driver.
///
/// # Safety
/// As the API's.
pub unsafe extern "C" fn get_platform_ids(num_entries: u32, platforms: *mut Raw, num_platforms: *mut u32) -> cl_int {
    // SAFETY: the caller's promise.
    unsafe { table::clGetPlatformIDs(num_entries, platforms, num_platforms) }
}

/// `clGetPlatformInfo`, exported by the driver.
///
/// # Safety
/// As the API's.
pub unsafe fn get_platform_info(
    platform: Raw,
    name: u32,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    // SAFETY: the caller's promise.
    unsafe { table::clGetPlatformInfo(platform, name, size, value, size_ret) }
}
