//! The C side of the API: types and constants of `CL/cl.h`, declared here so that nothing links a loader.
#![allow(non_camel_case_types, non_upper_case_globals)]
#![allow(dead_code, reason = "the lists are complete, whether or not every value is used")]
use std::ffi::{c_char, c_void};

pub mod bits;
pub mod enums;
pub mod errors;

pub use bits::*;
pub use enums::*;
pub use errors::*;

pub type cl_int = i32;
pub type cl_uint = u32;
pub type cl_ulong = u64;
pub type cl_bool = u32;
pub type cl_bitfield = u64;
/// Every handle; which object it names is checked at run time.
pub type Raw = *mut c_void;

pub type ContextNotify = unsafe extern "C" fn(*const c_char, *const c_void, usize, *mut c_void);
pub type ObjectCallback = unsafe extern "C" fn(Raw, *mut c_void);
pub type EventCallback = unsafe extern "C" fn(Raw, cl_int, *mut c_void);
pub type NativeKernel = unsafe extern "C" fn(*mut c_void);
pub type SvmFree = unsafe extern "C" fn(Raw, cl_uint, *mut *mut c_void, *mut c_void);

/// `cl_name_version`.
#[repr(C)]
#[derive(Copy, Clone)]
pub struct NameVersion {
    pub version: u32,
    pub name: [u8; 64],
}

impl NameVersion {
    /// An entry; names longer than 63 bytes are cut.
    pub fn new(name: &str, version: u32) -> NameVersion {
        let mut entry = NameVersion { version, name: [0; 64] };
        let n = name.len().min(63);
        entry.name[..n].copy_from_slice(&name.as_bytes()[..n]);
        entry
    }
}

/// `CL_MAKE_VERSION`.
pub const fn version(major: u32, minor: u32, patch: u32) -> u32 {
    major << 22 | minor << 12 | patch
}

/// `cl_image_format`.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct ImageFormat {
    pub order: u32,
    pub data_type: u32,
}

/// `cl_image_desc`.
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ImageDesc {
    pub image_type: u32,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub array_size: usize,
    pub row_pitch: usize,
    pub slice_pitch: usize,
    pub num_mip_levels: u32,
    pub num_samples: u32,
    pub mem_object: Raw,
}

/// `cl_buffer_region`.
#[repr(C)]
#[derive(Copy, Clone)]
pub struct BufferRegion {
    pub origin: usize,
    pub size: usize,
}

/// Name of a command type.
pub fn command_name(command: cl_uint) -> &'static str {
    match command {
        CL_COMMAND_NDRANGE_KERNEL => "CL_COMMAND_NDRANGE_KERNEL",
        CL_COMMAND_TASK => "CL_COMMAND_TASK",
        CL_COMMAND_NATIVE_KERNEL => "CL_COMMAND_NATIVE_KERNEL",
        CL_COMMAND_READ_BUFFER => "CL_COMMAND_READ_BUFFER",
        CL_COMMAND_WRITE_BUFFER => "CL_COMMAND_WRITE_BUFFER",
        CL_COMMAND_COPY_BUFFER => "CL_COMMAND_COPY_BUFFER",
        CL_COMMAND_READ_IMAGE => "CL_COMMAND_READ_IMAGE",
        CL_COMMAND_WRITE_IMAGE => "CL_COMMAND_WRITE_IMAGE",
        CL_COMMAND_COPY_IMAGE => "CL_COMMAND_COPY_IMAGE",
        CL_COMMAND_COPY_IMAGE_TO_BUFFER => "CL_COMMAND_COPY_IMAGE_TO_BUFFER",
        CL_COMMAND_COPY_BUFFER_TO_IMAGE => "CL_COMMAND_COPY_BUFFER_TO_IMAGE",
        CL_COMMAND_MAP_BUFFER => "CL_COMMAND_MAP_BUFFER",
        CL_COMMAND_MAP_IMAGE => "CL_COMMAND_MAP_IMAGE",
        CL_COMMAND_UNMAP_MEM_OBJECT => "CL_COMMAND_UNMAP_MEM_OBJECT",
        CL_COMMAND_MARKER => "CL_COMMAND_MARKER",
        CL_COMMAND_ACQUIRE_GL_OBJECTS => "CL_COMMAND_ACQUIRE_GL_OBJECTS",
        CL_COMMAND_RELEASE_GL_OBJECTS => "CL_COMMAND_RELEASE_GL_OBJECTS",
        CL_COMMAND_READ_BUFFER_RECT => "CL_COMMAND_READ_BUFFER_RECT",
        CL_COMMAND_WRITE_BUFFER_RECT => "CL_COMMAND_WRITE_BUFFER_RECT",
        CL_COMMAND_COPY_BUFFER_RECT => "CL_COMMAND_COPY_BUFFER_RECT",
        CL_COMMAND_USER => "CL_COMMAND_USER",
        CL_COMMAND_BARRIER => "CL_COMMAND_BARRIER",
        CL_COMMAND_MIGRATE_MEM_OBJECTS => "CL_COMMAND_MIGRATE_MEM_OBJECTS",
        CL_COMMAND_FILL_BUFFER => "CL_COMMAND_FILL_BUFFER",
        CL_COMMAND_FILL_IMAGE => "CL_COMMAND_FILL_IMAGE",
        CL_COMMAND_SVM_FREE => "CL_COMMAND_SVM_FREE",
        CL_COMMAND_SVM_MEMCPY => "CL_COMMAND_SVM_MEMCPY",
        CL_COMMAND_SVM_MEMFILL => "CL_COMMAND_SVM_MEMFILL",
        CL_COMMAND_SVM_MAP => "CL_COMMAND_SVM_MAP",
        CL_COMMAND_SVM_UNMAP => "CL_COMMAND_SVM_UNMAP",
        CL_COMMAND_SVM_MIGRATE_MEM => "CL_COMMAND_SVM_MIGRATE_MEM",
        _ => "unknown command",
    }
}
