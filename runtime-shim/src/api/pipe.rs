//! Pipes (OpenCL 3.0 API, 5.4).
use super::info::{Query, Written};
use super::unknown;
use crate::cl::*;
use crate::error::{Result, ensure, fail};
use crate::model::handle::{self, publish};
use crate::model::{Context, MemKind, MemObject};
use std::sync::Arc;

/// CL_DEVICE_PIPE_MAX_PACKET_SIZE: the least that the specification allows.
pub(super) const MAX_PACKET_BYTES: u32 = 1024;

pub unsafe fn create_pipe(
    context: Raw,
    flags: u64,
    pipe_packet_size: u32,
    pipe_max_packets: u32,
    properties: *const isize,
) -> Result<Raw> {
    let context = handle::resolve::<Context>(context)?;
    // "CL_INVALID_OPERATION if no devices in context support pipes"
    ensure!(
        context.device.spec.host.pipes,
        CL_INVALID_OPERATION,
        "the device does not offer pipes (CL_DEVICE_PIPE_SUPPORT); the machine's key host.pipes says so"
    );
    // "Only CL_MEM_READ_WRITE and CL_MEM_HOST_NO_ACCESS can be specified when creating a pipe object."
    let all = CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS;
    ensure!(flags & !all == 0, CL_INVALID_VALUE, "memory flags {flags:#x} are not for pipes");
    ensure!(properties.is_null(), CL_INVALID_VALUE, "pipes have no properties");
    ensure!(
        (1..=MAX_PACKET_BYTES).contains(&pipe_packet_size),
        CL_INVALID_PIPE_SIZE,
        "packets of {pipe_packet_size} bytes; 1 to {MAX_PACKET_BYTES} are possible"
    );
    ensure!(pipe_max_packets > 0, CL_INVALID_PIPE_SIZE, "the pipe has room for no packet");
    // "If the value specified for flags is 0, the default is used which is CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS."
    let flags = if flags == 0 { all } else { flags };
    Ok(publish(Arc::new(MemObject::pipe(context, flags, pipe_packet_size, pipe_max_packets)?)))
}

pub unsafe fn get_pipe_info(pipe: Raw, param_name: u32, query: &Query) -> Result<Written> {
    let object = handle::resolve::<MemObject>(pipe)?;
    let MemKind::Pipe { packet_size, max_packets, .. } = object.kind else {
        fail!(CL_INVALID_MEM_OBJECT, "the memory object is no pipe")
    };
    match param_name {
        CL_PIPE_PACKET_SIZE => query.value(packet_size),
        CL_PIPE_MAX_PACKETS => query.value(max_packets),
        CL_PIPE_PROPERTIES => query.slice::<isize>(&[]),
        _ => unknown("pipe query", param_name),
    }
}
