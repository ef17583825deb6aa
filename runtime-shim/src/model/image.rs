//! Images: formats, geometry, and colours as the elements of a format (OpenCL 3.0 API, 5.3.1).
#![allow(non_upper_case_globals, reason = "the names are the API's")]
use crate::cl::*;

/// What an image is, apart from where its elements lie.
#[derive(Clone, Debug)]
pub struct Image {
    /// Channel order and type.
    pub format: ImageFormat,
    /// `CL_MEM_OBJECT_IMAGE…`.
    pub kind: u32,
    /// Elements in a row.
    pub width: usize,
    /// Rows; 0 where the kind has none, as the queries answer.
    pub height: usize,
    /// Slices; 0 where the kind has none.
    pub depth: usize,
    /// Layers; 0 where the kind is no array.
    pub array_size: usize,
    /// Bytes of an element.
    pub element: usize,
    /// Bytes from row to row.
    pub row_pitch: usize,
    /// Bytes from slice to slice or layer to layer; 0 where the kind has neither.
    pub slice_pitch: usize,
}

impl Image {
    /// Elements along the three axes of an origin: the layers of a 1D array are its second axis.
    pub fn extent(&self) -> [usize; 3] {
        match self.kind {
            CL_MEM_OBJECT_IMAGE1D_ARRAY => [self.width, self.array_size, 1],
            CL_MEM_OBJECT_IMAGE2D_ARRAY => [self.width, self.height, self.array_size],
            _ => [self.width, self.height.max(1), self.depth.max(1)],
        }
    }

    /// Bytes from step to step along the second and the third axis.
    pub fn pitches(&self) -> (usize, usize) {
        let layered = self.kind == CL_MEM_OBJECT_IMAGE1D_ARRAY;
        (if layered { self.slice_pitch } else { self.row_pitch }, self.slice_pitch)
    }

    /// Whether there is more than one slice or layer, so that a slice pitch means something.
    pub fn has_slices(&self) -> bool {
        has_slices(self.kind)
    }

    /// Bytes of all elements and the gaps between them; none where that exceeds the range of a size.
    pub fn bytes(&self) -> Option<usize> {
        let [_, rows, slices] = self.extent();
        match self.kind {
            CL_MEM_OBJECT_IMAGE1D_ARRAY => self.slice_pitch.checked_mul(rows),
            CL_MEM_OBJECT_IMAGE2D_ARRAY | CL_MEM_OBJECT_IMAGE3D => self.slice_pitch.checked_mul(slices),
            _ => self.row_pitch.checked_mul(rows),
        }
    }
}

/// Whether images of this kind have slices or layers.
pub fn has_slices(kind: u32) -> bool {
    matches!(kind, CL_MEM_OBJECT_IMAGE3D | CL_MEM_OBJECT_IMAGE1D_ARRAY | CL_MEM_OBJECT_IMAGE2D_ARRAY)
}

/// Kinds of images.
pub const KINDS: [u32; 6] = [
    CL_MEM_OBJECT_IMAGE1D,
    CL_MEM_OBJECT_IMAGE1D_ARRAY,
    CL_MEM_OBJECT_IMAGE1D_BUFFER,
    CL_MEM_OBJECT_IMAGE2D,
    CL_MEM_OBJECT_IMAGE2D_ARRAY,
    CL_MEM_OBJECT_IMAGE3D,
];

/// Bytes of an element; none where order and type do not go together. "The number of bits per element determined by the
/// image_channel_data_type and image_channel_order must be a power of two."
pub fn element_size(format: ImageFormat) -> Option<usize> {
    let ImageFormat { order, data_type } = format;
    match data_type {
        CL_UNORM_SHORT_565 | CL_UNORM_SHORT_555 => return matches!(order, CL_RGB | CL_RGBx).then_some(2),
        CL_UNORM_INT_101010 => return matches!(order, CL_RGB | CL_RGBx).then_some(4),
        CL_UNORM_INT_101010_2 => return (order == CL_RGBA).then_some(4),
        _ => {}
    }
    let channel = match data_type {
        CL_SNORM_INT8 | CL_UNORM_INT8 | CL_SIGNED_INT8 | CL_UNSIGNED_INT8 => 1,
        CL_SNORM_INT16 | CL_UNORM_INT16 | CL_SIGNED_INT16 | CL_UNSIGNED_INT16 | CL_HALF_FLOAT => 2,
        CL_SIGNED_INT32 | CL_UNSIGNED_INT32 | CL_FLOAT => 4,
        _ => return None,
    };
    let fractional =
        matches!(data_type, CL_SNORM_INT8 | CL_UNORM_INT8 | CL_SNORM_INT16 | CL_UNORM_INT16 | CL_HALF_FLOAT | CL_FLOAT);
    let channels = match order {
        CL_R | CL_A => 1,
        CL_DEPTH if matches!(data_type, CL_UNORM_INT16 | CL_FLOAT) => 1,
        CL_LUMINANCE | CL_INTENSITY if fractional => 1,
        CL_RG | CL_RA | CL_Rx => 2,
        CL_RGBA => 4,
        CL_ARGB | CL_BGRA | CL_ABGR if channel == 1 => 4,
        CL_sRGBA | CL_sBGRA | CL_sRGBx if data_type == CL_UNORM_INT8 => 4,
        _ => return None,
    };
    Some(channel * channels)
}

/// Types of the formats that every order of "Minimum list of supported image formats for reading or writing" has.
const TYPES: [u32; 12] = [
    CL_UNORM_INT8,
    CL_UNORM_INT16,
    CL_SNORM_INT8,
    CL_SNORM_INT16,
    CL_SIGNED_INT8,
    CL_SIGNED_INT16,
    CL_SIGNED_INT32,
    CL_UNSIGNED_INT8,
    CL_UNSIGNED_INT16,
    CL_UNSIGNED_INT32,
    CL_HALF_FLOAT,
    CL_FLOAT,
];
/// Types that "Minimum list of required image formats for reading and writing" leaves out.
const NOT_READ_AND_WRITTEN: [u32; 3] = [CL_UNORM_INT16, CL_SNORM_INT8, CL_SNORM_INT16];

/// Formats of a kind of image that kernels may use in the way the memory flags say (OpenCL 3.0 API, 5.3.2.1: tables 27
/// and 29).
pub fn supported_formats(kind: u32, flags: u64) -> Vec<ImageFormat> {
    let all = |orders: &[u32], types: &[u32]| -> Vec<ImageFormat> {
        let pairs = orders.iter().flat_map(|order| types.iter().map(move |data_type| (*order, *data_type)));
        pairs.map(|(order, data_type)| ImageFormat { order, data_type }).collect()
    };
    if flags & CL_MEM_KERNEL_READ_AND_WRITE != 0 {
        let types: Vec<u32> = TYPES.into_iter().filter(|t| !NOT_READ_AND_WRITTEN.contains(t)).collect();
        return all(&[CL_R, CL_RGBA], &types);
    }
    let mut formats = all(&[CL_R, CL_RG, CL_RGBA], &TYPES);
    formats.extend(all(&[CL_BGRA], &[CL_UNORM_INT8]));
    if matches!(kind, CL_MEM_OBJECT_IMAGE2D | CL_MEM_OBJECT_IMAGE2D_ARRAY) {
        formats.extend(all(&[CL_DEPTH], &[CL_UNORM_INT16, CL_FLOAT]));
    }
    // Writing sRGB is the extension cl_khr_srgb_image_writes.
    if flags & (CL_MEM_WRITE_ONLY | CL_MEM_READ_WRITE) == 0 {
        formats.extend(all(&[CL_sRGBA], &[CL_UNORM_INT8]));
    }
    formats
}

/// Whether a 2D image of one channel order may show the elements of an image of another (OpenCL 3.0 API, table 26).
pub fn compatible_orders(view: u32, of: u32) -> bool {
    let pairs = [(CL_sBGRA, CL_BGRA), (CL_sRGBA, CL_RGBA), (CL_sRGB, CL_RGB), (CL_sRGBx, CL_RGBx)];
    pairs.iter().any(|&(a, b)| (view, of) == (a, b) || (view, of) == (b, a)) || (view, of) == (CL_DEPTH, CL_R)
}

/// A colour, given as the four 32-bit words that `clEnqueueFillImage` takes, as an element of a supported format.
pub fn encode(format: ImageFormat, color: [u32; 4]) -> Vec<u8> {
    let channels: &[usize] = match format.order {
        CL_RG => &[0, 1],
        CL_RGBA | CL_sRGBA => &[0, 1, 2, 3],
        CL_BGRA => &[2, 1, 0, 3],
        _ => &[0],
    };
    let mut bytes = Vec::with_capacity(16);
    for &channel in channels {
        let word = color[channel];
        let mut value = f32::from_bits(word);
        if format.order == CL_sRGBA && channel < 3 {
            value = to_srgb(value);
        }
        match format.data_type {
            CL_UNORM_INT8 => bytes.push(normalised(value, 0.0, 255.0) as u8),
            CL_UNORM_INT16 => bytes.extend((normalised(value, 0.0, 65535.0) as u16).to_le_bytes()),
            CL_SNORM_INT8 => bytes.push(normalised(value, -1.0, 127.0) as i8 as u8),
            CL_SNORM_INT16 => bytes.extend((normalised(value, -1.0, 32767.0) as i16).to_le_bytes()),
            CL_SIGNED_INT8 => bytes.push((word as i32).clamp(-128, 127) as u8),
            CL_SIGNED_INT16 => bytes.extend(((word as i32).clamp(-32768, 32767) as i16).to_le_bytes()),
            CL_UNSIGNED_INT8 => bytes.push(word.min(255) as u8),
            CL_UNSIGNED_INT16 => bytes.extend((word.min(65535) as u16).to_le_bytes()),
            CL_HALF_FLOAT => bytes.extend(half::f16::from_f32(value).to_le_bytes()),
            _ => bytes.extend(word.to_le_bytes()),
        }
    }
    bytes
}

/// A fraction as a normalised integer of range `least * scale` to `scale`, rounded to the nearest, ties to even
/// (OpenCL C 3.0, 8.3.1.1).
fn normalised(value: f32, least: f32, scale: f32) -> f32 {
    // `max` also makes 0 of NaN where the range begins there.
    if value.is_nan() { 0.0 } else { (value.clamp(least, 1.0) * scale).round_ties_even() }
}

/// Linear to sRGB (OpenCL C 3.0, 8.2 "sRGB Images"). The library's own power function: results do not depend on the host.
fn to_srgb(value: f32) -> f32 {
    let c = f64::from(value);
    let curve = if c.is_nan() || c <= 0.0 {
        0.0
    } else if c < 0.003_130_8 {
        12.92 * c
    } else {
        1.055 * libm::pow(c.min(1.0), 1.0 / 2.4) - 0.055
    };
    curve as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(order: u32, data_type: u32) -> ImageFormat {
        ImageFormat { order, data_type }
    }

    #[test]
    fn the_minimum_lists_are_whole() {
        // Table 27 without DEPTH_STENCIL, an extension: 40 formats; table 29: 18.
        assert_eq!(supported_formats(CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_ONLY).len(), 40);
        assert_eq!(supported_formats(CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_WRITE).len(), 39);
        assert_eq!(supported_formats(CL_MEM_OBJECT_IMAGE3D, CL_MEM_READ_ONLY).len(), 38);
        assert_eq!(supported_formats(CL_MEM_OBJECT_IMAGE1D, CL_MEM_KERNEL_READ_AND_WRITE).len(), 18);
        for format in supported_formats(CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_ONLY) {
            let size = element_size(format).expect("every supported format is valid");
            assert!(size.is_power_of_two());
            assert_eq!(encode(format, [0; 4]).len(), size, "{format:?}");
        }
    }

    #[test]
    fn orders_and_types_that_do_not_go_together_are_refused() {
        assert_eq!(element_size(format(CL_RGB, CL_UNORM_SHORT_565)), Some(2));
        assert_eq!(element_size(format(CL_RGB, CL_UNORM_INT8)), None);
        assert_eq!(element_size(format(CL_BGRA, CL_FLOAT)), None);
        assert_eq!(element_size(format(CL_RGBA, CL_UNORM_SHORT_555)), None);
        assert_eq!(element_size(format(CL_INTENSITY, CL_SIGNED_INT8)), None);
        assert_eq!(element_size(format(CL_sRGBA, CL_FLOAT)), None);
        assert_eq!(element_size(format(CL_DEPTH, CL_HALF_FLOAT)), None);
        assert_eq!(element_size(format(CL_RGBA, 7)), None);
    }

    #[test]
    fn colours_are_converted_as_the_specification_says() {
        let color = |c: [f32; 4]| c.map(f32::to_bits);
        let c = color([0.5, 2.0, -1.0, f32::NAN]);
        // 0.5 * 255 = 127.5 and 0.5 * 65535 = 32767.5: ties to even.
        assert_eq!(encode(format(CL_RGBA, CL_UNORM_INT8), c), [128, 255, 0, 0]);
        assert_eq!(encode(format(CL_BGRA, CL_UNORM_INT8), c), [0, 255, 128, 0]);
        assert_eq!(encode(format(CL_R, CL_UNORM_INT16), c), 32768u16.to_le_bytes());
        assert_eq!(encode(format(CL_RGBA, CL_SNORM_INT8), c), [64, 127, 129, 0]);
        assert_eq!(encode(format(CL_R, CL_HALF_FLOAT), c), 0x3800u16.to_le_bytes());
        // The sRGB value of 0.5 is 0.7354 (IEC 61966-2-1), of 0.001 it is 0.01292.
        assert_eq!(encode(format(CL_sRGBA, CL_UNORM_INT8), color([0.5, 0.001, 1.0, 0.5])), [188, 3, 255, 128]);
        let ints = [300u32, -300i32 as u32, 7, 0x7fff_ffff];
        assert_eq!(encode(format(CL_RGBA, CL_SIGNED_INT8), ints), [127, 128, 7, 127]);
        assert_eq!(encode(format(CL_RG, CL_UNSIGNED_INT8), ints), [255, 255]);
        assert_eq!(encode(format(CL_R, CL_SIGNED_INT32), ints), 300u32.to_le_bytes());
    }
}
