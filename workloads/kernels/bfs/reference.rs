//! Marks the neighbours of the vertices whose depth is `level`.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    let (rows, edges) = (i.buffer::<i32>(0), i.buffer::<i32>(1));
    let (before, mut more) = (i.buffer::<i32>(2), i.buffer::<i32>(3));
    let (level, n) = (i.scalar::<i32>(4), i.size(5));
    let mut depth = before.clone();
    for v in (0..n).filter(|&v| before[v] == level) {
        for &to in &edges[rows[v] as usize..rows[v + 1] as usize] {
            if depth[to as usize] == -1 {
                depth[to as usize] = level + 1;
                more[0] = 1;
            }
        }
    }
    Outputs::one(2, &depth).and(3, &more)
}
