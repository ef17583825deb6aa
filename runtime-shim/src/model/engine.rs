//! What executes commands: the machine with its memory, and the times that moving bytes takes.
use super::Device;
use super::clock::{NANOSECOND, Time};
use super::command::Done;
use crate::cl::errors::CL_OUT_OF_RESOURCES;
use crate::error::{ClError, Result};
use std::sync::Arc;
use warpscope_memory::device_memory::DeviceMemory;
use warpscope_sim::{Launch, Machine};

/// The executing side of a context.
pub struct Engine {
    machine: Machine,
}

impl Engine {
    /// A machine with empty memory and cold caches.
    pub fn new(device: &Device) -> Engine {
        Engine { machine: Machine::new(device.spec.clone()) }
    }

    /// Its memory.
    pub fn memory(&self) -> &Arc<DeviceMemory> {
        self.machine.memory()
    }

    /// Runs a kernel.
    pub fn launch(&mut self, launch: &Launch) -> Result<Done> {
        let record = self.machine.launch(launch).map_err(|e| ClError::new(CL_OUT_OF_RESOURCES, e.to_string()))?;
        let duration = (record.counters.time.nanoseconds * NANOSECOND as f64) as Time;
        Ok(Done { duration, bytes: 0, launch: Some(Box::new(record)) })
    }
}

/// Times of transfers, from the `host` section of the machine.
#[derive(Copy, Clone, Debug)]
pub struct Link {
    latency: Time,
    to_device: f64,
    from_device: f64,
    on_device: f64,
}

impl Link {
    /// The link of a machine.
    pub fn new(host: &warpscope_configs::specs::HostSpec) -> Link {
        Link {
            latency: (host.transfer_latency * 1e6) as Time,
            // 1 GB/s is one byte a nanosecond.
            to_device: 1000.0 / host.to_device,
            from_device: 1000.0 / host.from_device,
            on_device: 1000.0 / host.on_device,
        }
    }
    /// Host to device.
    pub fn write(&self, bytes: usize) -> Time {
        self.latency + (bytes as f64 * self.to_device) as Time
    }
    /// Device to host.
    pub fn read(&self, bytes: usize) -> Time {
        self.latency + (bytes as f64 * self.from_device) as Time
    }
    /// Inside device memory: bytes read and bytes written count.
    pub fn inside(&self, read: usize, written: usize) -> Time {
        self.latency + ((read + written) as f64 * self.on_device) as Time
    }
}
