//! Module scope: types, constants, variables, decorations, entry points; then the functions.
use super::DecodeOptions;
use super::body;
use super::constants::{ConstLeaf, Constant, MAX_GLOBAL_BYTES};
use super::error::{FrontendError, Res};
use super::kernel;
use super::orphans;
use super::types::{Kind, Types, space};
use super::words::{Instr, instructions};
use crate::ir::{Global, Module, Ty};
use spirv::{BuiltIn, Capability, Decoration, ExecutionModel, Op, StorageClass};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use warpscope_exec::ops::Rounding;

/// Bytes of the widest access to memory.
const WIDEST_ACCESS: u32 = 16;

/// A map from ids; never iterated, so its order matters to nothing.
pub(super) type IdMap<T> = HashMap<u32, T, BuildHasherDefault<IdHasher>>;

/// Hashes an id by one multiplication.
#[derive(Default)]
pub(super) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.write_u32(u32::from(b));
        }
    }
    fn write_u32(&mut self, n: u32) {
        self.0 = (self.0 ^ u64::from(n)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(26);
    }
}

/// Decorations of an id that matter here.
#[derive(Clone, Debug, Default)]
pub(super) struct Decorations {
    pub flags: u8,
    pub saturate: bool,
    pub rounding: Option<Rounding>,
    pub builtin: Option<BuiltIn>,
    pub align: Option<u32>,
    pub import: Option<String>,
    pub packed: bool,
    pub spec_id: Option<u32>,
    pub by_value: bool,
    pub volatile: bool,
    pub no_alias: bool,
}

/// An extended instruction set.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum ExtSet {
    OpenClStd,
    /// Debug information and the like: has no meaning for execution.
    Ignored,
}

/// A function's instructions.
pub(super) struct Source<'a> {
    /// Id.
    pub id: u32,
    /// Its OpFunction.
    pub header: Instr<'a>,
    /// OpFunctionParameter instructions.
    pub params: Vec<Instr<'a>>,
    /// From the first OpLabel to the last instruction before OpFunctionEnd, OpLine included.
    pub body: Vec<Instr<'a>>,
}

/// An entry point as declared.
pub(super) struct Entry {
    pub function: u32,
    pub name: String,
    pub word: usize,
}

/// Everything known about the module.
pub(super) struct ModuleReader<'a> {
    pub options: &'a DecodeOptions,
    pub types: Types,
    pub constants: IdMap<Constant>,
    pub names: IdMap<String>,
    pub strings: IdMap<String>,
    pub string_list: Vec<String>,
    pub ext_sets: IdMap<ExtSet>,
    pub globals: Vec<Global>,
    /// Built-in input variables.
    pub inputs: IdMap<BuiltIn>,
    pub functions: Vec<Source<'a>>,
    /// Index in `functions`.
    pub function_index: IdMap<usize>,
    pub entries: Vec<Entry>,
    pub modes: Vec<(u32, Instr<'a>)>,
    pub files: Vec<String>,
    decorations: IdMap<Decorations>,
    /// Decoration groups: what has no instruction of its own.
    groups: IdMap<()>,
    defaults: Decorations,
}

impl<'a> ModuleReader<'a> {
    /// Reads a module's words.
    pub fn read(words: &'a [u32], options: &'a DecodeOptions) -> Result<Self, FrontendError> {
        let mut m = ModuleReader {
            options,
            types: Types::default(),
            constants: IdMap::default(),
            names: IdMap::default(),
            strings: IdMap::default(),
            string_list: Vec::new(),
            ext_sets: IdMap::default(),
            globals: Vec::new(),
            inputs: IdMap::default(),
            functions: Vec::new(),
            function_index: IdMap::default(),
            entries: Vec::new(),
            modes: Vec::new(),
            files: Vec::new(),
            decorations: IdMap::default(),
            groups: IdMap::default(),
            defaults: Decorations::default(),
        };
        let mut open: Option<Source<'a>> = None;
        let mut position = (String::new(), 0);
        for i in instructions(words)? {
            if i.op == Op::Line {
                let file = i.at(0).ok().and_then(|f| m.strings.get(&f).cloned()).unwrap_or_default();
                position = (file, i.at(1).unwrap_or(0));
            }
            m.instruction(&i, &mut open).map_err(|why| FrontendError {
                file: position.0.clone(),
                line: position.1,
                ..i.error(why)
            })?;
        }
        if let Some(f) = open {
            return Err(f.header.error("the function has no OpFunctionEnd: the module is cut off"));
        }
        Ok(m)
    }

    /// Translates the functions and makes the entry points.
    pub fn finish(mut self) -> Result<Module, FrontendError> {
        orphans::adopt(&mut self)?;
        let mut module = Module::default();
        let mut shared = body::Shared { files: std::mem::take(&mut self.files), printf: Default::default() };
        for index in 0..self.functions.len() {
            module.functions.push(body::translate(&self, index, &mut shared)?);
        }
        kernel::refuse_recursion(&self, &module)?;
        kernel::make_kernels(&self, &mut module)?;
        module.globals = self.globals;
        shared.printf.append_globals(&mut module.globals);
        module.files = shared.files;
        Ok(module)
    }

    /// An id's decorations.
    pub fn decoration(&self, id: u32) -> &Decorations {
        self.decorations.get(&id).unwrap_or(&self.defaults)
    }

    /// Decorations that say something about arithmetic.
    pub fn arithmetic_decorations(&self) -> impl Iterator<Item = (u32, &Decorations)> {
        let says = |d: &Decorations| d.flags != 0 || d.saturate || d.rounding.is_some();
        self.decorations.iter().filter(move |(id, d)| says(d) && !self.groups.contains_key(id)).map(|(&id, d)| (id, d))
    }

    /// Gives an id the decorations of another one.
    pub fn decorate_again(&mut self, id: u32, d: Decorations) {
        let own = self.decorations.entry(id).or_default();
        own.flags |= d.flags;
        own.saturate |= d.saturate;
        own.rounding = own.rounding.or(d.rounding);
    }

    /// A name for messages.
    pub fn name_of(&self, id: u32) -> String {
        self.names.get(&id).cloned().unwrap_or_else(|| format!("%{id}"))
    }

    fn instruction(&mut self, i: &Instr<'a>, open: &mut Option<Source<'a>>) -> Res<()> {
        if let Some(f) = open {
            match i.op {
                Op::FunctionEnd => {
                    if let Some(f) = open.take() {
                        self.function_index.insert(f.id, self.functions.len());
                        self.functions.push(f);
                    }
                }
                Op::FunctionParameter if f.body.is_empty() => f.params.push(*i),
                Op::Function => return Err("a function inside a function".into()),
                Op::Line | Op::NoLine => f.body.push(*i),
                Op::Nop => {}
                _ => f.body.push(*i),
            }
            return Ok(());
        }
        match i.op {
            Op::Function => {
                *open = Some(Source { id: i.id, header: *i, params: Vec::new(), body: Vec::new() });
                Ok(())
            }
            Op::Nop | Op::Source | Op::SourceContinued | Op::SourceExtension | Op::ModuleProcessed => Ok(()),
            Op::Line | Op::NoLine | Op::MemberName | Op::MemberDecorate | Op::DecorateId | Op::DecorateString => Ok(()),
            Op::Extension => Ok(()),
            // What cannot alias is a hint (SPV_INTEL_memory_access_aliasing).
            Op::AliasDomainDeclINTEL | Op::AliasScopeDeclINTEL | Op::AliasScopeListDeclINTEL => Ok(()),
            Op::Capability => capability(i.at(0)?),
            Op::MemoryModel => memory_model(i),
            Op::Name => {
                self.names.insert(i.at(0)?, i.string(1)?.0);
                Ok(())
            }
            Op::String => {
                let s = i.string(0)?.0;
                self.string_list.push(s.clone());
                self.strings.insert(i.id, s);
                Ok(())
            }
            Op::ExtInstImport => self.import_set(i),
            Op::ExtInst => match self.ext_sets.get(&i.at(0)?) {
                Some(ExtSet::Ignored) => Ok(()),
                _ => Err("an extended instruction at module scope".into()),
            },
            Op::EntryPoint => self.entry_point(i),
            Op::ExecutionMode | Op::ExecutionModeId => {
                self.modes.push((i.at(0)?, *i));
                Ok(())
            }
            Op::Decorate => {
                let target = i.at(0)?;
                let mut d = self.decorations.remove(&target).unwrap_or_default();
                let done = decorate(&mut d, i);
                self.decorations.insert(target, d);
                done
            }
            Op::DecorationGroup => {
                self.groups.insert(i.id, ());
                Ok(())
            }
            Op::GroupDecorate => self.group_decorate(i),
            Op::Variable => self.variable(i),
            Op::TypeVoid
            | Op::TypeBool
            | Op::TypeInt
            | Op::TypeFloat
            | Op::TypeVector
            | Op::TypeArray
            | Op::TypeStruct
            | Op::TypePointer
            | Op::TypeFunction
            | Op::TypeEvent
            | Op::TypeForwardPointer => self.read_type(i),
            // Handles, which kernels may take and pass on: 8 bytes. Instructions that look behind one are refused
            // where they stand.
            Op::TypeImage | Op::TypeSampler | Op::TypePipe | Op::TypeQueue => {
                self.types.add_simple(i.id, Kind::Scalar(Ty::I64))
            }
            Op::TypeSampledImage
            | Op::TypeOpaque
            | Op::TypeDeviceEvent
            | Op::TypeReserveId
            | Op::TypePipeStorage
            | Op::TypeNamedBarrier => {
                // Kept by id alone; a value of the type is refused where it is used.
                let id = if i.id != 0 { i.id } else { i.at(0)? };
                self.types.add_simple(id, Kind::Opaque(format!("values of {} are not supported", i.name())))
            }
            Op::ConstantTrue
            | Op::ConstantFalse
            | Op::Constant
            | Op::ConstantComposite
            | Op::ConstantNull
            | Op::SpecConstantTrue
            | Op::SpecConstantFalse
            | Op::SpecConstant
            | Op::SpecConstantComposite
            | Op::SpecConstantOp
            | Op::Undef => self.read_constant(i),
            _ => Err("this instruction is not supported at module scope".into()),
        }
    }

    fn import_set(&mut self, i: &Instr<'_>) -> Res<()> {
        let name = i.string(0)?.0;
        let set = match name.as_str() {
            "OpenCL.std" => ExtSet::OpenClStd,
            "OpenCL.DebugInfo.100" | "DebugInfo" => ExtSet::Ignored,
            n if n.starts_with("NonSemantic.") => ExtSet::Ignored,
            n => return Err(format!("the extended instruction set {n:?} is unknown")),
        };
        self.ext_sets.insert(i.id, set);
        Ok(())
    }

    fn entry_point(&mut self, i: &Instr<'_>) -> Res<()> {
        if i.at(0)? != ExecutionModel::Kernel as u32 {
            return Err("an entry point that is not a kernel (execution model Kernel)".into());
        }
        self.entries.push(Entry { function: i.at(1)?, name: i.string(2)?.0, word: i.word });
        Ok(())
    }

    fn group_decorate(&mut self, i: &Instr<'_>) -> Res<()> {
        let group = self.decoration(i.at(0)?).clone();
        for &target in i.rest(1) {
            let d = self.decorations.entry(target).or_default();
            let old = d.clone();
            *d = group.clone();
            d.flags |= old.flags;
            d.saturate |= old.saturate;
            d.by_value |= old.by_value;
            d.no_alias |= old.no_alias;
            d.volatile |= old.volatile;
            d.packed |= old.packed;
            d.rounding = d.rounding.or(old.rounding);
            d.builtin = d.builtin.or(old.builtin);
            d.align = d.align.or(old.align);
            d.spec_id = d.spec_id.or(old.spec_id);
            d.import = d.import.take().or(old.import);
        }
        Ok(())
    }

    fn read_type(&mut self, i: &Instr<'_>) -> Res<()> {
        let id = i.id;
        match i.op {
            Op::TypeVoid => self.types.add_simple(id, Kind::Void),
            Op::TypeBool => self.types.add_simple(id, Kind::Scalar(Ty::Bool)),
            Op::TypeEvent => self.types.add_simple(id, Kind::Scalar(Ty::I64)),
            Op::TypeInt => {
                let ty = match i.at(0)? {
                    8 => Ty::I8,
                    16 => Ty::I16,
                    32 => Ty::I32,
                    64 => Ty::I64,
                    n => return Err(format!("integers of {n} bits (8, 16, 32 and 64 are supported)")),
                };
                self.types.add_simple(id, Kind::Scalar(ty))
            }
            Op::TypeFloat => {
                let ty = match (i.at(0)?, i.operands.len()) {
                    (16, 1) => Ty::F16,
                    (32, 1) => Ty::F32,
                    (64, 1) => Ty::F64,
                    (n, _) => return Err(format!("floats of {n} bits (IEEE 16, 32 and 64 are supported)")),
                };
                self.types.add_simple(id, Kind::Scalar(ty))
            }
            Op::TypeVector => self.types.add_vector(id, i.at(0)?, i.at(1)?),
            Op::TypeArray => {
                let count = self.constant_int(i.at(1)?)?;
                self.types.add_array(id, i.at(0)?, count)
            }
            Op::TypeStruct => {
                let packed = self.decoration(id).packed;
                self.types.add_struct(id, i.operands.to_vec(), packed)
            }
            Op::TypePointer => {
                let n = i.at(0)?;
                let class = StorageClass::from_u32(n).ok_or_else(|| format!("storage class {n} is unknown"))?;
                let kind = match space(class) {
                    Some(space) => Kind::Pointer { space, class, pointee: i.at(1)? },
                    None => Kind::Opaque(format!("pointers of storage class {class:?} are not supported")),
                };
                self.types.add_simple(id, kind)
            }
            Op::TypeForwardPointer => {
                let n = i.at(1)?;
                let class = StorageClass::from_u32(n).ok_or_else(|| format!("storage class {n} is unknown"))?;
                self.types.declare_pointer(i.at(0)?, class)
            }
            Op::TypeFunction => {
                self.types.add_simple(id, Kind::Function { result: i.at(0)?, params: i.rest(1).to_vec() })
            }
            _ => Ok(()),
        }
    }

    fn variable(&mut self, i: &Instr<'_>) -> Res<()> {
        let d = self.decoration(i.id).clone();
        let name = self.names.get(&i.id).cloned().unwrap_or_default();
        let Kind::Pointer { space, class, pointee } = self.types.get(i.ty)?.kind else {
            return match &self.types.get(i.ty)?.kind {
                Kind::Opaque(why) => Err(why.clone()),
                _ => Err("a variable whose type is not a pointer".into()),
            };
        };
        // Translators of old put built-ins into UniformConstant.
        if let Some(b) = d.builtin {
            self.inputs.insert(i.id, b);
            return Ok(());
        }
        if class == StorageClass::Input {
            return Err(format!("the input variable {name:?} is not a built-in"));
        }
        if let Some(import) = d.import {
            return Err(format!("the variable {import:?} is imported: link the module that defines it first"));
        }
        if !matches!(space, Ty::PtrGlobal | Ty::PtrConstant | Ty::PtrLocal) {
            return Err(format!("module-scope variables of storage class {class:?} are not supported"));
        }
        let t = self.types.get(pointee)?;
        if let Kind::Opaque(why) = &t.kind {
            return Err(why.clone());
        }
        if t.size > MAX_GLOBAL_BYTES {
            return Err(format!("the variable {name:?} has {} bytes (at most {MAX_GLOBAL_BYTES})", t.size));
        }
        let size = t.size;
        let natural = t.align as u32;
        let mut align = d.align.filter(|a| a.is_power_of_two()).unwrap_or(natural).max(1);
        // Where a variable lies is the compiler's choice: such that its elements can be accessed several at a time.
        if space == Ty::PtrLocal && size >= u64::from(WIDEST_ACCESS) {
            align = align.max(WIDEST_ACCESS);
        }
        let init = vec![0; size as usize];
        let uninitialised = i.operands.len() < 2;
        let mut g = Global { name, space, init, align, relocations: Vec::new(), uninitialised, printf: false };
        if let Some(&id) = i.operands.get(1) {
            self.initial_bytes(id, size, &mut g)?;
        }
        self.globals.push(g);
        let leaves = vec![ConstLeaf::Address { global: self.globals.len() - 1, addend: 0 }];
        self.constants.insert(i.id, Constant { ty: i.ty, leaves: Some(leaves) });
        Ok(())
    }
}

fn memory_model(i: &Instr<'_>) -> Res<()> {
    if i.at(0)? != spirv::AddressingModel::Physical64 as u32 {
        return Err("the addressing model must be Physical64: compile for a 64-bit device (spirv64)".into());
    }
    if i.at(1)? != spirv::MemoryModel::OpenCL as u32 {
        return Err("the memory model must be OpenCL".into());
    }
    Ok(())
}

/// Capabilities whose instructions are decoded or refused one by one pass; those that change what the others mean do not.
fn capability(n: u32) -> Res<()> {
    match Capability::from_u32(n) {
        None => Err(format!("capability {n} is unknown")),
        Some(c @ (Capability::Shader | Capability::Matrix | Capability::Geometry | Capability::Tessellation)) => {
            Err(format!("the capability {c:?} belongs to graphics: this is an OpenCL device"))
        }
        Some(_) => Ok(()),
    }
}

fn decorate(d: &mut Decorations, i: &Instr<'_>) -> Res<()> {
    use crate::ir::flag;
    let Some(kind) = Decoration::from_u32(i.at(1)?) else { return Ok(()) };
    match kind {
        Decoration::NoSignedWrap => d.flags |= flag::NSW,
        Decoration::NoUnsignedWrap => d.flags |= flag::NUW,
        Decoration::FPFastMathMode => {
            let mask = i.at(2)?;
            let (recip, fast, contract) = (8, 16, 0x1_0000);
            d.flags |= if mask & (fast | contract) != 0 { flag::CONTRACT } else { 0 };
            d.flags |= if mask & (fast | recip) != 0 { flag::RECIPROCAL } else { 0 };
        }
        Decoration::SaturatedConversion => d.saturate = true,
        Decoration::FPRoundingMode => d.rounding = Some(rounding(i.at(2)?)?),
        Decoration::BuiltIn => {
            let n = i.at(2)?;
            d.builtin = Some(BuiltIn::from_u32(n).ok_or_else(|| format!("built-in variable {n} is unknown"))?);
        }
        Decoration::Alignment => d.align = Some(i.at(2)?),
        Decoration::LinkageAttributes => {
            let (name, next) = i.string(2)?;
            if i.at(next)? == spirv::LinkageType::Import as u32 {
                d.import = Some(name);
            }
        }
        Decoration::CPacked => d.packed = true,
        Decoration::SpecId => d.spec_id = Some(i.at(2)?),
        Decoration::FuncParamAttr if i.at(2)? == spirv::FunctionParameterAttribute::ByVal as u32 => d.by_value = true,
        Decoration::FuncParamAttr if i.at(2)? == spirv::FunctionParameterAttribute::NoAlias as u32 => d.no_alias = true,
        Decoration::Volatile => d.volatile = true,
        _ => {}
    }
    Ok(())
}

/// FP rounding mode of a decoration or of an operand of OpenCL.std.
pub(super) fn rounding(n: u32) -> Res<Rounding> {
    Ok(match n {
        0 => Rounding::NearestEven,
        1 => Rounding::Zero,
        2 => Rounding::Up,
        3 => Rounding::Down,
        _ => return Err(format!("rounding mode {n} is unknown")),
    })
}
