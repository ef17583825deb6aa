//! Handles: what a program holds of an object. A handle is the address of a header in one slab that is never unmapped,
//! so that any value can be checked: outside the slab, vacant, of another type, or valid.
//!
//! A header stays valid while its object lives, be it only because another object or a command in flight refers to it:
//! the API's reference count is the number of references that the program holds. An event alone ends with its last
//! reference once its command has ended and its callbacks have returned.
use super::{Context, Event, Kernel, MemObject, ProgramObject, Queue, Sampler};
use crate::cl::{Raw, errors};
use crate::entry::{DISPATCH, Dispatch};
use crate::error::{ClError, Result, ensure, fail};
use crate::sync::Mutex;
use std::cell::Cell;
use std::collections::VecDeque;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

/// Headers that fit into the slab (address space is reserved for all of them, memory only for those used).
const CAPACITY: usize = 1 << 22;
/// Vacant headers are kept aside until there are this many, so that a stale handle stays recognisable for long.
const QUARANTINE: usize = 1 << 14;

/// What a program sees of an object: the dispatch table must come first (cl_khr_icd).
#[repr(C, align(64))]
pub struct Header {
    dispatch: *const Dispatch,
    entry: Mutex<Entry>,
}

// SAFETY: `dispatch` points to an immutable static.
unsafe impl Sync for Header {}
// SAFETY: as above.
unsafe impl Send for Header {}

impl Header {
    /// A header outside the slab, for the platform and the device.
    pub const fn fixed() -> Header {
        Header { dispatch: &raw const DISPATCH, entry: Mutex::new(Entry::Vacant) }
    }
    /// The handle.
    pub fn raw(&'static self) -> Raw {
        (self as *const Header).cast_mut().cast()
    }
}

/// References to an object: the header's own is weak; `held` stands for all references of the program.
pub struct Reference<T> {
    weak: Weak<T>,
    held: Option<Arc<T>>,
    count: u32,
}

/// What a header stands for.
#[allow(missing_docs)]
pub enum Entry {
    Vacant,
    Context(Reference<Context>),
    Queue(Reference<Queue>),
    Mem(Reference<MemObject>),
    Sampler(Reference<Sampler>),
    Program(Reference<ProgramObject>),
    Kernel(Reference<Kernel>),
    Event(Reference<Event>),
}

/// An object that a program can hold.
pub trait Object: Sized + Send + Sync + 'static {
    /// The error for a handle that is not one of these.
    const INVALID: i32;
    /// What it is called.
    const KIND: &'static str;
    /// Its header.
    fn handle(&self) -> Option<&Handle>;
    /// Its context.
    fn context(&self) -> Option<&Arc<Context>>;
    /// Whether the handle is good for anything when the program holds no reference.
    fn lives_on(&self) -> bool {
        true
    }
    /// Makes an entry.
    fn entry(reference: Reference<Self>) -> Entry;
    /// Takes an entry apart.
    fn reference(entry: &mut Entry) -> Option<&mut Reference<Self>>;
}

macro_rules! object {
    ($type:ty, $variant:ident, $invalid:ident, $kind:literal, |$this:ident| $handle:expr, $context:expr $(, $lives_on:item)?) => {
        impl Object for $type {
            const INVALID: i32 = errors::$invalid;
            const KIND: &'static str = $kind;
            fn handle(&self) -> Option<&Handle> {
                let $this = self;
                $handle
            }
            fn context(&self) -> Option<&Arc<Context>> {
                let $this = self;
                let _ = $this;
                $context
            }
            $($lives_on)?
            fn entry(reference: Reference<Self>) -> Entry {
                Entry::$variant(reference)
            }
            fn reference(entry: &mut Entry) -> Option<&mut Reference<Self>> {
                match entry {
                    Entry::$variant(reference) => Some(reference),
                    _ => None,
                }
            }
        }
    };
}

object!(Context, Context, CL_INVALID_CONTEXT, "context", |this| Some(&this.handle), None);
object!(Queue, Queue, CL_INVALID_COMMAND_QUEUE, "command-queue", |this| Some(&this.handle), Some(&this.context));
object!(MemObject, Mem, CL_INVALID_MEM_OBJECT, "memory object", |this| Some(&this.handle), Some(&this.context));
object!(Sampler, Sampler, CL_INVALID_SAMPLER, "sampler", |this| Some(&this.handle), Some(&this.context));
object!(ProgramObject, Program, CL_INVALID_PROGRAM, "program", |this| Some(&this.handle), Some(&this.context));
object!(Kernel, Kernel, CL_INVALID_KERNEL, "kernel", |this| Some(&this.handle), Some(&this.program.context));
object!(
    Event,
    Event,
    CL_INVALID_EVENT,
    "event",
    |this| this.handle.as_ref(),
    Some(&this.context),
    fn lives_on(&self) -> bool {
        self.in_flight()
    }
);

struct Slab {
    base: usize,
    used: AtomicUsize,
    /// Headers below this are the objects of a process from which this one was forked.
    foreign: AtomicUsize,
    vacant: Mutex<VecDeque<u32>>,
}

static SLAB: OnceLock<Option<Slab>> = OnceLock::new();

fn slab() -> Option<&'static Slab> {
    SLAB.get_or_init(|| {
        let bytes = CAPACITY * size_of::<Header>();
        // SAFETY: a fresh private mapping; the address is the kernel's choice.
        let base = unsafe {
            libc::mmap(
                null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        (base != libc::MAP_FAILED).then(|| {
            fork::watch();
            Slab {
                base: base as usize,
                used: AtomicUsize::new(0),
                foreign: AtomicUsize::new(0),
                vacant: Mutex::default(),
            }
        })
    })
    .as_ref()
}

/// A forked child has its parent's objects, but not the threads behind them, and a lock of theirs may be held for ever.
/// So it looks at none of them.
mod fork {
    use super::{SLAB, Slab};
    use std::cell::RefCell;
    use std::collections::VecDeque;
    use std::sync::MutexGuard;
    use std::sync::atomic::Ordering;

    thread_local! {
        /// The lock that the forking thread holds meanwhile.
        static HELD: RefCell<Option<MutexGuard<'static, VecDeque<u32>>>> = const { RefCell::new(None) };
    }

    fn slab() -> Option<&'static Slab> {
        SLAB.get()?.as_ref()
    }

    extern "C" fn before() {
        HELD.with(|held| *held.borrow_mut() = slab().map(|s| s.vacant.lock()));
    }

    extern "C" fn in_parent() {
        HELD.with(|held| held.borrow_mut().take());
    }

    extern "C" fn in_child() {
        if let Some(slab) = slab() {
            slab.foreign.store(slab.used.load(Ordering::Acquire), Ordering::Release);
        }
        HELD.with(|held| {
            if let Some(mut vacant) = held.borrow_mut().take() {
                vacant.clear();
            }
        });
    }

    pub fn watch() {
        // SAFETY: the functions are safe to call at a fork: they take one lock that is only ever held for moments.
        unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    }
}

impl Slab {
    fn header(&self, index: u32) -> &'static Header {
        // SAFETY: headers below `used` were written by `Handle::reserve` and the slab is never unmapped.
        unsafe { &*(self.base as *const Header).add(index as usize) }
    }

    fn find(&self, raw: Raw) -> Option<&'static Header> {
        let offset = (raw as usize).checked_sub(self.base)?;
        let index = offset / size_of::<Header>();
        let used = self.used.load(Ordering::Acquire);
        (offset % size_of::<Header>() == 0 && index < used).then(|| self.header(index as u32))
    }
}

/// An object's claim to a header; the header becomes vacant when the object goes.
pub struct Handle(u32);

impl Handle {
    /// Claims a header.
    pub fn reserve() -> Result<Handle> {
        let Some(slab) = slab() else { fail!(CL_OUT_OF_HOST_MEMORY, "no address space for handles") };
        let mut vacant = slab.vacant.lock();
        let used = slab.used.load(Ordering::Acquire);
        if (vacant.len() > QUARANTINE || used == CAPACITY)
            && let Some(index) = vacant.pop_front()
        {
            return Ok(Handle(index));
        }
        ensure!(used < CAPACITY, CL_OUT_OF_HOST_MEMORY, "more than {CAPACITY} objects are alive");
        // SAFETY: the index lies in the mapping, and no one else has it: `vacant` is locked.
        unsafe { (slab.base as *mut Header).add(used).write(Header::fixed()) };
        slab.used.store(used + 1, Ordering::Release);
        Ok(Handle(used as u32))
    }

    /// The value that the program gets.
    pub fn raw(&self) -> Raw {
        slab().map_or(null_mut(), |s| s.header(self.0).raw())
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if let Some(slab) = slab() {
            let old = std::mem::replace(&mut *slab.header(self.0).entry.lock(), Entry::Vacant);
            drop(old);
            slab.vacant.lock().push_back(self.0);
        }
    }
}

thread_local! {
    /// The object that the current call looked up last: errors are told to its context.
    static CURRENT: Cell<Raw> = const { Cell::new(null_mut()) };
}

/// Forgets the current object; every call begins with this.
pub fn begin_call() {
    CURRENT.set(null_mut());
}

/// The context of the object that the current call looked up last.
pub fn current_context() -> Option<Arc<Context>> {
    let header = slab()?.find(CURRENT.get())?;
    fn of<T: Object>(reference: &Reference<T>) -> Option<Arc<Context>> {
        reference.weak.upgrade()?.context().cloned()
    }
    match &*header.entry.lock() {
        Entry::Vacant => None,
        Entry::Context(r) => r.weak.upgrade(),
        Entry::Queue(r) => of(r),
        Entry::Mem(r) => of(r),
        Entry::Sampler(r) => of(r),
        Entry::Program(r) => of(r),
        Entry::Kernel(r) => of(r),
        Entry::Event(r) => of(r),
    }
}

/// Shows an object to the program: its handle, with a reference count of 1.
pub fn publish<T: Object>(object: Arc<T>) -> Raw {
    let Some(handle) = object.handle() else { return null_mut() };
    let raw = handle.raw();
    if let Some(header) = slab().and_then(|s| s.find(raw)) {
        let weak = Arc::downgrade(&object);
        *header.entry.lock() = T::entry(Reference { weak, held: Some(object), count: 1 });
    }
    raw
}

fn refused<T: Object>(raw: Raw) -> ClError {
    let what = if raw.is_null() { "is NULL" } else { "is none, is of another type, or was released" };
    ClError::new(T::INVALID, format!("the {} handle {raw:p} {what}", T::KIND))
}

/// Refuses what the parent of a forked process made.
fn refuse_foreign(raw: Raw) -> Result {
    let Some(slab) = slab() else { return Ok(()) };
    let foreign = slab.foreign.load(Ordering::Acquire);
    let index = (raw as usize).checked_sub(slab.base).map(|offset| offset / size_of::<Header>());
    let why = "this object was made before fork(): a child process needs a context of its own";
    if index.is_some_and(|i| i < foreign) { fail!(CL_OUT_OF_RESOURCES, "{why}") } else { Ok(()) }
}

/// The object behind a handle.
pub fn resolve<T: Object>(raw: Raw) -> Result<Arc<T>> {
    refuse_foreign(raw)?;
    let find = || {
        let header = slab()?.find(raw)?;
        let (object, count) = {
            let mut entry = header.entry.lock();
            let reference = T::reference(&mut entry)?;
            (reference.weak.upgrade()?, reference.count)
        };
        (count > 0 || object.lives_on()).then_some(object)
    };
    let object = find().ok_or_else(|| refused::<T>(raw))?;
    CURRENT.set(raw);
    Ok(object)
}

/// Adds a reference of the program.
pub fn retain<T: Object>(raw: Raw) -> Result {
    let object = resolve::<T>(raw)?;
    if let Some(header) = slab().and_then(|s| s.find(raw))
        && let Some(reference) = T::reference(&mut header.entry.lock())
    {
        reference.count += 1;
        reference.held = Some(object);
    }
    Ok(())
}

/// Gives up a reference of the program; with the last one the object goes, unless others refer to it.
pub fn release<T: Object>(raw: Raw) -> Result {
    resolve::<T>(raw)?;
    let gone = {
        let Some(header) = slab().and_then(|s| s.find(raw)) else { return Err(refused::<T>(raw)) };
        let mut entry = header.entry.lock();
        let Some(reference) = T::reference(&mut entry) else { return Err(refused::<T>(raw)) };
        if reference.count == 0 {
            return Err(refused::<T>(raw));
        }
        reference.count -= 1;
        if reference.count == 0 { reference.held.take() } else { None }
    };
    // Outside the lock: the object's end makes the header vacant.
    drop(gone);
    Ok(())
}

/// The program's reference count.
pub fn count<T: Object>(raw: Raw) -> u32 {
    let header = slab().and_then(|s| s.find(raw));
    header.and_then(|h| T::reference(&mut h.entry.lock()).map(|r| r.count)).unwrap_or(0)
}
