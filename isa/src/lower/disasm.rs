//! Text of a program, for `warpscope disasm` and for tests.
use super::mir::is_memory;
use std::fmt::Write;
use warpscope_exec::ops::{Cond, Conversion, FCond, IntFn, MathFn, Op, OpClass, Rounding, compares, minmax, modifiers};
use warpscope_exec::program::{
    AccessShape, AtomicOp, ConstantRow, MachineOp, NO_RECONVERGENCE, Operand, OperandKind, Program, Special, flags,
};

/// The whole program, one operation a line.
pub fn disassemble(p: &Program) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "// kernel {}: {} operations, width {}, {} registers, {} uniform, {} B local, {} B private ({} B spilled)",
        p.name,
        p.ops.len(),
        p.width,
        p.registers,
        p.uniform_registers,
        p.local_bytes,
        p.private_bytes,
        p.spill_bytes
    );
    let targets = branch_targets(p);
    let mut last = Default::default();
    for (at, op) in p.ops.iter().enumerate() {
        let line = p.lines.get(at).copied().unwrap_or_default();
        if line != last && line.line != 0 {
            let file = p.files.get(line.file as usize).map_or("?", |s| s.as_str());
            let _ = writeln!(out, "// {file}:{}", line.line);
        }
        last = line;
        if targets.contains(&(at as u32)) {
            let _ = writeln!(out, "L{at}:");
        }
        let _ = writeln!(out, "  {at:5}  {}", operation(p, op));
    }
    for (t, table) in p.jump_tables.iter().enumerate() {
        let _ = writeln!(out, "// table {t}: {table:?}");
    }
    out
}

/// Addresses that a branch goes to.
fn branch_targets(p: &Program) -> std::collections::BTreeSet<u32> {
    let mut targets: std::collections::BTreeSet<u32> = p.jump_tables.iter().flatten().copied().collect();
    for op in p.ops.iter().filter(|o| o.flags & flags::GHOST == 0) {
        match op.op {
            Op::Bra => {
                targets.extend([op.imm as u32, op.imm2]);
            }
            Op::Brx => {
                targets.insert(op.imm2);
            }
            _ => {}
        }
    }
    targets
}

/// One operation.
pub fn operation(p: &Program, op: &MachineOp) -> String {
    let mut s = String::new();
    match op.guard.get() {
        Some((g, n)) => {
            let _ = write!(s, "{:>4} ", format!("@{}p{g}", if n { "!" } else { "" }));
        }
        None => s.push_str("     "),
    }
    let mut name = op.op.mnemonic().to_string();
    if op.flags & flags::GHOST != 0 {
        name.insert(0, '~');
    }
    name.push_str(&suffix(op));
    let _ = write!(s, "{name:<16}");
    let mut operands = Vec::new();
    for d in [op.dst, op.dst2] {
        if !d.is_none() {
            operands.push(operand(p, d));
        }
    }
    let last = op.src.iter().rposition(|o| !o.is_none()).map_or(0, |i| i + 1);
    for (i, &o) in op.src[..last].iter().enumerate() {
        let mut text = operand(p, o);
        if i == 0 && is_memory(op.op) {
            text = format!("[{text}{:+#x}]", op.imm);
        }
        if i < 3 && op.flags >> (flags::REUSE_SHIFT + i as u8) & 1 != 0 {
            text.push_str(".reuse");
        }
        operands.push(text);
    }
    s.push_str(&operands.join(", "));
    if op.flags & flags::GHOST == 0 {
        s.push_str(&trailer(op));
    }
    if op.class != op.op.class() || op.flags & flags::GHOST != 0 {
        let _ = write!(s, "  ; {}", class_name(op.class));
    }
    s
}

fn class_name(c: OpClass) -> &'static str {
    c.key()
}

/// What the immediates add to the mnemonic.
fn suffix(op: &MachineOp) -> String {
    if op.flags & flags::GHOST != 0 {
        return String::new();
    }
    use Op::*;
    let name = |s: Option<String>| s.map(|s| format!(".{}", s.to_lowercase())).unwrap_or_default();
    match op.op {
        IAddMnMx | IMnMx3 => {
            let kind = if op.imm & minmax::MAX != 0 { "max" } else { "min" };
            format!(".{kind}.{}32", if op.imm & minmax::UNSIGNED != 0 { 'u' } else { 's' })
        }
        ICmp8 | ICmp16 | ICmp32 | ICmp64 | Test32 => name(Cond::ALL.get(op.imm as usize).map(|c| format!("{c:?}"))),
        FCmpF16 | FCmpF32 | FCmpF64 => name(FCond::ALL.get(op.imm as usize).map(|c| format!("{c:?}"))),
        FRoundF16 | FRoundF32 | FRoundF64 => name(Rounding::ALL.get(op.imm as usize).map(|c| format!("{c:?}"))),
        MathF16 | MathF32 | MathF64 => name(MathFn::ALL.get(op.imm2 as usize).map(|f| f.name().to_string())),
        IntFn => name(self::IntFn::ALL.get(op.imm as usize).map(|f| f.name().to_string())),
        Convert => {
            let c = Conversion::unpack(op.imm);
            format!(".{:?}.{:?}", c.from, c.to).to_lowercase()
        }
        ReadSpecial => name(Special::ALL.get(op.imm as usize).map(|s| format!("{s:?}"))),
        AtomGlobal | AtomLocal | AtomGeneric => {
            let shape = AccessShape::unpack(op.imm2);
            let atomic = AtomicOp::ALL.get(shape.atomic as usize).map(|a| format!("{a:?}"));
            format!("{}.b{}", name(atomic), shape.element * 8)
        }
        o if is_memory(o) => {
            let shape = AccessShape::unpack(op.imm2);
            let count = if shape.count > 1 { format!("x{}", shape.count) } else { String::new() };
            let volatile = if op.flags & flags::VOLATILE != 0 { ".volatile" } else { "" };
            format!(".{}{count}{volatile}", shape.element * 8)
        }
        _ => String::new(),
    }
}

/// What the immediates add after the operands.
fn trailer(op: &MachineOp) -> String {
    use Op::*;
    match op.op {
        Bra => match op.imm2 {
            NO_RECONVERGENCE => format!("L{}", op.imm),
            r => format!("L{} (meet L{r})", op.imm),
        },
        Brx => match op.imm2 {
            NO_RECONVERGENCE => format!(", table {}", op.imm),
            r => format!(", table {} (meet L{r})", op.imm),
        },
        FAddF16 | FAddF32 | FAddF64 | FMulF16 | FMulF32 | FMulF64 | FFmaF16 | FFmaF32 | FFmaF64 | FDivF32 | FMinF32
        | FMaxF32 | FMinF64 | FMaxF64
            if op.imm != 0 =>
        {
            let names = [
                (modifiers::NEG_A, "-a"),
                (modifiers::NEG_B, "-b"),
                (modifiers::NEG_C, "-c"),
                (modifiers::ABS_A, "|a|"),
                (modifiers::ABS_B, "|b|"),
                (modifiers::FLUSH, "ftz"),
                (modifiers::SATURATE, "sat"),
            ];
            let set: Vec<&str> = names.iter().filter(|n| op.imm & n.0 != 0).map(|n| n.1).collect();
            format!(" ({})", set.join(" "))
        }
        ICmp8 | ICmp16 | ICmp32 | ICmp64 | FCmpF16 | FCmpF32 | FCmpF64 if op.imm2 != 0 => {
            let names = [(compares::XOR, "xor"), (compares::ABS_A, "|a|"), (compares::ABS_B, "|b|")];
            let set: Vec<&str> = names.iter().filter(|n| op.imm2 & n.0 != 0).map(|n| n.1).collect();
            format!(" ({})", set.join(" "))
        }
        Lop3 => format!(", {:#04x}", op.imm),
        Lea32 | LeaHiU32 | LeaHiS32 | Lea64 | LeaSext | LeaZext | Bar | BarSub | MemBar | Trap => {
            format!(", {}", op.imm)
        }
        _ => String::new(),
    }
}

fn operand(p: &Program, o: Operand) -> String {
    match o.kind() {
        OperandKind::Constant(c) => match p.constants.get(c as usize) {
            Some(ConstantRow::Immediate(v)) => format!("{:#x}", v),
            Some(ConstantRow::Parameter(at)) => format!("param[{at:#x}]"),
            Some(row) => format!("{row:?}").to_lowercase(),
            None => format!("c{c}"),
        },
        _ => format!("{o:?}"),
    }
}
