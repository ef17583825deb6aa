//! Program objects (OpenCL 3.0 API, 5.8.1 to 5.8.3).
use super::{check_devices, list, release, retain, text};
use crate::cl::*;
use crate::error::{Result, ensure, fail};
use crate::model::handle::{self, publish};
use crate::model::spirv::{Words, is_module};
use crate::model::{Binary, Context, ProgramObject};
use std::ffi::{c_char, c_void};
use std::sync::Arc;

pub unsafe fn create_program_with_source(
    context: Raw,
    count: u32,
    strings: *const *const c_char,
    lengths: *const usize,
) -> Result<Raw> {
    let context = handle::resolve::<Context>(context)?;
    // "if count is zero or if strings or any entry in strings is NULL"
    ensure!(count > 0 && !strings.is_null(), CL_INVALID_VALUE, "there are no strings");
    let lengths = list(lengths, count as usize);
    let mut source = Vec::new();
    for (i, &string) in list(strings, count as usize).iter().enumerate() {
        ensure!(!string.is_null(), CL_INVALID_VALUE, "string {i} is NULL");
        // A length of 0 means that the string ends with a zero byte.
        match lengths.get(i).copied().unwrap_or(0) {
            0 => source.extend_from_slice(std::ffi::CStr::from_ptr(string).to_bytes()),
            n => source.extend_from_slice(list(string.cast::<u8>(), n)),
        }
    }
    let source = String::from_utf8_lossy(&source).into_owned();
    Ok(publish(Arc::new(ProgramObject::from_source(context, source)?)))
}

pub unsafe fn create_program_with_il(context: Raw, il: *const c_void, length: usize) -> Result<Raw> {
    let context = handle::resolve::<Context>(context)?;
    // "if il is NULL or if length is zero", "if the length-byte memory pointed to by il does not contain well-formed
    // intermediate language input"
    ensure!(!il.is_null() && length > 0, CL_INVALID_VALUE, "il is NULL or its length is 0");
    let bytes = list(il.cast::<u8>(), length).to_vec();
    ensure!(is_module(&bytes), CL_INVALID_VALUE, "il is no SPIR-V module");
    Ok(publish(Arc::new(ProgramObject::from_il(context, bytes)?)))
}

pub unsafe fn create_program_with_binary(
    context: Raw,
    num_devices: u32,
    device_list: *const Raw,
    lengths: *const usize,
    binaries: *const *const u8,
    binary_status: *mut i32,
) -> Result<Raw> {
    let context = handle::resolve::<Context>(context)?;
    // "if device_list is NULL or num_devices is zero", "if lengths is NULL or if binaries is NULL or if any entry in
    // lengths[i] is zero or binaries[i] is NULL"
    ensure!(num_devices > 0 && !device_list.is_null(), CL_INVALID_VALUE, "the device list is empty");
    check_devices(num_devices, device_list)?;
    ensure!(!lengths.is_null() && !binaries.is_null(), CL_INVALID_VALUE, "lengths or binaries is NULL");
    let lengths = list(lengths, num_devices as usize);
    let mut first = None;
    let status = |i: usize, code: i32| {
        if !binary_status.is_null() {
            binary_status.add(i).write(code);
        }
    };
    for (i, &pointer) in list(binaries, num_devices as usize).iter().enumerate() {
        if pointer.is_null() || lengths[i] == 0 {
            status(i, CL_INVALID_VALUE);
            fail!(CL_INVALID_VALUE, "binary {i} is NULL or empty");
        }
        match Binary::from_bytes(list(pointer, lengths[i])) {
            Ok(binary) => {
                status(i, CL_SUCCESS);
                first.get_or_insert(binary);
            }
            Err(why) => {
                status(i, CL_INVALID_BINARY);
                fail!(CL_INVALID_BINARY, "binary {i} cannot be used: {why}");
            }
        }
    }
    let Some(binary) = first else { fail!(CL_INVALID_VALUE, "there are no binaries") };
    Ok(publish(Arc::new(ProgramObject::from_binary(context, binary)?)))
}

pub unsafe fn create_program_with_built_in_kernels(
    context: Raw,
    num_devices: u32,
    device_list: *const Raw,
    kernel_names: *const c_char,
) -> Result<Raw> {
    handle::resolve::<Context>(context)?;
    ensure!(num_devices > 0 && !device_list.is_null(), CL_INVALID_VALUE, "the device list is empty");
    check_devices(num_devices, device_list)?;
    // "if kernel_names is NULL or kernel_names contains a kernel name that is not supported by any of the devices"
    let names = text(kernel_names);
    fail!(CL_INVALID_VALUE, "the device has no built-in kernels, so not {names:?} either")
}

pub unsafe fn retain_program(program: Raw) -> Result {
    retain::<ProgramObject>(program)
}

pub unsafe fn release_program(program: Raw) -> Result {
    release::<ProgramObject>(program)
}

/// Deprecated by 3.0, where it "returns CL_INVALID_OPERATION if no devices in the context associated with program support
/// destructors for program scope global variables".
pub unsafe fn set_program_release_callback(
    program: Raw,
    pfn_notify: Option<ObjectCallback>,
    _user_data: *mut c_void,
) -> Result {
    handle::resolve::<ProgramObject>(program)?;
    ensure!(pfn_notify.is_some(), CL_INVALID_VALUE, "pfn_notify is NULL");
    fail!(CL_INVALID_OPERATION, "the device has no destructors of program-scope variables to wait for")
}

pub unsafe fn set_program_specialization_constant(
    program: Raw,
    spec_id: u32,
    spec_size: usize,
    spec_value: *const c_void,
) -> Result {
    let program = handle::resolve::<ProgramObject>(program)?;
    // "CL_INVALID_PROGRAM if program is not a valid program object created from an intermediate language"
    let Some(il) = &program.il else { fail!(CL_INVALID_PROGRAM, "the program was not made from SPIR-V") };
    let Some(size) = Words::new(il).specialization_size(spec_id) else {
        fail!(CL_INVALID_SPEC_ID, "the module has no specialization constant {spec_id}")
    };
    // "CL_INVALID_VALUE if spec_size does not match the size of the specialization constant … or if spec_value is NULL"
    ensure!(spec_size == size, CL_INVALID_VALUE, "specialization constant {spec_id} has {size} bytes, not {spec_size}");
    ensure!(!spec_value.is_null(), CL_INVALID_VALUE, "spec_value is NULL");
    program.set_constant(spec_id, list(spec_value.cast::<u8>(), spec_size).to_vec());
    Ok(())
}
