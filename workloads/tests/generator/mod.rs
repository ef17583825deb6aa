//! Random OpenCL C kernels without undefined behaviour, for differential tests.
//!
//! Every kernel has the signature [`SIGNATURE`] and stores a digest of all its variables in `out[get_global_id(0)]`.
//! Signed arithmetic that could overflow goes through unsigned types, or stays among small values; divisors are never
//! zero; indices are masked; barriers stand where control flow is uniform.
mod shape;

pub use shape::Rng;
use shape::Type;
use std::fmt::Write;

/// Parameters of every kernel.
pub const SIGNATURE: &str = "__global ulong *out, __global const uint *in, __constant int *table, int pi, uint pu, \
                             long pl, ulong pm, short ps, uchar pc, float pf, int4 pv";
/// Words behind `in` and `table`.
pub const INPUT_WORDS: usize = 64;

const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

/// A generator of one program.
pub struct Generator {
    rng: Rng,
    text: String,
    indent: usize,
    variables: Vec<(String, Type)>,
    /// Loop counters, small and not to be assigned.
    counters: Vec<String>,
    names: usize,
    loops: u32,
    /// Statements of a kernel.
    statements: usize,
    /// Statements left for the kernel.
    left: usize,
    /// All work-items of a group are here.
    uniform: bool,
    /// Inside a loop body where `break` and `continue` are allowed.
    may_leave: bool,
}

/// Source of a program with kernels `k0`, `k1` … of about so many statements, for a seed.
pub fn program(seed: u64, kernels: usize, statements: usize) -> String {
    let mut g = Generator {
        rng: Rng(seed),
        text: String::new(),
        indent: 1,
        variables: Vec::new(),
        counters: Vec::new(),
        names: 0,
        loops: 0,
        statements,
        left: 0,
        uniform: true,
        may_leave: false,
    };
    g.text.push_str("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#pragma OPENCL FP_CONTRACT OFF\n");
    g.text.push_str("typedef struct { char a; int b; short c; ulong d; uchar2 e; } S;\n");
    g.text.push_str("__constant uint primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};\n");
    g.text.push_str("ulong mix(ulong h, ulong v) { h ^= v; h *= 0x9E3779B97F4A7C15UL; return h ^ h >> 29; }\n");
    g.text.push_str("uint helper(uint a, short b, S *s) { s->b ^= (int)a; s->c = b; return a * 3u + (uint)s->e.y; }\n");
    for k in 0..kernels {
        g.kernel(k);
    }
    g.text
}

impl Generator {
    fn kernel(&mut self, number: usize) {
        let _ = writeln!(self.text, "__kernel void k{number}({SIGNATURE}) {{");
        self.text.push_str("  __local uint shared[64];\n  uint gid = get_global_id(0), lid = get_local_id(0);\n");
        self.text.push_str("  uint size = get_local_size(0);\n  uint arr[8]; S s; ushort nar[6];\n");
        self.text.push_str("  for (int i = 0; i < 8; i++) arr[i] = gid * 7u + (uint)i;\n");
        self.text.push_str("  for (int i = 0; i < 6; i++) nar[i] = (ushort)(i * 1000 + pi);\n");
        self.text.push_str("  s.a = 1; s.b = pi; s.c = 3; s.d = pm; s.e = (uchar2)(4, 5);\n");
        self.text
            .push_str("  shared[lid] = lid * 3u; barrier(CLK_LOCAL_MEM_FENCE);\n  float fl = pf;\n  double db = pf;\n");
        self.variables.clear();
        self.counters.clear();
        (self.loops, self.uniform, self.may_leave, self.left) = (0, true, false, self.statements);
        for _ in 0..6 {
            self.declare();
        }
        while self.left > 0 {
            self.statement(0);
        }
        self.text.push_str("  ulong h = 1;\n");
        for (name, ty) in self.variables.clone() {
            for c in &COMPONENTS[..ty.lanes as usize] {
                let part = if ty.lanes == 1 { name.clone() } else { format!("{name}.{c}") };
                let _ = writeln!(self.text, "  h = mix(h, (ulong){part});");
            }
        }
        self.text.push_str("  for (int i = 0; i < 8; i++) h = mix(h, arr[i]);\n");
        self.text.push_str("  for (int i = 0; i < 6; i++) h = mix(h, nar[i]);\n");
        self.text
            .push_str("  h = mix(h, (ulong)s.a); h = mix(h, (ulong)s.b); h = mix(h, (ulong)s.c); h = mix(h, s.d);\n");
        self.text
            .push_str("  h = mix(h, s.e.x); h = mix(h, s.e.y); h = mix(h, as_uint(fl)); h = mix(h, as_ulong(db));\n");
        self.text.push_str("  barrier(CLK_LOCAL_MEM_FENCE);\n  out[gid] = mix(h, shared[lid]);\n}\n");
    }

    fn line(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.text.push_str("  ");
        }
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn any_type(&mut self) -> Type {
        let lanes = if self.rng.chance(25) { *self.rng.pick(&[2, 4]) } else { 1 };
        Type { size: *self.rng.pick(&[0, 1, 2, 2, 2, 3, 3]), signed: self.rng.chance(50), lanes }
    }

    fn scalar_type(&mut self) -> Type {
        self.any_type().scalar()
    }

    fn declare(&mut self) {
        let ty = self.any_type();
        let value = self.expression(ty, 2);
        let name = self.name("v");
        self.line(&format!("{} {name} = {value};", ty.name()));
        self.variables.push((name, ty));
    }

    fn statement(&mut self, depth: u32) {
        self.left = self.left.saturating_sub(1);
        match self.rng.below(24) {
            0..=6 => self.assign(),
            7 | 8 if depth == 0 => self.declare(),
            9 | 10 if depth < 3 => self.branch(depth),
            11 | 12 if depth < 3 && self.loops < 2 => self.counted_loop(depth),
            13 if depth < 3 && self.loops < 2 => self.while_loop(depth),
            14 if depth < 3 => self.switch(depth),
            15 if self.uniform => self.exchange(),
            16 => {
                let (i, v) = (self.index(), self.expression(Type::UINT, 2));
                self.line(&format!("arr[{i} & 7] {} {v};", ["=", "+=", "^="][depth as usize % 3]));
            }
            17 => {
                let (i, v) = (self.index(), self.expression(Type { size: 1, signed: false, lanes: 1 }, 2));
                self.line(&format!("nar[({i} & 0x7fff) % 6] = {v};"));
            }
            18 => self.member(),
            19 => self.floating(),
            20 => {
                let v = self.expression(Type::UINT, 1);
                let w = self.expression(Type { size: 1, signed: true, lanes: 1 }, 1);
                self.line(&format!("arr[1] ^= helper({v}, {w}, &s);"));
            }
            21 if self.may_leave && depth > 0 => {
                let c = self.condition(1);
                let word = if self.rng.chance(50) { "break" } else { "continue" };
                self.line(&format!("if ({c}) {word};"));
            }
            22 => {
                // A component of a vector.
                let vectors: Vec<(String, Type)> = self.variables.iter().filter(|v| v.1.lanes > 1).cloned().collect();
                if !vectors.is_empty() {
                    let (name, ty) = self.rng.pick(&vectors).clone();
                    let v = self.expression(ty.scalar(), 2);
                    let c = COMPONENTS[self.rng.below(ty.lanes as usize)];
                    self.line(&format!("{name}.{c} = {v};"));
                }
            }
            _ => self.assign(),
        }
    }

    fn assign(&mut self) {
        let (name, ty) = self.rng.pick(&self.variables).clone();
        let v = self.expression(ty, 3);
        self.line(&format!("{name} = {v};"));
    }

    fn member(&mut self) {
        let (member, ty) = *self.rng.pick(&[
            ("s.a", Type { size: 0, signed: true, lanes: 1 }),
            ("s.b", Type::INT),
            ("s.c", Type { size: 1, signed: true, lanes: 1 }),
            ("s.d", Type::ULONG),
            ("s.e", Type { size: 0, signed: false, lanes: 2 }),
        ]);
        let v = self.expression(ty, 2);
        self.line(&format!("{member} = {v};"));
    }

    /// Arithmetic on floats that stays finite and exact enough to agree everywhere.
    fn floating(&mut self) {
        let (a, b) = (self.expression(Type::INT, 2), self.expression(Type::UINT, 1));
        let text = match self.rng.below(6) {
            0 => format!("fl = (float)({a} & 0xffff) * 0.25f - fl * 0.5f;"),
            1 => format!("fl = fl > (float)({b} & 255u) ? fl - 1.0f : fabs(fl) * 0.125f;"),
            2 => format!("db = (double)({a}) * 0.5 - (double)fl;"),
            3 => "arr[2] += (uint)convert_uchar_sat(fl) + (uint)(fl < 3.0f);".to_string(),
            4 => format!("fl = fmin(fmax(fl, -8.0f), (float)({b} & 31u)); db = -db;"),
            _ => format!("arr[3] ^= convert_uint_sat_rtz(db) + as_uint((float)(short)({a}));"),
        };
        self.line(&text);
        self.line("if (!(fabs(fl) < 1e6f)) fl = 1.0f;");
        self.line("if (!(fabs(db) < 1e12)) db = 1.0;");
    }

    fn block(&mut self, depth: u32, most: usize) {
        self.indent += 1;
        for _ in 0..1 + self.rng.below(most) {
            self.statement(depth + 1);
        }
        self.indent -= 1;
    }

    fn branch(&mut self, depth: u32) {
        let c = self.condition(2);
        let uniform = std::mem::replace(&mut self.uniform, false);
        self.line(&format!("if ({c}) {{"));
        self.block(depth, 4);
        if self.rng.chance(50) {
            self.line("} else {");
            self.block(depth, 4);
        }
        self.line("}");
        self.uniform = uniform;
    }

    fn counted_loop(&mut self, depth: u32) {
        let i = self.name("i");
        // Constant, uniform and divergent bounds.
        let (bound, same) = match self.rng.below(5) {
            0 => ("5".to_string(), true),
            1 => ("19".to_string(), true),
            2 => ("(pi & 15)".to_string(), true),
            3 => ("(int)(pu % 11u)".to_string(), true),
            _ => ("(int)(gid & 7u)".to_string(), false),
        };
        let head = match self.rng.below(6) {
            0 => format!("for (int {i} = 0; {i} < {bound}; {i}++) {{"),
            1 => format!("for (int {i} = 0; {i} <= {bound}; {i} += 2) {{"),
            2 => format!("for (int {i} = {bound}; {i} > 0; {i}--) {{"),
            3 => format!("for (uint {i} = 1u; {i} < (uint){bound}; {i} += 3u) {{"),
            4 => format!("for (long {i} = 0; {i} < (long){bound}; {i}++) {{"),
            _ => format!("for (uchar {i} = 0; {i} != (uchar){bound}; {i}++) {{"),
        };
        self.line(&head);
        let outer = (self.uniform, self.may_leave);
        self.uniform &= same;
        self.may_leave = !self.uniform;
        self.loops += 1;
        self.counters.push(i);
        self.block(depth, 5);
        self.counters.pop();
        self.loops -= 1;
        (self.uniform, self.may_leave) = outer;
        self.line("}");
    }

    fn while_loop(&mut self, depth: u32) {
        let n = self.name("n");
        let start = self.expression(Type::UINT, 1);
        self.line(&format!("uint {n} = {start};"));
        let outer = (self.uniform, self.may_leave);
        (self.uniform, self.may_leave) = (false, true);
        self.loops += 1;
        let (head, tail) = if self.rng.chance(50) {
            (format!("while (({n} & 31u) != 0u) {{"), "}".to_string())
        } else {
            ("do {".to_string(), format!("}} while ({n} % 13u > 2u);"))
        };
        self.line(&head);
        self.line(&format!("  {n} = {n} >> 1 & 0x7fu;"));
        self.counters.push(n);
        self.block(depth, 4);
        self.counters.pop();
        self.line(&tail);
        self.loops -= 1;
        (self.uniform, self.may_leave) = outer;
    }

    fn switch(&mut self, depth: u32) {
        let outer = (self.uniform, self.may_leave);
        (self.uniform, self.may_leave) = (false, false);
        let ty = self.scalar_type();
        let v = self.expression(ty, 2);
        let dense = self.rng.chance(50);
        self.line(&format!("switch (({}){v} & ({})15) {{", ty.name(), ty.name()));
        for n in 0..2 + self.rng.below(6) {
            let case = if dense { n } else { n * 3 % 16 };
            self.line(&format!("case {case}: {{"));
            self.block(depth, 2);
            self.line("}");
            if self.rng.chance(75) {
                self.line("  break;");
            }
        }
        self.line("default: {");
        self.block(depth, 2);
        self.line("} }");
        (self.uniform, self.may_leave) = outer;
    }

    /// Work-items of a group exchange values through local memory.
    fn exchange(&mut self) {
        let v = self.expression(Type::UINT, 2);
        let shift = 1 + self.rng.below(20);
        let target = *self.rng.pick(&["arr[0]", "arr[5]", "s.d"]);
        self.line("barrier(CLK_LOCAL_MEM_FENCE);");
        self.line(&format!("shared[lid] = {v};"));
        if self.rng.chance(40) {
            self.line("barrier(CLK_LOCAL_MEM_FENCE);");
            let w = self.expression(Type::UINT, 1);
            let op = *self.rng.pick(&["atomic_add", "atomic_xor", "atomic_max", "atomic_and", "atomic_min"]);
            self.line(&format!("{op}(&shared[(lid * 5u + 1u) % size], {w} | 1u);"));
            // Only one kind of update between barriers, so that the order does not matter.
        }
        self.line("barrier(CLK_LOCAL_MEM_FENCE);");
        self.line(&format!("{target} += shared[(lid + {shift}u) % size];"));
    }

    /// An index of any size, to be masked.
    fn index(&mut self) -> String {
        if self.rng.chance(40) { self.small() } else { format!("(int){}", self.expression(Type::UINT, 1)) }
    }

    /// A small non-negative `int` computed with signed arithmetic that cannot overflow.
    fn small(&mut self) -> String {
        let leaf = match self.counters.last() {
            Some(c) if self.rng.chance(60) => format!("((int){c} & 127)"),
            _ => (*self.rng.pick(&["(int)lid", "(int)(gid & 63u)", "(pi & 31)", "(int)(pu & 15u)"])).to_string(),
        };
        let k = 1 + self.rng.below(9);
        match self.rng.below(5) {
            0 => leaf,
            1 => format!("({leaf} + {k})"),
            2 => format!("({leaf} * {k} + 3)"),
            3 => format!("(({leaf} + 1) * ((int)size + {k}) + {leaf})"),
            _ => format!("({leaf} + (int)lid * {k} - {leaf} % 3)"),
        }
    }

    fn condition(&mut self, depth: u32) -> String {
        let ty = self.scalar_type();
        let (a, b) = (self.expression(ty, depth), self.expression(ty, depth.saturating_sub(1)));
        match self.rng.below(10) {
            0 if depth > 0 => format!("({} && {})", self.condition(depth - 1), self.condition(depth - 1)),
            1 if depth > 0 => format!("({} || {})", self.condition(depth - 1), self.condition(depth - 1)),
            2 if depth > 0 => format!("!{}", self.condition(depth - 1)),
            3 => format!("(({a} & ({})5) != 0)", ty.name()),
            4 => format!("(fl < (float)({a}))"),
            n => format!("({a} {} {b})", ["<", "<=", ">", ">=", "==", "!="][n % 6]),
        }
    }

    fn constant(&mut self, ty: Type) -> String {
        let bits = ty.bits();
        let v = match self.rng.below(6) {
            0 => self.rng.next() & 15,
            1 => u64::MAX,
            2 => 1 << (bits - 1),
            3 => (1 << (bits - 1)) - 1,
            4 => 1 << self.rng.below(bits as usize),
            _ => self.rng.next(),
        };
        let masked = if bits == 64 { v } else { v & ((1 << bits) - 1) };
        format!("({})0x{masked:x}UL", ty.scalar().name())
    }

    fn leaf(&mut self, ty: Type) -> String {
        let name = ty.name();
        if ty.lanes > 1 {
            let same: Vec<String> = self.variables.iter().filter(|v| v.1 == ty).map(|v| v.0.clone()).collect();
            if !same.is_empty() && self.rng.chance(60) {
                return self.rng.pick(&same).clone();
            }
            if ty.lanes == 4 && self.rng.chance(30) {
                return format!("convert_{name}(pv)");
            }
            let parts: Vec<String> = (0..ty.lanes).map(|_| self.leaf(ty.scalar())).collect();
            return format!("(({name})({}))", parts.join(", "));
        }
        match self.rng.below(12) {
            0 | 1 => format!("({})", self.constant(ty)),
            2 => format!("({name})in[{} & {}]", self.index(), INPUT_WORDS - 1),
            3 => format!("({name})arr[{}]", self.rng.below(8)),
            4 => format!("({name}){}", self.rng.pick(&["pi", "pu", "pl", "pm", "ps", "pc", "pv.y", "pv.w"])),
            5 => format!("({name}){}", self.rng.pick(&["gid", "lid", "get_global_size(0)", "get_group_id(0)", "size"])),
            6 => format!("({name})table[{} & {}]", self.index(), INPUT_WORDS - 1),
            7 => format!(
                "({name}){}",
                self.rng.pick(&["s.a", "s.b", "s.c", "s.d", "s.e.x", "nar[3]", "primes[gid & 7]"])
            ),
            8 if !self.counters.is_empty() => format!("({name}){}", self.rng.pick(&self.counters)),
            _ if self.variables.is_empty() => format!("({name})pu"),
            _ => {
                let (v, t) = self.rng.pick(&self.variables).clone();
                let part = if t.lanes > 1 {
                    format!(".{}", COMPONENTS[self.rng.below(t.lanes as usize)])
                } else {
                    String::new()
                };
                format!("({name}){v}{part}")
            }
        }
    }

    fn expression(&mut self, ty: Type, depth: u32) -> String {
        if depth == 0 || self.rng.chance(10) {
            return self.leaf(ty);
        }
        let (name, d) = (ty.name(), depth - 1);
        let u = ty.arithmetic();
        let vector = ty.lanes > 1;
        let cast = |t: Type, e: &str| {
            if t.lanes > 1 { format!("as_{}({e})", t.name()) } else { format!("({})({e})", t.name()) }
        };
        match self.rng.below(20) {
            0..=3 => {
                let (a, b) = (self.expression(ty, d), self.expression(ty, d));
                let op = *self.rng.pick(&["+", "-", "*"]);
                let sum = format!("{} {op} {}", cast(u, &a), cast(u, &b));
                format!("({})", cast(ty, &sum))
            }
            4 | 5 => {
                let (a, b) = (self.expression(ty, d), self.expression(ty, d));
                let op = *self.rng.pick(&["&", "|", "^"]);
                format!("(({name})({a} {op} {b}))")
            }
            6 | 7 => self.shift(ty, d),
            8 => self.division(ty, d),
            9 => {
                let (a, b) = (self.expression(ty, d), self.expression(ty, d));
                if vector {
                    let (x, y) = (self.expression(ty, d), self.expression(ty, d));
                    return format!("select({a}, {b}, {x} < {y})");
                }
                let c = self.condition(d);
                format!("(({name})({c} ? {a} : {b}))")
            }
            10 => {
                let other = Type { size: self.rng.below(4) as u8, signed: self.rng.chance(50), ..ty };
                let sat = if self.rng.chance(40) { "_sat" } else { "" };
                format!("convert_{name}{sat}({})", self.expression(other, d))
            }
            11..=14 => self.builtin(ty, d),
            15 => {
                let a = self.expression(ty, d);
                if self.rng.chance(50) {
                    format!("(({name})~{a})")
                } else {
                    format!("({})", cast(ty, &format!("-{}", cast(u, &a))))
                }
            }
            16 if vector => {
                let a = self.expression(ty, d);
                let parts: String = (0..ty.lanes).map(|_| COMPONENTS[self.rng.below(ty.lanes as usize)]).collect();
                format!("({a}).{parts}")
            }
            16 | 17 if !vector => {
                if self.rng.chance(50) {
                    let c = self.condition(d);
                    return format!("(({name}){c})");
                }
                format!("(({name}){})", self.small())
            }
            18 => self.reinterpret(ty, d),
            _ => self.leaf(ty),
        }
    }

    fn shift(&mut self, ty: Type, d: u32) -> String {
        let name = ty.name();
        let a = self.expression(ty, d);
        if ty.lanes > 1 {
            let b = self.expression(ty, d);
            return if self.rng.chance(50) {
                let u = ty.unsigned().name();
                format!("as_{name}(as_{u}({a}) << as_{u}({b}))")
            } else {
                format!("({a} >> {b})")
            };
        }
        let count = if self.rng.chance(60) {
            self.rng.below(2 * ty.bits() as usize).to_string()
        } else {
            format!("({})", self.expression(Type::INT, d))
        };
        match self.rng.below(3) {
            0 => format!("(({name})(({}){a} << {count}))", ty.arithmetic().name()),
            _ => format!("(({name})({a} >> {count}))"),
        }
    }

    fn division(&mut self, ty: Type, d: u32) -> String {
        let name = ty.name();
        let a = self.expression(ty, d);
        let op = *self.rng.pick(&["/", "%"]);
        if ty.lanes > 1 {
            let b = self.expression(ty, d);
            // Neither zero nor minus one.
            return format!("({a} {op} (({b} & ({name})0x7d) | ({name})2))");
        }
        let constants: &[i64] = if ty.signed {
            &[1, 2, 3, 5, 7, 10, 16, 64, 100, -3, -7, -16, 127]
        } else {
            &[1, 2, 3, 5, 6, 7, 10, 11, 25, 64, 127, 255]
        };
        if self.rng.chance(60) {
            let wide = [641, 65537, 1_000_000_007, 0x7fff_ffff, 0xffff_fffb, 0x8000_0001];
            let k = if ty.size == 3 || ty.size == 2 && !ty.signed { *self.rng.pick(&wide) } else { 119 };
            let k = if self.rng.chance(70) { *self.rng.pick(constants) } else { k };
            return format!("(({name})({a} {op} ({name}){k}))");
        }
        let b = self.expression(ty, d);
        format!("(({name})({a} {op} ({name})(({b} & ({name})0x7d) | ({name})2)))")
    }

    fn builtin(&mut self, ty: Type, d: u32) -> String {
        let name = ty.name();
        let (a, b) = (self.expression(ty, d), self.expression(ty, d));
        match self.rng.below(16) {
            0 => format!("min({a}, {b})"),
            1 => format!("max({a}, {b})"),
            2 => format!("add_sat({a}, {b})"),
            3 => format!("sub_sat({a}, {b})"),
            4 => format!("mul_hi({a}, {b})"),
            5 => format!("rotate({a}, {b})"),
            6 => format!("clz({a})"),
            7 => format!("popcount({a})"),
            8 => format!("hadd({a}, {b})"),
            9 => format!("rhadd({a}, {b})"),
            10 => {
                let c = self.expression(ty, d);
                format!("bitselect({a}, {b}, {c})")
            }
            11 => format!("convert_{name}(abs_diff({a}, {b}))"),
            12 => {
                let c = self.expression(ty, d);
                format!("mad_hi({a}, {b}, {c})")
            }
            13 => format!("clamp({a}, ({name})3, ({name})100)"),
            14 if ty.size == 2 => {
                let mask = format!("({name})0x1ff");
                format!("mul24({a} & {mask}, {b} & {mask})")
            }
            15 if ty.size > 0 => {
                let half = Type { size: ty.size - 1, ..ty };
                let (high, low) = (self.expression(half, d), self.expression(half.unsigned(), d));
                format!("upsample({high}, {low})")
            }
            _ => format!("convert_{name}(abs({}))", self.expression(ty.signed(), d)),
        }
    }

    /// The same bits seen as another shape.
    fn reinterpret(&mut self, ty: Type, d: u32) -> String {
        let bytes = (ty.lanes as u32) << ty.size;
        let shapes: Vec<Type> = (0..4u8)
            .flat_map(|size| [1u8, 2, 4].map(|lanes| Type { size, signed: false, lanes }))
            .filter(|t| (t.lanes as u32) << t.size == bytes)
            .collect();
        let from = *self.rng.pick(&shapes);
        format!("as_{}({})", ty.name(), self.expression(from, d))
    }
}
