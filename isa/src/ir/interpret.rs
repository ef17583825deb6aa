//! A scalar interpreter of integer functions and addresses without memory: the yardstick for tests of passes.
use super::{Block, Function, Opcode, Value, eval};
use std::collections::HashMap;

/// Runs a function whose entry block's parameters are `args`; gives what it returns and the number of instructions
/// executed. Panics on what it does not know or after a million instructions.
pub fn run(f: &Function, args: &[u64]) -> (Vec<u64>, usize) {
    let mut env: HashMap<Value, u64> = HashMap::new();
    let mut block = Function::ENTRY;
    let mut incoming: Vec<u64> = args.to_vec();
    let mut steps = 0;
    loop {
        assert_eq!(incoming.len(), f.block(block).params.len(), "arguments of {block:?}");
        for (&p, &v) in f.block(block).params.iter().zip(&incoming) {
            env.insert(p, v);
        }
        let mut next: Option<(Block, Vec<u64>)> = None;
        for &i in &f.block(block).insts {
            steps += 1;
            assert!(steps < 1_000_000, "endless");
            let inst = f.inst(i);
            let a: Vec<u64> =
                inst.args.iter().map(|v| *env.get(v).unwrap_or_else(|| panic!("{v:?} undefined"))).collect();
            let bits = inst.results.first().map_or(0, |&r| f.ty(r).bits());
            let from = inst.args.first().map_or(0, |&v| f.ty(v).bits());
            let value = match &inst.op {
                Opcode::Const(c) => *c,
                // Whoever uses it is found out.
                Opcode::Undef => eval::mask(0xA5A5_5A5A_A5A5_5A5A, bits),
                Opcode::IBin(op) => eval::ibin(*op, bits, a[0], a[1]).expect("defined"),
                Opcode::IUn(op) => eval::iun(*op, bits, a[0]),
                Opcode::ICmp(c) => u64::from(eval::icmp(*c, from, a[0], a[1])),
                Opcode::BoolAnd => a[0] & a[1],
                Opcode::BoolOr => a[0] | a[1],
                Opcode::BoolNot => a[0] ^ 1,
                Opcode::Select => {
                    if a[0] != 0 {
                        a[1]
                    } else {
                        a[2]
                    }
                }
                Opcode::Sext => eval::mask(eval::signed(a[0], from) as u64, bits),
                Opcode::Zext | Opcode::Trunc => eval::mask(a[0], bits),
                Opcode::PtrAdd { .. } => {
                    let offset = eval::signed(a[1], f.ty(inst.args[1]).bits());
                    eval::mask(a[0].wrapping_add(offset as u64), bits)
                }
                Opcode::Return => return (a, steps),
                Opcode::Jump | Opcode::Branch => {
                    let k = usize::from(inst.op == Opcode::Branch && a[0] == 0);
                    let t = &inst.targets[k];
                    next = Some((t.block, t.args.iter().map(|v| env[v]).collect()));
                    continue;
                }
                other => panic!("not interpreted: {other:?}"),
            };
            env.insert(inst.results[0], value);
        }
        (block, incoming) = next.expect("terminator");
    }
}
