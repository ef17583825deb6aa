//! The same machine with Rust's own stack.
use crate::references::{Inputs, Outputs};

/// Runs the program; the number of instructions started and the memory.
fn run(code: &[i32], mut memory: [i32; 4], budget: i32) -> (i32, [i32; 4]) {
    let (mut stack, mut pc, mut used) = (Vec::new(), 0usize, 0);
    let mut halted = false;
    loop {
        let limit = if halted { 0 } else { budget };
        used += 1;
        if used > limit {
            return (used, memory);
        }
        let (op, arg) = (code[pc], code[pc + 1]);
        pc += 2;
        let mut pop = || stack.pop().unwrap_or(0i32);
        match op {
            0 => stack.push(arg),
            1 => stack.push(memory[arg as usize]),
            2..=4 | 9 | 10 => {
                let (b, a) = (pop(), pop());
                stack.push(match op {
                    2 => a.wrapping_add(b),
                    3 => a.wrapping_sub(b),
                    4 => a.wrapping_mul(b),
                    9 if b != 0 => a.wrapping_rem(b),
                    9 => a,
                    _ => a ^ b,
                });
            }
            5 => {
                let a = pop();
                stack.extend([a, a]);
            }
            6 => {
                let (b, a) = (pop(), pop());
                stack.extend([b, a]);
            }
            7 => pc = if pop() < 0 { arg as usize } else { pc },
            8 => pc = arg as usize,
            11 => {
                let a = pop();
                stack.push(((a as u32) >> (arg & 31)) as i32);
            }
            12 => memory[arg as usize] = pop(),
            _ => halted = true,
        }
    }
}

pub fn reference(i: &Inputs) -> Outputs {
    let (code, data) = (i.buffer::<i32>(0), i.buffer::<i32>(1));
    let budget = i.scalar::<i32>(3);
    let mut out = Vec::new();
    for memory in data.chunks(4) {
        let (used, memory) = run(&code, [memory[0], memory[1], memory[2], memory[3]], budget);
        out.extend([memory[3], used]);
    }
    Outputs::one(2, &out)
}
