//! Plots as PNG. The font is part of the program: a picture looks the same on a computer without any.
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font as register};
use std::error::Error;
use std::sync::Once;

/// Makes the font known under the name that all plots use.
pub(super) fn register_font() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // A font that cannot be read shows as an error of the plot that needs it.
        let _ = register("sans-serif", FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT);
    });
}

/// Draws a picture of `size` pixels. The error is a sentence.
pub(super) fn png(
    size: (u32, u32),
    draw: impl FnOnce(&DrawingArea<BitMapBackend<'_>, Shift>) -> Result<(), Box<dyn Error>>,
) -> Result<Vec<u8>, String> {
    register_font();
    let mut pixels = vec![0u8; size.0 as usize * size.1 as usize * 3];
    let drawn = {
        let area = BitMapBackend::with_buffer(&mut pixels, size).into_drawing_area();
        area.fill(&WHITE)
            .map_err(Into::into)
            .and_then(|()| draw(&area))
            .and_then(|()| area.present().map_err(Into::into))
    };
    drawn.map_err(|e: Box<dyn Error>| format!("the plot cannot be drawn: {e}"))?;
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, size.0, size.1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let written = encoder.write_header().and_then(|mut w| w.write_image_data(&pixels));
    written.map_err(|e| format!("the picture cannot be written: {e}"))?;
    Ok(out)
}
