//! XTEA as published by Needham and Wheeler.
use crate::references::{Inputs, Outputs};

pub fn encipher(mut v: [u32; 2], key: [u32; 4]) -> [u32; 2] {
    let mut sum = 0u32;
    let mix = |v: u32| ((v << 4) ^ (v >> 5)).wrapping_add(v);
    for _ in 0..32 {
        v[0] = v[0].wrapping_add(mix(v[1]) ^ sum.wrapping_add(key[(sum & 3) as usize]));
        sum = sum.wrapping_add(0x9E37_79B9);
        v[1] = v[1].wrapping_add(mix(v[0]) ^ sum.wrapping_add(key[((sum >> 11) & 3) as usize]));
    }
    v
}

pub fn reference(i: &Inputs) -> Outputs {
    let mut text = i.buffer::<u32>(0);
    let key = [0, 4, 8, 12].map(|k| u32::from_le_bytes(i.args[2][k..k + 4].try_into().expect("four bytes")));
    let nonce = i.scalar::<u32>(3);
    for (counter, block) in text.chunks_mut(2).enumerate() {
        let stream = encipher([nonce, counter as u32], key);
        block[0] ^= stream[0];
        block[1] ^= stream[1];
    }
    Outputs::one(1, &text)
}

#[cfg(test)]
mod tests {
    /// A published vector: key 000102…0f, plain text 4142434445464748.
    #[test]
    fn published_vector() {
        let key = [0x00010203, 0x04050607, 0x08090a0b, 0x0c0d0e0f];
        assert_eq!(super::encipher([0x41424344, 0x45464748], key), [0x497df3d0, 0x72612cb5]);
    }
}
