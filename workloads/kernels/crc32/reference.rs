//! CRC-32 bit by bit.
use crate::references::{Inputs, Outputs};

pub fn crc(data: &[u8]) -> u32 {
    !data.iter().fold(!0u32, |crc, &byte| {
        (0..8).fold(crc ^ byte as u32, |c, _| if c & 1 == 1 { (c >> 1) ^ 0xEDB8_8320 } else { c >> 1 })
    })
}

pub fn reference(i: &Inputs) -> Outputs {
    let data = i.buffer::<u8>(0);
    Outputs::one(1, &data.chunks(i.size(2)).map(crc).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    /// The check value of the catalogue of CRCs.
    #[test]
    fn check_value() {
        assert_eq!(super::crc(b"123456789"), 0xCBF4_3926);
    }
}
