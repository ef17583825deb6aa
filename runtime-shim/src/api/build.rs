//! Building, compiling and linking (OpenCL 3.0 API, 5.8.4, 5.8.5).
use super::{Foreign, check_devices, list, text};
use crate::cl::*;
use crate::error::{ClError, Result, ensure, fail};
use crate::model::handle::{self, publish};
use crate::model::{Binary, CompileInput, Context, ProgramObject};
use std::ffi::{c_char, c_void};
use std::sync::Arc;
use warpscope_compiler::{BuildOptions, Standard};

/// Options without `-cl-std` mean the newest OpenCL C 1.x (OpenCL 3.0 API, 5.8.6.5).
const DEFAULT_STANDARD: Standard = Standard::Cl12;

fn parse(options: &str, code: i32) -> Result<CompileInput> {
    let parsed = BuildOptions::parse(options, DEFAULT_STANDARD).map_err(|e| ClError::new(code, e.to_string()))?;
    Ok(CompileInput { text: options.to_string(), options: parsed, headers: Vec::new() })
}

/// Runs a build now or, with a callback, on a thread of its own.
fn run(
    program: Arc<ProgramObject>,
    notify: Option<Foreign<ObjectCallback>>,
    build: impl FnOnce(&ProgramObject) -> Result + Send + 'static,
) -> Result {
    let Some(notify) = notify else { return build(&program) };
    let job = move || {
        // The error is in the build status and the log; the callback tells that both are there.
        let _ = build(&program);
        let raw = program.raw();
        // SAFETY: the program passed the function for this.
        unsafe { (notify.function)(raw, notify.data()) };
    };
    crate::model::spawn("warpscope-build", job)
        .map(|_| ())
        .map_err(|e| ClError::new(CL_OUT_OF_HOST_MEMORY, format!("no thread for the build: {e}")))
}

fn check_notify(notify: Option<ObjectCallback>, data: *mut c_void) -> Result<Option<Foreign<ObjectCallback>>> {
    ensure!(notify.is_some() || data.is_null(), CL_INVALID_VALUE, "there is user_data, but no function for it");
    Ok(notify.map(|f| Foreign::new(f, data)))
}

pub unsafe fn build_program(
    program: Raw,
    num_devices: u32,
    device_list: *const Raw,
    options: *const c_char,
    pfn_notify: Option<ObjectCallback>,
    user_data: *mut c_void,
) -> Result {
    let program = handle::resolve::<ProgramObject>(program)?;
    check_devices(num_devices, device_list)?;
    let notify = check_notify(pfn_notify, user_data)?;
    let input = parse(&text(options), CL_INVALID_BUILD_OPTIONS)?;
    program.context.usable()?;
    program.begin(&input.text)?;
    run(program, notify, move |p| p.build(&input))
}

pub unsafe fn compile_program(
    program: Raw,
    num_devices: u32,
    device_list: *const Raw,
    options: *const c_char,
    num_input_headers: u32,
    input_headers: *const Raw,
    header_include_names: *const *const c_char,
    pfn_notify: Option<ObjectCallback>,
    user_data: *mut c_void,
) -> Result {
    let program = handle::resolve::<ProgramObject>(program)?;
    check_devices(num_devices, device_list)?;
    // "if num_input_headers is zero and header_include_names or input_headers are not NULL or if num_input_headers is
    // not zero and header_include_names or input_headers are NULL"
    let given = [input_headers.is_null(), header_include_names.is_null()];
    ensure!(
        given.iter().all(|null| *null == (num_input_headers == 0)),
        CL_INVALID_VALUE,
        "the header lists are inconsistent with num_input_headers {num_input_headers}"
    );
    let notify = check_notify(pfn_notify, user_data)?;
    let mut input = parse(&text(options), CL_INVALID_COMPILER_OPTIONS)?;
    // "CL_INVALID_OPERATION if program has no source or IL available"
    let has_source = program.source.is_some() || program.il.is_some();
    ensure!(has_source, CL_INVALID_OPERATION, "the program has neither source nor SPIR-V");
    let names = list(header_include_names, num_input_headers as usize);
    for (&raw, &name) in list(input_headers, num_input_headers as usize).iter().zip(names) {
        let header = handle::resolve::<ProgramObject>(raw)?;
        let Some(source) = &header.source else { fail!(CL_INVALID_OPERATION, "a header was not made from source") };
        input.headers.push((text(name), source.clone()));
    }
    program.context.usable()?;
    program.begin(&input.text)?;
    run(program, notify, move |p| {
        p.compile(&input).map_err(|e| match e.code {
            CL_BUILD_PROGRAM_FAILURE => ClError::new(CL_COMPILE_PROGRAM_FAILURE, e.why),
            _ => e,
        })
    })
}

/// The options that only linking knows, and the rest.
fn link_options(options: &str) -> Result<(CompileInput, u32)> {
    let mut kind = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    let mut rest = Vec::new();
    for word in options.split_whitespace() {
        match word {
            "-create-library" => kind = CL_PROGRAM_BINARY_TYPE_LIBRARY,
            "-enable-link-options" => {}
            "-cl-denorms-are-zero"
            | "-cl-no-signed-zeros"
            | "-cl-no-signed-zeroes"
            | "-cl-unsafe-math-optimizations"
            | "-cl-finite-math-only"
            | "-cl-fast-relaxed-math"
            | "-cl-no-subgroup-ifp" => rest.push(word.replace("zeroes", "zeros")),
            _ => fail!(CL_INVALID_LINKER_OPTIONS, "{word:?} is no link option"),
        }
    }
    let wants_library = options.split_whitespace().any(|w| w == "-enable-link-options");
    ensure!(
        !wants_library || kind == CL_PROGRAM_BINARY_TYPE_LIBRARY,
        CL_INVALID_LINKER_OPTIONS,
        "-enable-link-options goes with -create-library only"
    );
    let mut input = parse(&rest.join(" "), CL_INVALID_LINKER_OPTIONS)?;
    input.text = options.to_string();
    Ok((input, kind))
}

pub unsafe fn link_program(
    context: Raw,
    num_devices: u32,
    device_list: *const Raw,
    options: *const c_char,
    num_input_programs: u32,
    input_programs: *const Raw,
    pfn_notify: Option<ObjectCallback>,
    user_data: *mut c_void,
) -> Result<(Raw, Option<ClError>)> {
    let context = handle::resolve::<Context>(context)?;
    check_devices(num_devices, device_list)?;
    ensure!(num_input_programs > 0 && !input_programs.is_null(), CL_INVALID_VALUE, "there is nothing to link");
    let notify = check_notify(pfn_notify, user_data)?;
    let (input, kind) = link_options(&text(options))?;
    let mut binaries: Vec<Arc<Binary>> = Vec::new();
    for &raw in list(input_programs, num_input_programs as usize) {
        let program = handle::resolve::<ProgramObject>(raw)?;
        super::same_context(&context, &program.context, "a program")?;
        // "CL_INVALID_OPERATION if … some of the devices have a compiled binary or library and others do not", and an
        // executable cannot be linked again
        let binary = program.binary().filter(|b| b.kind != CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
        let Some(binary) = binary else {
            fail!(CL_INVALID_OPERATION, "an input program is no compiled object and no library")
        };
        binaries.push(binary);
    }
    context.usable()?;
    let program = Arc::new(ProgramObject::for_link(context)?);
    program.begin(&input.text)?;
    let raw = publish(program.clone());
    let link = move |p: &ProgramObject| {
        p.link(&binaries, kind, &input).map_err(|e| match e.code {
            CL_BUILD_PROGRAM_FAILURE => ClError::new(CL_LINK_PROGRAM_FAILURE, e.why),
            _ => e,
        })
    };
    // "clLinkProgram returns a valid non-zero program object … if the link operation can begin": also where it fails, for
    // its log.
    Ok((raw, run(program, notify, link).err()))
}
