//! From allocated machine IR to the program: layout, branch targets, reconvergence points.
use super::allocate::Assignment;
use super::cfg::Cfg;
use super::mir::{File, MFunc, MInst, Opd, Term, VReg};
use warpscope_exec::ops::Op;
use warpscope_exec::program::{Guard, MachineOp, NO_RECONVERGENCE, Operand, SourceLine};

/// The code of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    pub ops: Vec<MachineOp>,
    pub lines: Vec<SourceLine>,
    pub jump_tables: Vec<Vec<u32>>,
}

/// A branch whose target block has no address yet.
enum Fixup {
    Target(usize, usize),
    Table(usize, Vec<usize>),
    Reconvergence(usize, usize),
}

struct Emitter<'a> {
    f: &'a MFunc,
    assignment: &'a Assignment,
    cfg: &'a Cfg,
    code: Code,
    fixups: Vec<Fixup>,
}

/// Emits all blocks.
pub(super) fn emit(f: &MFunc, cfg: &Cfg, assignment: &Assignment) -> Code {
    let mut e = Emitter { f, assignment, cfg, code: Code::default(), fixups: Vec::new() };
    let mut address = vec![0u32; f.blocks.len()];
    for (n, &b) in cfg.order.iter().enumerate() {
        address[b] = e.code.ops.len() as u32;
        for i in &f.blocks[b].insts {
            e.inst(i);
        }
        e.terminator(b, cfg.order.get(n + 1).copied());
    }
    for fixup in e.fixups {
        match fixup {
            Fixup::Target(at, b) => e.code.ops[at].imm = address[b] as i32,
            Fixup::Reconvergence(at, b) => e.code.ops[at].imm2 = address[b],
            Fixup::Table(t, blocks) => e.code.jump_tables[t] = blocks.iter().map(|&b| address[b]).collect(),
        }
    }
    e.code
}

impl Emitter<'_> {
    fn physical(&self, v: VReg) -> u16 {
        self.assignment.physical[v.0 as usize]
    }

    fn operand(&self, o: Opd) -> Operand {
        match o {
            Opd::None => Operand::NONE,
            Opd::Const(c) => Operand::constant(c),
            Opd::Pred(v, negated) => Operand::predicate(self.physical(v) as u8, negated),
            Opd::Reg(v, word) => {
                let r = self.physical(v) + word as u16;
                match self.f.info(v).file {
                    File::Uniform => Operand::uniform(r),
                    _ => Operand::register(r),
                }
            }
        }
    }

    fn push(&mut self, op: MachineOp, line: SourceLine) -> usize {
        self.code.ops.push(op);
        self.code.lines.push(line);
        self.code.ops.len() - 1
    }

    fn inst(&mut self, i: &MInst) {
        if i.pseudo {
            return;
        }
        let op = MachineOp {
            op: i.op,
            guard: self.guard(i.guard),
            flags: i.flags,
            dst: self.operand(i.dst),
            dst2: self.operand(i.dst2),
            src: i.src.map(|s| self.operand(s)),
            imm: i.imm,
            imm2: i.imm2,
            class: i.class,
            steps: i.steps,
        };
        if is_idle_copy(&op) {
            return;
        }
        self.push(op, i.loc);
    }

    fn guard(&self, g: Option<(VReg, bool)>) -> Guard {
        g.map_or(Guard::ALWAYS, |(p, negated)| Guard::new(self.physical(p) as u8, negated))
    }

    fn control(&mut self, op: Op, guard: Guard, src: Operand, line: SourceLine) -> usize {
        let op = MachineOp {
            op,
            guard,
            flags: 0,
            dst: Operand::NONE,
            dst2: Operand::NONE,
            src: [src, Operand::NONE, Operand::NONE, Operand::NONE],
            imm: 0,
            imm2: NO_RECONVERGENCE,
            class: op.class(),
            steps: 0,
        };
        self.push(op, line)
    }

    fn branch(&mut self, guard: Guard, to: usize, line: SourceLine) -> usize {
        let at = self.control(Op::Bra, guard, Operand::NONE, line);
        self.fixups.push(Fixup::Target(at, to));
        at
    }

    fn reconverge(&mut self, at: usize, b: usize) {
        if let Some(d) = self.cfg.post_dominator[b] {
            self.fixups.push(Fixup::Reconvergence(at, d));
        }
    }

    fn terminator(&mut self, b: usize, next: Option<usize>) {
        let block = &self.f.blocks[b];
        let loc = block.loc;
        match &block.term {
            Term::Jump(e) => {
                if next != Some(e.block) {
                    self.branch(Guard::ALWAYS, e.block, loc);
                }
            }
            Term::Branch(p, negated, yes, no) => {
                let (mut yes, mut no, mut negated) = (yes.block, no.block, *negated);
                if next == Some(yes) {
                    std::mem::swap(&mut yes, &mut no);
                    negated = !negated;
                }
                let at = self.branch(self.guard(Some((*p, negated))), yes, loc);
                self.reconverge(at, b);
                if next != Some(no) {
                    self.branch(Guard::ALWAYS, no, loc);
                }
            }
            Term::Table(index, edges) => {
                let index = self.operand(*index);
                let at = self.control(Op::Brx, Guard::ALWAYS, index, loc);
                let table = self.code.jump_tables.len();
                self.code.ops[at].imm = table as i32;
                self.code.jump_tables.push(Vec::new());
                self.fixups.push(Fixup::Table(table, edges.iter().map(|e| e.block).collect()));
                self.reconverge(at, b);
            }
            Term::Exit => {
                self.control(Op::Exit, Guard::ALWAYS, Operand::NONE, loc);
            }
            Term::ExitIf(p, negated, e) => {
                if next == Some(e.block) {
                    let guard = self.guard(Some((*p, *negated)));
                    self.control(Op::Exit, guard, Operand::NONE, loc);
                } else {
                    // One operation for those who stay; nobody waits for the others.
                    let stay = self.guard(Some((*p, !*negated)));
                    self.branch(stay, e.block, loc);
                    self.control(Op::Exit, Guard::ALWAYS, Operand::NONE, loc);
                }
            }
            Term::Trap(code) => {
                let at = self.control(Op::Trap, Guard::ALWAYS, Operand::NONE, loc);
                self.code.ops[at].imm = *code;
                self.code.ops[at].imm2 = 0;
            }
        }
    }
}

/// A copy of a register to itself, left by coalescing.
fn is_idle_copy(op: &MachineOp) -> bool {
    matches!(op.op, Op::Mov32 | Op::Mov64 | Op::PMov) && op.dst == op.src[0]
}
