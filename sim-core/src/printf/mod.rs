//! What kernels print: reads the records that `printf` calls left in their module's buffer and formats them.
mod format;

use format::{Value, format};
use std::collections::BTreeMap;
use warpscope_exec::printf::{ElementKind, LIMIT, NEXT, RECORD_HEADER, Shape, layout};
use warpscope_memory::device_memory::{DeviceMemory, MemoryError};

/// The buffer of a module whose kernels print.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct PrintfBuffer {
    /// Address in device memory.
    pub address: u64,
    /// Offset of the first record.
    pub start: u64,
    /// Offset behind the last one.
    pub limit: u64,
}

impl PrintfBuffer {
    /// Makes it empty. Its bytes from `start` on are zero.
    pub(crate) fn reset(&self, memory: &DeviceMemory) -> Result<(), MemoryError> {
        memory.write(self.address + NEXT, &self.start.to_le_bytes())?;
        memory.write(self.address + LIMIT, &self.limit.to_le_bytes())
    }

    /// Formats what was printed, adds it to `out` and makes the buffer empty.
    pub(crate) fn collect(&self, memory: &DeviceMemory, out: &mut Vec<u8>) {
        let outcome = self.read(memory, out);
        if let Err(error) = outcome {
            // A kernel that writes over the buffer's header or records; its own output suffers, nothing else.
            out.extend_from_slice(format!("[printf output is damaged: {error}]\n").as_bytes());
        }
    }

    fn read(&self, memory: &DeviceMemory, out: &mut Vec<u8>) -> Result<(), MemoryError> {
        let next = read_u64(memory, self.address + NEXT)?;
        if next == self.start {
            return Ok(());
        }
        let used = next.clamp(self.start, self.limit) - self.start;
        let mut records = vec![0; used as usize];
        memory.read(self.address + self.start, &mut records)?;
        if used > 0 {
            memory.fill(self.address + self.start, &[0], used)?;
        }
        self.reset(memory)?;
        let mut texts = Texts { memory, known: BTreeMap::new() };
        let mut rest = &records[..];
        while let Some((record, behind)) = split_record(rest) {
            print(record, &mut texts, out);
            rest = behind;
        }
        Ok(())
    }
}

/// The first record and what lies behind it; none where the room was taken but not filled: the call did not fit, or its
/// warp was stopped.
fn split_record(records: &[u8]) -> Option<(&[u8], &[u8])> {
    let bytes = usize::try_from(word(records, 0)?).ok()?;
    (bytes >= RECORD_HEADER as usize && bytes <= records.len()).then(|| records.split_at(bytes))
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let word = bytes.get(at..at + 8)?;
    Some(u64::from_le_bytes(word.try_into().ok()?))
}

fn read_u64(memory: &DeviceMemory, address: u64) -> Result<u64, MemoryError> {
    let mut word = [0; 8];
    memory.read(address, &mut word)?;
    Ok(u64::from_le_bytes(word))
}

/// Texts in device memory, each read once.
struct Texts<'a> {
    memory: &'a DeviceMemory,
    known: BTreeMap<u64, Vec<u8>>,
}

impl Texts<'_> {
    /// The bytes at `address` up to a NUL; what is no memory shows as `(null)`, as C libraries print a null pointer.
    fn at(&mut self, address: u64) -> &[u8] {
        let memory = self.memory;
        self.known.entry(address).or_insert_with(|| memory.read_string(address).unwrap_or_else(|_| b"(null)".to_vec()))
    }
}

fn print(record: &[u8], texts: &mut Texts<'_>, out: &mut Vec<u8>) {
    let (Some(text), Some(shapes)) = (word(record, 8), word(record, 16)) else { return };
    let shapes = read_shapes(texts.memory, shapes);
    let values: Vec<Value> = shapes
        .iter()
        .zip(layout(&shapes).0)
        .filter_map(|(&shape, offset)| Value::read(shape, record.get(offset as usize..)?))
        .collect();
    let text = texts.at(text).to_vec();
    format(&text, &values, &mut |address| texts.at(address).to_vec(), out);
}

fn read_shapes(memory: &DeviceMemory, address: u64) -> Vec<Shape> {
    let mut count = [0];
    if memory.read(address, &mut count).is_err() {
        return Vec::new();
    }
    let mut bytes = vec![0; 3 * usize::from(count[0])];
    if memory.read(address + 1, &mut bytes).is_err() {
        return Vec::new();
    }
    bytes.chunks_exact(3).map(|s| Shape::decode([s[0], s[1], s[2]])).collect()
}

impl Value {
    /// From a record's bytes.
    fn read(shape: Shape, bytes: &[u8]) -> Option<Value> {
        let stride = shape.stride() as usize;
        let bytes = bytes.get(..stride * usize::from(shape.count))?;
        let elements = bytes.chunks_exact(stride).map(|e| {
            let mut word = [0; 8];
            word[..stride].copy_from_slice(e);
            u64::from_le_bytes(word)
        });
        let float = shape.kind == ElementKind::Float;
        Some(Value { bytes: shape.bytes, float, elements: elements.collect() })
    }
}
