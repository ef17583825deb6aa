//! Terminators, barriers, fences, votes and shuffles.
use super::Selector;
use crate::ir::{Inst, InstData, Opcode, Scope, ShuffleKind, Ty, VoteKind};
use crate::lower::LowerError;
use crate::lower::mir::{Edge, Opd, Term};
use warpscope_exec::ops::{Op, TrapCode};

impl Selector<'_> {
    pub(super) fn select_terminator(&mut self, term: Inst) -> Result<Term, LowerError> {
        let f = self.f;
        let data = f.inst(term);
        Ok(match &data.op {
            Opcode::Jump => Term::Jump(self.edge(&data.targets[0])),
            Opcode::Branch => {
                let (yes, no) = (self.edge(&data.targets[0]), self.edge(&data.targets[1]));
                match self.predicate(data.args[0]) {
                    Opd::Pred(p, negated) => Term::Branch(p, negated, yes, no),
                    _ => unreachable!("`predicate` returns a predicate"),
                }
            }
            Opcode::Switch(_) => {
                // `expand` left only dense tables.
                let mut edges: Vec<Edge> = data.targets.iter().skip(1).map(|t| self.edge(t)).collect();
                edges.push(self.edge(&data.targets[0]));
                Term::Table(self.operand(data.args[0]), edges)
            }
            Opcode::Return => Term::Exit,
            Opcode::Unreachable => Term::Trap(TrapCode::Unreachable as i32),
            other => return Err(self.error(format!("block {} ends in {other:?}", self.block))),
        })
    }

    pub(super) fn select_barrier(&mut self, flags: u8, scope: Scope) {
        let op = if scope == Scope::SubGroup { Op::BarSub } else { Op::Bar };
        self.push(op, Opd::None, &[]).imm = flags as i32;
    }

    pub(super) fn select_fence(&mut self, flags: u8, scope: Scope) {
        let inst = self.push(Op::MemBar, Opd::None, &[]);
        inst.imm = flags as i32;
        inst.imm2 = scope as u32;
    }

    pub(super) fn select_vote(&mut self, data: &InstData, kind: VoteKind) {
        let p = self.predicate(data.args[0]);
        match kind {
            VoteKind::Any | VoteKind::All => {
                let op = if kind == VoteKind::Any { Op::VoteAny } else { Op::VoteAll };
                let d = self.destination(data.results[0]);
                self.push(op, d, &[p]);
            }
            VoteKind::Ballot => {
                // Any used element has made the vector that all elements share.
                let Opd::Reg(vector, _) = self.destination(data.results[0]) else { return };
                self.push(Op::Ballot, Opd::Reg(vector, 0), &[p]);
            }
        }
    }

    pub(super) fn select_shuffle(&mut self, data: &InstData, kind: ShuffleKind) {
        let op = match kind {
            ShuffleKind::Index => Op::ShflIdx,
            ShuffleKind::Xor => Op::ShflXor,
            ShuffleKind::Up => Op::ShflUp,
            ShuffleKind::Down => Op::ShflDown,
        };
        let lane = self.operand(data.args[1]);
        let d = self.destination(data.results[0]);
        match self.f.ty(data.results[0]) {
            Ty::Bool => {
                let p = self.predicate(data.args[0]);
                let (a, b) = (self.temp(1), self.temp(1));
                self.push(Op::PredToReg, a, &[p]);
                self.push(op, b, &[a, lane]);
                self.push(Op::RegToPred, d, &[b]);
            }
            ty => {
                let value = self.operand(data.args[0]);
                for word in 0..ty.registers() as u8 {
                    self.push(op, d.word(word), &[value.word(word), lane]);
                }
            }
        }
    }
}
