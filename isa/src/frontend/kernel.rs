//! Entry points: a function without parameters that reads the arguments and calls the kernel.
use super::error::{FrontendError, Res};
use super::module::{Entry, ModuleReader, Source};
use super::types::{Kind, Leaf, memory_bytes};
use crate::ir::{Access, Function, Kernel, Loc, Module, Opcode, Ty, Value};
use spirv::{ExecutionMode, Op};
use warpscope_exec::program::{Parameter, ParameterKind};

/// Most bytes that arguments may take together: CL_DEVICE_MAX_PARAMETER_SIZE. The H200 reports 4352; OpenCL asks for 1024.
pub const MAX_PARAMETER_BYTES: u64 = 4352;

/// OpenCL C has no recursion (6.11.i), and everything is inlined.
pub(super) fn refuse_recursion(m: &ModuleReader<'_>, module: &Module) -> Result<(), FrontendError> {
    let callees: Vec<Vec<usize>> = module
        .functions
        .iter()
        .map(|f| f.insts.iter().filter_map(|d| if let Opcode::Call(g) = d.op { Some(g) } else { None }).collect())
        .collect();
    // 0: not seen, 1: on the path, 2: done.
    let mut state = vec![0u8; callees.len()];
    for root in 0..callees.len() {
        let mut stack = vec![(root, 0)];
        while let Some((f, next)) = stack.last_mut() {
            let f = *f;
            if *next == 0 && state[f] == 2 {
                stack.pop();
                continue;
            }
            state[f] = 1;
            if let Some(&g) = callees[f].get(*next) {
                *next += 1;
                if state.get(g) == Some(&1) {
                    let s = &m.functions[g];
                    let why = format!("the function {} calls itself: recursion is not allowed", m.name_of(s.id));
                    return Err(s.header.error(why));
                }
                if state.get(g) == Some(&0) {
                    stack.push((g, 0));
                }
            } else {
                state[f] = 2;
                stack.pop();
            }
        }
    }
    Ok(())
}

/// Makes all entry points.
pub(super) fn make_kernels(m: &ModuleReader<'_>, module: &mut Module) -> Result<(), FrontendError> {
    for e in &m.entries {
        // Kernels that clang makes for blocks are launched by the device only.
        if e.name.starts_with("__") && e.name.ends_with("_block_invoke_kernel") {
            continue;
        }
        let fail = |why: String| FrontendError {
            instruction: "OpEntryPoint".into(),
            word: e.word,
            file: String::new(),
            line: 0,
            why: format!("kernel {}: {why}", e.name),
        };
        if module.kernels.iter().any(|k| k.name == e.name) {
            return Err(fail("the name occurs twice".into()));
        }
        let index = m.function_index.get(&e.function).copied().ok_or_else(|| fail("its function is missing".into()))?;
        let source = &m.functions[index];
        let (kernel, function) = make_kernel(m, e, source, index, module.functions.len()).map_err(fail)?;
        module.functions.push(function);
        module.kernels.push(kernel);
    }
    Ok(())
}

fn make_kernel(
    m: &ModuleReader<'_>,
    e: &Entry,
    source: &Source<'_>,
    callee: usize,
    index: usize,
) -> Res<(Kernel, Function)> {
    if source.body.is_empty() {
        return Err("its function has no body".into());
    }
    let mut kernel = Kernel {
        name: e.name.clone(),
        function: index,
        parameters: Vec::new(),
        parameter_bytes: 0,
        required_group_size: None,
        group_size_hint: None,
        vec_type_hint: String::new(),
        required_sub_group_size: None,
        restricted: Vec::new(),
        contraction_off: false,
        flush_denormals: false,
    };
    for (target, mode) in &m.modes {
        if *target == e.function {
            execution_mode(m, &mut kernel, mode).map_err(|why| format!("{}: {why}", mode.name()))?;
        }
    }
    let type_names = type_names(m, &e.name);
    let mut w = Wrapper { m, f: Function { name: e.name.clone(), ..Function::default() }, offset: 0, args: Vec::new() };
    let entry = w.f.add_block();
    for (n, p) in source.params.iter().enumerate() {
        let place = |why: String| format!("parameter {}: {why}", n + 1);
        let (kind, size, offset) = w.parameter(n, p.ty, p.id).map_err(place)?;
        if m.decoration(p.id).no_alias && matches!(kind, ParameterKind::Pointer { .. }) {
            kernel.restricted.push(offset);
        }
        kernel.parameters.push(Parameter {
            name: m.names.get(&p.id).cloned().unwrap_or_default(),
            type_name: type_names.get(n).cloned().unwrap_or_default(),
            kind,
            size,
            offset,
        });
    }
    if w.offset > MAX_PARAMETER_BYTES {
        return Err(format!("its parameters take {} bytes (at most {MAX_PARAMETER_BYTES})", w.offset));
    }
    kernel.parameter_bytes = w.offset as u32;
    let args = std::mem::take(&mut w.args);
    if !matches!(m.types.get(source.header.ty)?.kind, Kind::Void) {
        return Err("it returns a value".into());
    }
    w.f.append(entry, Opcode::Call(callee), &args, &[], Loc::default());
    w.f.append(entry, Opcode::Return, &[], &[], Loc::default());
    Ok((kernel, w.f))
}

/// Builds the function that reads the arguments.
struct Wrapper<'a, 'b> {
    m: &'a ModuleReader<'b>,
    f: Function,
    offset: u64,
    args: Vec<Value>,
}

impl Wrapper<'_, '_> {
    fn emit(&mut self, op: Opcode, args: &[Value], ty: Ty) -> Value {
        let i = self.f.append(Function::ENTRY, op, args, &[ty], Loc::default());
        self.f.inst(i).results[0]
    }
    /// Room in the parameter block.
    fn place(&mut self, size: u64, align: u64) -> u64 {
        let at = self.offset.next_multiple_of(align.max(1));
        self.offset = at + size;
        at
    }
    /// Reads one parameter; gives its kind, size and offset.
    fn parameter(&mut self, n: usize, ty: u32, id: u32) -> Res<(ParameterKind, u32, u32)> {
        let t = self.m.types.get(ty)?.clone();
        let by_value = self.m.decoration(id).by_value;
        match t.kind {
            Kind::Pointer { space: Ty::PtrPrivate, pointee, .. } if by_value => {
                let (size, align) = self.layout(pointee)?;
                let at = self.place(size, align);
                let p = self.emit(Opcode::Alloca { size: size as u32, align: align as u32 }, &[], Ty::PtrPrivate);
                self.copy_struct(pointee, p, at, size)?;
                self.args.push(p);
                Ok((ParameterKind::Value, size as u32, at as u32))
            }
            Kind::Pointer { space: space @ (Ty::PtrGlobal | Ty::PtrConstant), .. } => {
                let at = self.place(8, 8) as u32;
                let p = self.emit(Opcode::Parameter(at), &[], space);
                self.args.push(p);
                Ok((ParameterKind::Pointer { constant: space == Ty::PtrConstant }, 8, at))
            }
            Kind::Pointer { space: Ty::PtrLocal, pointee, .. } => {
                let p = self.emit(Opcode::LocalParameter(n as u32), &[], Ty::PtrLocal);
                self.args.push(p);
                let natural = self.m.types.get(pointee).map_or(1, |t| t.align as u32);
                let align = self.m.decoration(id).align.filter(|a| a.is_power_of_two()).unwrap_or(natural).max(natural);
                Ok((ParameterKind::LocalPointer { align }, 8, self.offset as u32))
            }
            Kind::Pointer { .. } => Err("a pointer to private or generic memory cannot be an argument".into()),
            Kind::Void | Kind::Function { .. } => Err("its type cannot be an argument".into()),
            Kind::Opaque(why) => Err(why),
            Kind::Scalar(_) | Kind::Vector { .. } | Kind::Array { .. } | Kind::Struct { .. } => {
                let (size, align) = self.layout(ty)?;
                let at = self.place(size, align);
                for leaf in self.m.types.leaves(ty)? {
                    let v = self.leaf(leaf, at)?;
                    self.args.push(v);
                }
                Ok((ParameterKind::Value, size as u32, at as u32))
            }
        }
    }
    fn layout(&self, ty: u32) -> Res<(u64, u64)> {
        let t = self.m.types.get(ty)?;
        if t.size > MAX_PARAMETER_BYTES {
            return Err(format!("{} bytes are too large for an argument", t.size));
        }
        Ok((t.size, t.align))
    }
    fn leaf(&mut self, leaf: Leaf, base: u64) -> Res<Value> {
        match leaf.ty {
            Ty::Bool => Err("a bool cannot be an argument".into()),
            Ty::PtrLocal | Ty::PtrPrivate | Ty::PtrGeneric => Err("such a pointer cannot be an argument".into()),
            ty => Ok(self.emit(Opcode::Parameter((base + leaf.offset) as u32), &[], ty)),
        }
    }
    /// Fills private memory with a by-value struct: its leaves, and the bytes between them (unions use those).
    fn copy_struct(&mut self, ty: u32, to: Value, base: u64, size: u64) -> Res<()> {
        let mut next = 0;
        for leaf in self.m.types.leaves(ty)? {
            self.copy_bytes(to, base, next, leaf.offset);
            let v = self.leaf(leaf, base)?;
            self.store(to, leaf.offset, v);
            next = leaf.offset + memory_bytes(leaf.ty);
        }
        self.copy_bytes(to, base, next, size);
        Ok(())
    }
    fn copy_bytes(&mut self, to: Value, base: u64, from: u64, end: u64) {
        for o in from..end {
            let v = self.emit(Opcode::Parameter((base + o) as u32), &[], Ty::I8);
            self.store(to, o, v);
        }
    }
    fn store(&mut self, to: Value, offset: u64, v: Value) {
        let o = self.emit(Opcode::Const(offset), &[], Ty::I32);
        let p = self.emit(Opcode::PtrAdd { inbounds: true }, &[to, o], Ty::PtrPrivate);
        let align = (1 << offset.trailing_zeros().min(3)).min(self.f.ty(v).bits() / 8);
        let access = Access { count: 1, align, volatile: false };
        self.f.append(Function::ENTRY, Opcode::Store(access), &[p, v], &[], Loc::default());
    }
}

/// OpenCL C type names of a kernel's parameters, where the compiler left them.
fn type_names(m: &ModuleReader<'_>, kernel: &str) -> Vec<String> {
    let prefix = format!("kernel_arg_type.{kernel}.");
    let names = m.string_list.iter().find_map(|s| s.strip_prefix(&prefix));
    names.map(|s| s.trim_end_matches(',').split(',').map(str::to_string).collect()).unwrap_or_default()
}

fn execution_mode(m: &ModuleReader<'_>, k: &mut Kernel, i: &super::words::Instr<'_>) -> Res<()> {
    let n = i.at(1)?;
    let mode = ExecutionMode::from_u32(n).ok_or_else(|| format!("execution mode {n} is unknown"))?;
    let size = || -> Res<[u32; 3]> {
        let s = [i.at(2)?, i.at(3)?, i.at(4)?];
        if i.op == Op::ExecutionMode {
            return Ok(s);
        }
        let value = |id| m.constant_int(id).map(|v| v as u32);
        Ok([value(s[0])?, value(s[1])?, value(s[2])?])
    };
    match mode {
        ExecutionMode::LocalSize | ExecutionMode::LocalSizeId => k.required_group_size = Some(size()?),
        ExecutionMode::LocalSizeHint | ExecutionMode::LocalSizeHintId => k.group_size_hint = Some(size()?),
        ExecutionMode::VecTypeHint => k.vec_type_hint = vec_type_hint(i.at(2)?),
        ExecutionMode::ContractionOff => k.contraction_off = true,
        ExecutionMode::SubgroupSize => k.required_sub_group_size = Some(i.at(2)?),
        ExecutionMode::DenormFlushToZero => k.flush_denormals |= i.at(2)? == 32,
        ExecutionMode::DenormPreserve | ExecutionMode::SignedZeroInfNanPreserve | ExecutionMode::RoundingModeRTE => {}
        _ => return Err(format!("the execution mode {mode:?} is not supported")),
    }
    if k.required_group_size.is_some_and(|s| s.contains(&0)) {
        return Err("a required work-group size of 0".into());
    }
    Ok(())
}

/// The literal of VecTypeHint: element type in the low half, number of elements in the high half.
fn vec_type_hint(literal: u32) -> String {
    let name = match literal & 0xffff {
        0 => "char",
        1 => "short",
        2 => "int",
        3 => "long",
        4 => "half",
        5 => "float",
        _ => "double",
    };
    match literal >> 16 {
        0 | 1 => name.to_string(),
        n => format!("{name}{n}"),
    }
}
