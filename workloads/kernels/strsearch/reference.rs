//! Length of the match at each position.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    let (text, word) = (i.buffer::<u8>(0), i.buffer::<u8>(1));
    let (mut count, mut found) = (i.buffer::<u32>(2), i.buffer::<u8>(3));
    let letters = i.size(5);
    for (p, window) in text[..i.size(4)].windows(letters).enumerate() {
        let same = window.iter().zip(&word).take_while(|(a, b)| a == b).count();
        found[p] = same as u8;
        count[0] += (same == letters) as u32;
    }
    Outputs::one(2, &count).and(3, &found)
}
