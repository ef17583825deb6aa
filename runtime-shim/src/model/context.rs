//! Contexts: a device memory, an engine and an order of commands of their own.
use super::command::Scheduler;
use super::memory::{Destructor, SvmAllocation};
use super::{Device, Engine, Handle, Queue};
use crate::cl::errors::CL_OUT_OF_RESOURCES;
use crate::error::{ClError, Result};
use crate::sync::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Once, Weak};
use warpscope_memory::device_memory::DeviceMemory;

/// The program's function for diagnoses.
pub type Notify = Box<dyn Fn(&str) + Send + Sync>;

/// The queues on the device that a context has; none of them is kept alive by it.
#[derive(Default)]
pub struct DeviceQueues {
    all: Vec<Weak<Queue>>,
    /// The default one.
    pub default: Weak<Queue>,
}

impl DeviceQueues {
    /// How many there are.
    pub fn count(&mut self) -> usize {
        self.all.retain(|queue| queue.strong_count() > 0);
        self.all.len()
    }
    /// Adds one.
    pub fn add(&mut self, queue: &Arc<Queue>) {
        self.all.push(Arc::downgrade(queue));
    }
}

/// A context.
pub struct Context {
    pub(crate) handle: Handle,
    /// The device.
    pub device: Arc<Device>,
    /// The property list given at its creation, terminator included; empty if none was given.
    pub properties: Vec<isize>,
    notify: Option<Notify>,
    destructors: Mutex<Vec<Destructor>>,
    /// The order of its commands.
    pub scheduler: Arc<Scheduler>,
    /// What executes them.
    pub engine: Arc<Mutex<Engine>>,
    /// Device memory.
    pub memory: Arc<DeviceMemory>,
    /// Shared virtual memory by address.
    pub svm: Mutex<BTreeMap<u64, SvmAllocation>>,
    /// Queues on the device.
    pub device_queues: Mutex<DeviceQueues>,
    process: u32,
}

/// Counts the forks that lie between this process and the one that loaded the library.
static FORKS: AtomicU32 = AtomicU32::new(0);

fn watch_forks() {
    static ONCE: Once = Once::new();
    extern "C" fn in_child() {
        FORKS.fetch_add(1, Ordering::Relaxed);
    }
    // SAFETY: the handler only touches an atomic.
    ONCE.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
    });
}

impl Context {
    /// A context.
    pub fn new(device: Arc<Device>, properties: Vec<isize>, notify: Option<Notify>) -> Result<Context> {
        watch_forks();
        let engine = Engine::new(&device);
        Ok(Context {
            handle: Handle::reserve()?,
            properties,
            notify,
            destructors: Mutex::default(),
            scheduler: Arc::default(),
            memory: engine.memory().clone(),
            engine: Arc::new(Mutex::new(engine)),
            device,
            svm: Mutex::default(),
            device_queues: Mutex::default(),
            process: FORKS.load(Ordering::Relaxed),
        })
    }

    /// Refuses where the process was forked from the one that made the context: its worker is not there.
    pub fn usable(&self) -> Result {
        if self.process == FORKS.load(Ordering::Relaxed) {
            return Ok(());
        }
        let why = "this context was made before fork(): a child process needs a context of its own";
        Err(ClError::new(CL_OUT_OF_RESOURCES, why))
    }

    /// Tells the program's notify function.
    pub fn tell(&self, why: &str) {
        if let Some(notify) = &self.notify {
            notify(why);
        }
    }

    /// A command failed: tells the notify function and, always, standard error: the program may not look.
    pub fn report(&self, error: &ClError) {
        eprintln!("warpscope: {}", error.why);
        self.tell(&error.why);
    }

    /// Registers a function to be called when the context goes.
    pub fn add_destructor(&self, destructor: Destructor) {
        self.destructors.lock().push(destructor);
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.scheduler.stop();
        let destructors = std::mem::take(&mut *self.destructors.lock());
        // OpenCL 3.0, clSetContextDestructorCallback: in the reverse order of registration.
        destructors.into_iter().rev().for_each(|run| run(self.handle.raw()));
    }
}
