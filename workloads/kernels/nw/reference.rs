//! The whole table, row by row.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    const LEN: usize = 64;
    let (first, second) = (i.buffer::<u8>(0), i.buffer::<u8>(1));
    let (matching, gap) = (i.scalar::<i32>(3), i.scalar::<i32>(4));
    let mut scores = Vec::new();
    for (a, b) in first.chunks(LEN).zip(second.chunks(LEN)) {
        let mut above: Vec<i32> = (0..=LEN as i32).map(|j| -gap * j).collect();
        for (r, x) in a.iter().enumerate() {
            let mut row = vec![-gap * (r as i32 + 1)];
            for (c, y) in b.iter().enumerate() {
                let diagonal = above[c] + if x == y { matching } else { -matching };
                row.push(diagonal.max(above[c + 1] - gap).max(row[c] - gap));
            }
            above = row;
        }
        scores.push(above[LEN]);
    }
    Outputs::one(2, &scores)
}
