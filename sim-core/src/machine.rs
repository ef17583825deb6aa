//! The machine: what outlives launches.
use crate::check::{Checked, check};
use crate::functional::{self, Job};
use crate::grid::Grid;
use crate::timing::{Engine, Limits};
use crate::{Convention, Launch, LaunchCounters, LaunchError, LaunchRecord, Mode, ProgramFacts, RECORD_VERSION};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use warpscope_configs::MachineSpec;
use warpscope_configs::specs::TransferEffect;
use warpscope_exec::exec::{Code, LaunchValues, evaluate_constants};
use warpscope_memory::device_memory::DeviceMemory;

/// How launches are run; none of it changes a record.
#[derive(Clone, Debug)]
pub struct Options {
    /// Warp instructions after which a launch is stopped as a runaway.
    pub instruction_limit: u64,
    /// Host threads for functional mode; 0: as many as the host has cores.
    pub threads: usize,
    /// Cycles between two exchanges of the timing engine; 0: the longest possible, with compute units running on beyond
    /// it where nothing from outside matters to them.
    pub window: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { instruction_limit: 20_000_000_000, threads: 0, window: 0 }
    }
}

/// A simulated machine. It owns the device memory, time and caches, and outlives launches.
pub struct Machine {
    spec: Arc<MachineSpec>,
    digest: String,
    memory: Arc<DeviceMemory>,
    options: Options,
    interrupt: Arc<AtomicBool>,
    launches: u64,
    cold: bool,
    /// What kernels have printed since it was taken.
    printed: Vec<u8>,
    /// Made by the first launch in timing mode.
    engine: Option<Engine>,
}

impl Machine {
    /// A machine with empty memory and caches. The specification must have passed its checks.
    pub fn new(spec: Arc<MachineSpec>) -> Machine {
        let digest = warpscope_configs::digest(&spec);
        let memory = Arc::new(DeviceMemory::new(spec.chip.global_memory));
        Machine {
            spec,
            digest,
            memory,
            options: Options::default(),
            interrupt: Arc::default(),
            launches: 0,
            cold: true,
            printed: Vec::new(),
            engine: None,
        }
    }

    /// Its description.
    pub fn spec(&self) -> &Arc<MachineSpec> {
        &self.spec
    }

    /// Digest of the whole configuration: equal digests, equal machines.
    pub fn configuration_digest(&self) -> &str {
        &self.digest
    }

    /// Its memory, shared with whoever allocates and copies.
    pub fn memory(&self) -> &Arc<DeviceMemory> {
        &self.memory
    }

    /// How launches are run.
    pub fn options_mut(&mut self) -> &mut Options {
        &mut self.options
    }

    /// Setting this to `true` from any thread stops the running launch; the launch resets it.
    pub fn interrupt_flag(&self) -> Arc<AtomicBool> {
        self.interrupt.clone()
    }

    /// Empties all caches, as if the machine had just been switched on; the next launch is a cold one.
    pub fn flush_caches(&mut self) {
        self.cold = true;
        if let Some(engine) = &mut self.engine {
            engine.flush();
        }
    }

    /// A transfer has written `bytes` of device memory at `address`: `host.transfer_l2` says what that does to the L2.
    pub fn transferred(&mut self, address: u64, bytes: u64) {
        let Some(engine) = self.engine.as_mut().filter(|_| self.spec.host.transfer_l2 == TransferEffect::Drop) else {
            return;
        };
        if let Some(allocation) = self.memory.allocation_at(address) {
            let offset = address - allocation.address;
            engine.drop_range(allocation.simulated + offset, bytes.min(allocation.size - offset));
        }
    }

    /// Takes what kernels have printed (`printf`), in the order in which they took room for it.
    pub fn take_printed(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.printed)
    }

    /// Runs a kernel to its end.
    ///
    /// On an error the launch has been stopped: device memory holds what it had written so far.
    pub fn launch(&mut self, launch: &Launch) -> Result<LaunchRecord, LaunchError> {
        let checked = check(&self.spec, launch)?;
        let index = self.launches;
        self.launches += 1;
        let empty = launch.global.contains(&0);
        let counters = if empty { Ok(LaunchCounters::default()) } else { self.run(launch, &checked) };
        // What was printed before a fault is most wanted.
        if let Some(buffer) = &launch.printf {
            buffer.collect(&self.memory, &mut self.printed);
        }
        let counters = counters?;
        let convention = if self.cold { Convention::Cold } else { Convention::Warm };
        if launch.mode == Mode::Timing && !empty {
            self.cold = false;
        }
        let program = &*launch.program;
        Ok(LaunchRecord {
            version: RECORD_VERSION,
            machine: self.spec.chip.name.clone(),
            configuration: self.digest.clone(),
            kernel: program.name.clone(),
            index,
            mode: launch.mode,
            convention,
            geometry: checked.geometry,
            program: ProgramFacts {
                operations: program.ops.len() as u32,
                registers: program.registers,
                uniform_registers: program.uniform_registers,
                local_bytes: program.local_bytes,
                private_bytes: program.private_bytes,
                spill_bytes: program.spill_bytes,
            },
            resources: checked.resources,
            occupancy: checked.occupancy,
            counters,
        })
    }

    fn run(&mut self, launch: &Launch, checked: &Checked) -> Result<LaunchCounters, LaunchError> {
        self.interrupt.store(false, Relaxed);
        match launch.program.width {
            8 => self.run_width::<8>(launch, checked),
            16 => self.run_width::<16>(launch, checked),
            32 => self.run_width::<32>(launch, checked),
            _ => self.run_width::<64>(launch, checked),
        }
    }

    fn run_width<const W: usize>(&mut self, launch: &Launch, checked: &Checked) -> Result<LaunchCounters, LaunchError> {
        let program = &*launch.program;
        let constants = evaluate_constants::<W>(
            program,
            &LaunchValues {
                parameters: &checked.parameters,
                globals: &launch.globals,
                local_arguments: &checked.local_offsets,
                work_dim: launch.work_dim,
                global_size: launch.global,
                global_offset: launch.offset,
                local_size: launch.local,
            },
        );
        let code = Code::new(program, &constants);
        let view = self.memory.view();
        match launch.mode {
            Mode::Functional => {
                let job = Job {
                    code,
                    grid: Grid::new(checked.geometry),
                    view: &view,
                    local_bytes: checked.resources.local_bytes,
                    reserved: self.spec.memory.local.reserved_per_group,
                    instruction_limit: self.options.instruction_limit,
                    interrupt: &self.interrupt,
                    threads: self.options.threads,
                };
                Ok(LaunchCounters { work: functional::run(&job)?, ..Default::default() })
            }
            Mode::Timing => {
                let limits = Limits {
                    instructions: self.options.instruction_limit,
                    interrupt: &self.interrupt,
                    window: self.options.window,
                };
                let engine = self.engine.get_or_insert_with(|| Engine::new(self.spec.clone()));
                let result = engine.launch(launch, checked, code, &view, &limits);
                // A launch that was stopped leaves empty caches.
                self.cold |= result.is_err();
                result
            }
        }
    }
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine")
            .field("name", &self.spec.chip.name)
            .field("configuration", &self.digest)
            .field("launches", &self.launches)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use warpscope_exec::ops::OpClass;

    #[test]
    fn machines_describe_every_class() {
        let keys: Vec<&str> = OpClass::ALL.iter().map(|c| c.key()).collect();
        assert_eq!(keys, warpscope_configs::OPERATION_CLASSES);
    }
}
