//! Commands, and the order in which they execute.
//!
//! The order is decided when commands arrive at the API, never by how threads happen to run: a command takes its place
//! as soon as everything that it waits for has one, in order of arrival among those that become free together. The
//! device executes in this order.
use super::clock::Time;
use super::engine::Engine;
use super::event::{COMPLETE, Event, RUNNING, SUBMITTED};
use super::record::{CommandLine, Recorder};
use super::{Device, Queue};
use crate::cl::errors::{CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_OUT_OF_RESOURCES};
use crate::error::{ClError, Result};
use crate::sync::{Condvar, Mutex};
use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use warpscope_sim::LaunchRecord;

/// What a command occupies; one command at a time each.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Resource {
    /// The compute units.
    Compute,
    /// The link, towards the device.
    ToDevice,
    /// The link, from the device.
    FromDevice,
    /// The host.
    Host,
    /// Nothing: markers, barriers.
    None,
}

/// What executing a command gave.
#[derive(Default)]
pub struct Done {
    /// Simulated time that it took.
    pub duration: Time,
    /// Bytes moved, for transfers.
    pub bytes: u64,
    /// The launch record, for kernels.
    pub launch: Option<Box<LaunchRecord>>,
}

/// The deed of a command.
pub type Action = Box<dyn FnOnce(&mut Engine) -> Result<Done> + Send>;

/// How a command relates to the others of an out-of-order queue.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Order {
    /// Waits for its wait list.
    Plain,
    /// Waits for its wait list or, if that is empty, for all before it.
    Marker,
    /// The same, and all after it wait for it.
    Barrier,
}

/// What goes before a command.
#[derive(Default)]
struct Dependencies {
    /// The wait list: a failure there fails the command.
    listed: Vec<Arc<Event>>,
    /// By the queue's rules.
    earlier: Vec<Arc<Event>>,
}

impl Dependencies {
    fn all(&self) -> impl Iterator<Item = &Arc<Event>> {
        self.listed.iter().chain(&self.earlier)
    }
}

/// A command on its way.
pub struct Command {
    event: Arc<Event>,
    sequence: u64,
    resource: Resource,
    /// It cannot start before this.
    floor: Time,
    wait: Mutex<Dependencies>,
    blockers: AtomicUsize,
    action: Mutex<Option<Action>>,
}

/// A command to enqueue.
pub struct Request {
    /// Command type.
    pub command: u32,
    /// What it occupies.
    pub resource: Resource,
    /// The wait list.
    pub wait: Vec<Arc<Event>>,
    /// Its place among the others.
    pub order: Order,
    /// Whether the program gets the event.
    pub visible: bool,
    /// What it does.
    pub action: Action,
}

#[derive(Default)]
struct Inner {
    next: u64,
    ready: VecDeque<Arc<Command>>,
    stopping: bool,
    running: bool,
}

thread_local! {
    /// The scheduler whose commands this thread executes; null for the program's own threads.
    static EXECUTES: Cell<*const Scheduler> = const { Cell::new(std::ptr::null()) };
}

/// Orders the commands of one context; a worker thread executes them.
#[derive(Default)]
pub struct Scheduler {
    inner: Mutex<Inner>,
    wake: Condvar,
}

impl Scheduler {
    /// Starts the worker at the first command, so that a context without commands has no thread.
    fn start(self: &Arc<Self>, inner: &mut Inner, device: &Arc<Device>, engine: Arc<Mutex<Engine>>) -> Result {
        if inner.running {
            return Ok(());
        }
        let (scheduler, device) = (self.clone(), device.clone());
        super::thread::spawn("warpscope-device", move || scheduler.work(&device, &engine))
            .map_err(|e| ClError::new(CL_OUT_OF_RESOURCES, format!("no thread for the device: {e}")))?;
        inner.running = true;
        Ok(())
    }

    /// Enqueues a command.
    pub fn enqueue(self: &Arc<Self>, queue: &Arc<Queue>, request: Request) -> Result<Arc<Event>> {
        let context = &queue.context;
        context.usable()?;
        let mut inner = self.inner.lock();
        self.start(&mut inner, &context.device, context.engine.clone())?;
        let queued = context.device.clock.enqueue();
        let event = Arc::new(Event::of_command(queue, request.command, queued, request.visible)?);
        let (before, floor) = queue.admit(&event, request.order, request.wait.is_empty());
        let command = Arc::new(Command {
            event: event.clone(),
            sequence: inner.next,
            floor,
            resource: request.resource,
            wait: Mutex::default(),
            blockers: AtomicUsize::new(0),
            action: Mutex::new(Some(request.action)),
        });
        inner.next += 1;
        let wait = Dependencies { listed: request.wait, earlier: before };
        let blockers = wait.all().filter(|e| e.hold(&command)).count();
        *command.wait.lock() = wait;
        command.blockers.store(blockers, Ordering::Relaxed);
        if blockers == 0 {
            place(&mut inner, vec![command]);
            self.wake.notify_one();
        }
        Ok(event)
    }

    /// A user event was set: commands that waited for it alone take their places.
    pub fn resolve(&self, event: &Event) {
        let mut inner = self.inner.lock();
        let freed = unblock(event.place());
        place(&mut inner, freed);
        self.wake.notify_one();
    }

    /// The worker ends when it has nothing to do.
    pub fn stop(&self) {
        self.inner.lock().stopping = true;
        self.wake.notify_one();
    }

    fn next(&self) -> Option<Arc<Command>> {
        let mut inner = self.inner.lock();
        loop {
            if let Some(command) = inner.ready.pop_front() {
                return Some(command);
            }
            if inner.stopping {
                return None;
            }
            inner = self.wake.wait(inner);
        }
    }

    /// Whether the calling thread is the one that executes the commands: it runs the callbacks of what it ends.
    pub fn executes_here(&self) -> bool {
        EXECUTES.get() == std::ptr::from_ref(self)
    }

    fn work(&self, device: &Device, engine: &Mutex<Engine>) {
        EXECUTES.set(std::ptr::from_ref(self));
        let mut resources = Resources::default();
        let recorder = Recorder::from_environment();
        while let Some(command) = self.next() {
            command.execute(device, &mut engine.lock(), &mut resources, &recorder);
        }
    }
}

fn unblock(waiters: Vec<Arc<Command>>) -> Vec<Arc<Command>> {
    waiters.into_iter().filter(|c| c.blockers.fetch_sub(1, Ordering::Relaxed) == 1).collect()
}

/// Gives places in order of arrival, to `free` and to all that become free thereby.
fn place(inner: &mut Inner, free: Vec<Arc<Command>>) {
    struct ByArrival(Arc<Command>);
    impl PartialEq for ByArrival {
        fn eq(&self, other: &Self) -> bool {
            self.0.sequence == other.0.sequence
        }
    }
    impl Eq for ByArrival {}
    impl PartialOrd for ByArrival {
        fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
            Some(self.cmp(other))
        }
    }
    impl Ord for ByArrival {
        fn cmp(&self, other: &Self) -> std::cmp::Ordering {
            self.0.sequence.cmp(&other.0.sequence)
        }
    }
    let mut heap: BinaryHeap<_> = free.into_iter().map(|c| Reverse(ByArrival(c))).collect();
    while let Some(Reverse(ByArrival(command))) = heap.pop() {
        let freed = unblock(command.event.place());
        inner.ready.push_back(command);
        heap.extend(freed.into_iter().map(|c| Reverse(ByArrival(c))));
    }
}

/// When each resource becomes free.
#[derive(Default)]
struct Resources {
    compute: Time,
    to_device: Time,
    from_device: Time,
    host: Time,
    none: Time,
}

impl Resources {
    fn free_at(&mut self, resource: Resource) -> &mut Time {
        match resource {
            Resource::Compute => &mut self.compute,
            Resource::ToDevice => &mut self.to_device,
            Resource::FromDevice => &mut self.from_device,
            Resource::Host => &mut self.host,
            Resource::None => {
                self.none = 0;
                &mut self.none
            }
        }
    }
}

impl Command {
    fn execute(&self, device: &Device, engine: &mut Engine, resources: &mut Resources, recorder: &Recorder) {
        let event = &self.event;
        let wait = std::mem::take(&mut *self.wait.lock());
        let failed = wait.listed.iter().any(|e| e.status() < COMPLETE);
        let after = wait.all().map(|e| e.times().end).max().unwrap_or(0);
        let earliest = after.max(event.times().submit).max(self.floor);
        drop(wait);
        let action = self.action.lock().take();
        if failed {
            drop(action);
            event.finish(earliest, earliest, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        } else {
            event.set_status(SUBMITTED);
            event.set_status(RUNNING);
            let real_start = device.clock.now();
            let outcome = match action {
                Some(action) => catch_unwind(AssertUnwindSafe(|| action(engine))).unwrap_or_else(|_| {
                    Err(ClError::new(CL_OUT_OF_RESOURCES, "the simulator failed on this command; please report it"))
                }),
                None => Ok(Done::default()),
            };
            let free = resources.free_at(self.resource);
            let mut start = earliest.max(*free);
            let mut end = start.saturating_add(outcome.as_ref().map_or(0, |d| d.duration));
            if device.clock.real() {
                (start, end) = (real_start, device.clock.now());
            }
            *free = end;
            let status = match &outcome {
                Ok(done) => {
                    let times = super::event::Times { start, end, ..event.times() };
                    recorder.append(&CommandLine { sequence: self.sequence, command: event.command, times, done });
                    COMPLETE
                }
                Err(error) => {
                    recorder.append_failure(self.sequence, event.command, error);
                    if let Some(queue) = &event.queue {
                        queue.fault(error);
                    }
                    error.code
                }
            };
            event.finish(start, end, status);
        }
        if let Some(queue) = &event.queue {
            queue.retire(event);
        }
    }
}
