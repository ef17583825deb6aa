//! Text form of the IR.
use super::{Block, Function, Inst, Module, Opcode, Target, UnrollHint, Value, flag};
use std::fmt::Write;

/// The text of a module.
pub fn print_module(m: &Module) -> String {
    let mut s = String::new();
    for (i, g) in m.globals.iter().enumerate() {
        let _ = writeln!(s, "global {i} {:?} {:?}: {} bytes, align {}", g.name, g.space, g.init.len(), g.align);
    }
    for k in &m.kernels {
        let _ = writeln!(s, "kernel {} = function {}", k.name, k.function);
    }
    for (i, f) in m.functions.iter().enumerate() {
        let _ = write!(s, "\nfunction {i} {}", print_function(f));
    }
    s
}

/// The text of a function.
pub fn print_function(f: &Function) -> String {
    let mut s = String::new();
    let _ = writeln!(s, "{:?} -> {:?} {{", f.name, f.results);
    for b in f.block_ids() {
        if f.block(b).insts.is_empty() {
            continue;
        }
        print_block(f, b, &mut s);
    }
    s.push_str("}\n");
    s
}

fn print_block(f: &Function, b: Block, s: &mut String) {
    let params: Vec<String> = f.block(b).params.iter().map(|&v| typed(f, v)).collect();
    let _ = write!(s, "b{}({}):", b.0, params.join(", "));
    if f.block(b).unroll != UnrollHint::None {
        let _ = write!(s, " // unroll: {:?}", f.block(b).unroll);
    }
    s.push('\n');
    for &i in &f.block(b).insts {
        print_inst(f, i, s);
    }
}

fn print_inst(f: &Function, i: Inst, s: &mut String) {
    let d = f.inst(i);
    s.push_str("    ");
    if !d.results.is_empty() {
        let results: Vec<String> = d.results.iter().map(|&v| typed(f, v)).collect();
        let _ = write!(s, "{} = ", results.join(", "));
    }
    match &d.op {
        Opcode::Const(bits) => {
            let _ = write!(s, "const {bits:#x}");
        }
        op => {
            let _ = write!(s, "{op:?}");
        }
    }
    for (mask, name) in [(flag::NSW, "nsw"), (flag::NUW, "nuw"), (flag::CONTRACT, "contract")] {
        if d.flags & mask != 0 {
            let _ = write!(s, " {name}");
        }
    }
    for (n, a) in d.args.iter().enumerate() {
        let _ = write!(s, "{}v{}", if n == 0 { " " } else { ", " }, a.0);
    }
    for t in &d.targets {
        s.push(' ');
        print_target(t, s);
    }
    if d.loc.line != 0 {
        let _ = write!(s, " // line {}", d.loc.line);
    }
    s.push('\n');
}

fn print_target(t: &Target, s: &mut String) {
    let args: Vec<String> = t.args.iter().map(|v| format!("v{}", v.0)).collect();
    let _ = write!(s, "b{}({})", t.block.0, args.join(", "));
}

fn typed(f: &Function, v: Value) -> String {
    format!("v{}: {:?}", v.0, f.ty(v))
}
