//! What the API tells of a SPIR-V module beyond what the compiler decodes: argument metadata, specialization constants,
//! parameters that are handles.
use crate::cl::enums::*;
use std::collections::BTreeMap;

const MAGIC: u32 = 0x0723_0203;
const OP_STRING: u32 = 7;
const OP_ENTRY_POINT: u32 = 15;
const OP_TYPE_INT: u32 = 21;
const OP_TYPE_FLOAT: u32 = 22;
const OP_TYPE_IMAGE: u32 = 25;
const OP_TYPE_SAMPLER: u32 = 26;
const OP_TYPE_QUEUE: u32 = 37;
const OP_TYPE_PIPE: u32 = 38;
const OP_SPEC_CONSTANT_TRUE: u32 = 48;
const OP_SPEC_CONSTANT_FALSE: u32 = 49;
const OP_SPEC_CONSTANT: u32 = 50;
const OP_FUNCTION: u32 = 54;
const OP_FUNCTION_PARAMETER: u32 = 55;
const OP_DECORATE: u32 = 71;
const DECORATION_SPEC_ID: u32 = 1;
const DECORATION_LINKAGE: u32 = 41;
const LINKAGE_EXPORT: u32 = 0;

/// Whether bytes begin as a module of either endianness does.
pub fn is_module(bytes: &[u8]) -> bool {
    let begins = bytes.starts_with(&MAGIC.to_le_bytes()) || bytes.starts_with(&MAGIC.to_be_bytes());
    begins && bytes.len().is_multiple_of(4) && bytes.len() >= 20
}

/// The words of a module.
pub struct Words(Vec<u32>);

impl Words {
    /// Of either endianness.
    pub fn new(bytes: &[u8]) -> Words {
        let swap = bytes.starts_with(&MAGIC.to_be_bytes());
        let word = |c: &[u8]| {
            let bytes = [c[0], c[1], c[2], c[3]];
            if swap { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
        };
        Words(bytes.chunks_exact(4).map(word).collect())
    }

    /// Operation and words of each instruction, its first word included; ends where the module is cut short.
    fn instructions(&self) -> impl Iterator<Item = (u32, &[u32])> {
        let mut rest = self.0.get(5..).unwrap_or(&[]);
        std::iter::from_fn(move || {
            let first = *rest.first()?;
            let (instruction, behind) = rest.split_at_checked((first >> 16).max(1) as usize)?;
            rest = behind;
            Some((first & 0xffff, instruction))
        })
    }

    /// The texts of OpString; the translator keeps argument metadata in them.
    pub fn strings(&self) -> Vec<String> {
        let before = self.instructions().take_while(|(op, _)| *op != OP_FUNCTION);
        before.filter(|(op, _)| *op == OP_STRING).map(|(_, i)| text(i.get(2..).unwrap_or(&[])).0).collect()
    }

    /// Names of the functions and variables that it defines for others.
    pub fn exports(&self) -> Vec<String> {
        let before = self.instructions().take_while(|(op, _)| *op != OP_FUNCTION);
        let export = |(op, i): (u32, &[u32])| match i {
            [_, _, DECORATION_LINKAGE, rest @ ..] if op == OP_DECORATE => {
                let (name, behind) = text(rest);
                (behind.first() == Some(&LINKAGE_EXPORT)).then_some(name)
            }
            _ => None,
        };
        before.filter_map(export).collect()
    }

    /// Bytes of a specialization constant; a truth value takes one.
    pub fn specialization_size(&self, id: u32) -> Option<usize> {
        let find = |ops: &[u32], test: &dyn Fn(&[u32]) -> bool| {
            self.instructions().find(|(op, i)| ops.contains(op) && test(i))
        };
        let named = |i: &[u32]| i.len() == 4 && i[2] == DECORATION_SPEC_ID && i[3] == id;
        let target = find(&[OP_DECORATE], &named)?.1[1];
        let is_target = |i: &[u32]| i.get(2) == Some(&target);
        if find(&[OP_SPEC_CONSTANT_TRUE, OP_SPEC_CONSTANT_FALSE], &is_target).is_some() {
            return Some(1);
        }
        let ty = *find(&[OP_SPEC_CONSTANT], &is_target)?.1.get(1)?;
        let (_, ty) = find(&[OP_TYPE_INT, OP_TYPE_FLOAT], &|i| i.get(1) == Some(&ty))?;
        Some(*ty.get(2)? as usize / 8)
    }

    /// The module with these values, by SpecId, as the defaults of its specialization constants.
    pub fn specialised(&self, values: &BTreeMap<u32, Vec<u8>>) -> Vec<u8> {
        let mut targets = BTreeMap::new();
        for (op, i) in self.instructions() {
            if let (OP_DECORATE, [_, target, DECORATION_SPEC_ID, id]) = (op, i)
                && let Some(value) = values.get(id)
            {
                targets.insert(*target, value);
            }
        }
        let mut out: Vec<u32> = self.0.iter().take(5).copied().collect();
        for (op, i) in self.instructions() {
            let begin = out.len();
            out.extend(i);
            let Some(value) = i.get(2).and_then(|id| targets.get(id)) else { continue };
            match op {
                OP_SPEC_CONSTANT => {
                    // SPIR-V 1.6, 2.2.1: low-order words first, what a narrow type leaves over is 0.
                    for (word, bytes) in out[begin + 3..].iter_mut().zip(value.chunks(4)) {
                        *word = bytes.iter().rev().fold(0, |w, b| w << 8 | u32::from(*b));
                    }
                }
                OP_SPEC_CONSTANT_TRUE | OP_SPEC_CONSTANT_FALSE => {
                    let set = value.iter().any(|b| *b != 0);
                    out[begin] = 3 << 16 | if set { OP_SPEC_CONSTANT_TRUE } else { OP_SPEC_CONSTANT_FALSE };
                }
                _ => {}
            }
        }
        out.iter().flat_map(|w| w.to_le_bytes()).collect()
    }

    /// The parameters of each kernel that are handles.
    pub fn handles(&self) -> BTreeMap<String, Vec<Option<HandleType>>> {
        let mut names: Vec<(u32, String)> = Vec::new();
        let mut types = BTreeMap::new();
        let mut parameters: BTreeMap<u32, Vec<Option<HandleType>>> = BTreeMap::new();
        let mut current = 0;
        for (op, i) in self.instructions() {
            match (op, i) {
                (OP_ENTRY_POINT, [_, _, function, name @ ..]) => names.push((*function, text(name).0)),
                (OP_FUNCTION, [_, _, id, ..]) => {
                    current = *id;
                    parameters.insert(current, Vec::new());
                }
                (OP_FUNCTION_PARAMETER, [_, ty, ..]) => {
                    parameters.entry(current).or_default().push(types.get(ty).copied());
                }
                (OP_TYPE_IMAGE | OP_TYPE_SAMPLER | OP_TYPE_QUEUE | OP_TYPE_PIPE, [_, id, rest @ ..]) => {
                    if let Some(handle) = handle_type(op, rest) {
                        types.insert(*id, handle);
                    }
                }
                _ => {}
            }
        }
        names
            .into_iter()
            .map(|(function, name)| (name, parameters.get(&function).cloned().unwrap_or_default()))
            .collect()
    }
}

/// How a kernel uses an image or a pipe.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Access {
    /// `read_only`.
    Read,
    /// `write_only`.
    Write,
    /// `read_write`.
    ReadWrite,
}

/// What a parameter that is a handle stands for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum HandleType {
    /// An image.
    Image {
        /// `CL_MEM_OBJECT_IMAGE…`.
        kind: u32,
        /// Whether it is a depth image.
        depth: bool,
        /// How it is used.
        access: Access,
    },
    /// A sampler.
    Sampler,
    /// A queue on the device.
    Queue,
    /// A pipe.
    Pipe(Access),
}

fn access(qualifier: Option<&u32>) -> Access {
    match qualifier {
        Some(1) => Access::Write,
        Some(2) => Access::ReadWrite,
        // "read_only" is the default of the language.
        _ => Access::Read,
    }
}

/// The handle type of a type instruction, without its result.
fn handle_type(op: u32, operands: &[u32]) -> Option<HandleType> {
    Some(match (op, operands) {
        (OP_TYPE_IMAGE, [_, dimension, depth, arrayed, _, _, _, rest @ ..]) => HandleType::Image {
            kind: match (*dimension, *arrayed != 0) {
                (0, false) => CL_MEM_OBJECT_IMAGE1D,
                (0, true) => CL_MEM_OBJECT_IMAGE1D_ARRAY,
                (1, false) => CL_MEM_OBJECT_IMAGE2D,
                (1, true) => CL_MEM_OBJECT_IMAGE2D_ARRAY,
                (2, _) => CL_MEM_OBJECT_IMAGE3D,
                (5, _) => CL_MEM_OBJECT_IMAGE1D_BUFFER,
                _ => return None,
            },
            depth: *depth == 1,
            access: access(rest.first()),
        },
        (OP_TYPE_SAMPLER, _) => HandleType::Sampler,
        (OP_TYPE_QUEUE, _) => HandleType::Queue,
        (OP_TYPE_PIPE, operands) => HandleType::Pipe(access(operands.first())),
        _ => return None,
    })
}

/// A literal string, and the words behind it.
fn text(words: &[u32]) -> (String, &[u32]) {
    let last = words.iter().position(|w| w.to_le_bytes().contains(&0)).map_or(words.len(), |n| n + 1);
    let bytes: Vec<u8> = words[..last].iter().flat_map(|w| w.to_le_bytes()).take_while(|b| *b != 0).collect();
    (String::from_utf8_lossy(&bytes).into_owned(), &words[last..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(instructions: &[&[u32]]) -> Words {
        let mut words = vec![MAGIC, 0x0001_0000, 0, 100, 0];
        for i in instructions {
            words.push((i.len() as u32) << 16 | i[0]);
            words.extend(&i[1..]);
        }
        Words(words)
    }

    #[test]
    fn handles_among_the_parameters_are_found() {
        let k = u32::from_le_bytes(*b"k\0\0\0");
        let m = module(&[
            &[OP_ENTRY_POINT, 6, 20, k],
            &[OP_TYPE_IMAGE, 1, 9, 1, 1, 1, 0, 0, 0, 1],
            &[OP_TYPE_SAMPLER, 2],
            &[OP_TYPE_PIPE, 3, 0],
            &[OP_FUNCTION, 9, 20, 0, 8],
            &[OP_FUNCTION_PARAMETER, 1, 21],
            &[OP_FUNCTION_PARAMETER, 7, 22],
            &[OP_FUNCTION_PARAMETER, 2, 23],
            &[OP_FUNCTION_PARAMETER, 3, 24],
        ]);
        let image = HandleType::Image { kind: CL_MEM_OBJECT_IMAGE2D_ARRAY, depth: true, access: Access::Write };
        let expected = vec![Some(image), None, Some(HandleType::Sampler), Some(HandleType::Pipe(Access::Read))];
        assert_eq!(m.handles(), BTreeMap::from([("k".to_string(), expected)]));
    }

    #[test]
    fn what_a_module_exports_is_found() {
        let (f, g) = (u32::from_le_bytes(*b"f\0\0\0"), u32::from_le_bytes(*b"g\0\0\0"));
        let m = module(&[
            &[OP_DECORATE, 1, DECORATION_LINKAGE, f, LINKAGE_EXPORT],
            &[OP_DECORATE, 2, DECORATION_LINKAGE, g, 1],
            &[OP_DECORATE, 3, DECORATION_SPEC_ID, 7],
        ]);
        assert_eq!(m.exports(), ["f"]);
    }

    #[test]
    fn values_become_the_defaults_of_specialization_constants() {
        let with = |narrow: u32, wide: [u32; 2], truth: u32| {
            module(&[
                &[OP_DECORATE, 1, DECORATION_SPEC_ID, 10],
                &[OP_DECORATE, 2, DECORATION_SPEC_ID, 11],
                &[OP_DECORATE, 3, DECORATION_SPEC_ID, 12],
                &[OP_DECORATE, 4, DECORATION_SPEC_ID, 13],
                &[OP_SPEC_CONSTANT, 20, 1, narrow],
                &[OP_SPEC_CONSTANT, 21, 2, wide[0], wide[1]],
                &[truth, 22, 3],
                &[OP_SPEC_CONSTANT, 20, 4, 99],
            ])
        };
        let values = BTreeMap::from([(10, vec![0xfe]), (11, vec![1, 2, 3, 4, 5, 6, 7, 8]), (12, vec![0])]);
        let made = with(7, [0, 0], OP_SPEC_CONSTANT_TRUE).specialised(&values);
        let expected = with(0xfe, [0x0403_0201, 0x0807_0605], OP_SPEC_CONSTANT_FALSE);
        assert_eq!(Words::new(&made).0, expected.0);
    }

    #[test]
    fn a_module_that_is_cut_short_ends_there() {
        let mut m = module(&[&[OP_STRING, 1, u32::from_le_bytes(*b"abc\0")]]);
        m.0.push(9 << 16 | OP_STRING);
        assert_eq!(m.strings(), ["abc"]);
        assert_eq!(Words::new(&[1, 2, 3]).strings(), Vec::<String>::new());
    }
}
