//! A recursive search over rows with a list of the queens placed.
use crate::references::{Inputs, Outputs};

fn count(n: i32, placed: &mut Vec<i32>) -> u32 {
    if placed.len() == n as usize {
        return 1;
    }
    let mut found = 0;
    for column in 0..n {
        let row = placed.len() as i32;
        let attacked = |(r, &c): (usize, &i32)| c == column || (c - column).abs() == row - r as i32;
        if !placed.iter().enumerate().any(attacked) {
            placed.push(column);
            found += count(n, placed);
            placed.pop();
        }
    }
    found
}

pub fn reference(i: &Inputs) -> Outputs {
    let n = i.scalar::<i32>(1);
    let start = |item: i32| {
        let (first, second) = (item % n, item / n);
        if second < n && (first - second).abs() > 1 { count(n, &mut vec![first, second]) } else { 0 }
    };
    Outputs::one(0, &(0..i.global(0) as i32).map(start).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    /// The known numbers of solutions (OEIS A000170).
    #[test]
    fn known_totals() {
        assert_eq!([4, 5, 6, 7, 8].map(|n| super::count(n, &mut Vec::new())), [2, 10, 4, 40, 92]);
    }
}
