//! CPU references: what each kernel should compute, written without the simulator.
use crate::data::element::Scalar;
use crate::manifest::{Arg, Case};

mod table;
pub use table::NAMES;
pub(crate) use table::find;

/// Computes the outputs of a case from its inputs.
pub type Reference = fn(&Inputs) -> Outputs;

/// The arguments of a case before the launch.
pub struct Inputs<'a> {
    /// The case.
    pub case: &'a Case,
    /// Contents of buffers and bytes of scalars, by argument index (empty for local memory).
    pub args: &'a [Vec<u8>],
}

/// Contents of outputs after the launch, by argument index.
#[derive(Default)]
pub struct Outputs(pub Vec<(usize, Vec<u8>)>);

/// A scalar type of OpenCL C as a type of Rust.
pub trait Value: Copy {
    /// Reads one value.
    fn read(bytes: &[u8]) -> Self;
    /// Appends one value.
    fn write(self, out: &mut Vec<u8>);
}

macro_rules! values {
    ($($t:ty)*) => { $(impl Value for $t {
        fn read(bytes: &[u8]) -> Self {
            <$t>::from_le_bytes(bytes.try_into().expect("a chunk of the type's size"))
        }
        fn write(self, out: &mut Vec<u8>) {
            out.extend_from_slice(&self.to_le_bytes());
        }
    })* };
}
values!(i8 u8 i16 u16 i32 u32 i64 u64 f32 f64 half::f16);

impl Inputs<'_> {
    /// The scalars of buffer `index`.
    pub fn buffer<T: Value>(&self, index: usize) -> Vec<T> {
        self.args[index].chunks_exact(size_of::<T>()).map(T::read).collect()
    }

    /// The value of scalar argument `index`.
    pub fn scalar<T: Value>(&self, index: usize) -> T {
        T::read(&self.args[index][..size_of::<T>()])
    }

    /// The value of whole-number argument `index` as a size.
    pub fn size(&self, index: usize) -> usize {
        match &self.case.args[index] {
            Arg::Scalar { element, bytes } => element.scalar.read_int(bytes) as usize,
            _ => 0,
        }
    }

    /// Work-items in dimension `d`.
    pub fn global(&self, d: usize) -> usize {
        self.case.global.get(d).map_or(1, |&g| g as usize)
    }

    /// Work-items of a group in dimension `d`.
    pub fn local(&self, d: usize) -> usize {
        self.case.local.get(d).map_or(1, |&l| l as usize)
    }

    /// Type of the scalars of argument `index`, if it is a buffer.
    pub fn scalar_type(&self, index: usize) -> Option<Scalar> {
        match &self.case.args[index] {
            Arg::Buffer(buffer) => Some(buffer.element.scalar),
            _ => None,
        }
    }
}

impl Outputs {
    /// One output.
    pub fn one<T: Value>(index: usize, values: &[T]) -> Outputs {
        Outputs::default().and(index, values)
    }

    /// Another output.
    pub fn and<T: Value>(mut self, index: usize, values: &[T]) -> Outputs {
        let mut bytes = Vec::with_capacity(size_of_val(values));
        values.iter().for_each(|v| v.write(&mut bytes));
        self.0.push((index, bytes));
        self
    }
}

/// What the outputs of `case` should be, by argument index; `None` where the case names no reference.
///
/// `contents` holds what every argument holds before the launch.
pub fn expected(case: &Case, contents: &[Vec<u8>]) -> Result<Option<Outputs>, String> {
    let Some(name) = &case.reference else { return Ok(None) };
    let reference =
        find(name).ok_or_else(|| format!("there is no reference `{name}`; there are {}", NAMES.join(", ")))?;
    let mut state = contents.to_vec();
    let mut outputs = Outputs::default();
    for _ in 0..case.launches {
        outputs = reference(&Inputs { case, args: &state });
        for (index, bytes) in &outputs.0 {
            state[*index].clone_from(bytes);
        }
    }
    Ok(Some(outputs))
}
