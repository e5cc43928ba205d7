//! A picture that looks a little like a panoramic radiograph: two rows of teeth, with the grain of film.

use super::pdf::Image;
use crate::invent::Dice;

/// A picture of at least so many pixels, twice as wide as high.
pub(super) fn radiograph(seed: u64, pixels: u64) -> Result<Image, String> {
    let height = u32::try_from((pixels / 2).isqrt() + 1).map_err(|error| error.to_string())?;
    let width = height * 2;
    let mut grain = vec![0_u8; (width as usize) * (height as usize)];
    Dice::new(seed, "film", 0).fill(&mut grain);
    for (row, line) in (0..height).zip(grain.chunks_exact_mut(width as usize)) {
        for (column, pixel) in (0..width).zip(line.iter_mut()) {
            *pixel = light(column, row, width, height) + (*pixel & 0x3f);
        }
    }
    Ok(Image { gray: grain, width, height })
}

/// The brightness of the film at a place, 0 to 190. The place is in thousandths of the picture's height and width.
fn light(column: u32, row: u32, width: u32, height: u32) -> u8 {
    let x = i64::from(column) * 2000 / i64::from(width) - 1000;
    let y = i64::from(row) * 1000 / i64::from(height);
    // The bite is a curve that rises to the sides.
    let bite = 560 - x * x / 9000;
    let from_bite = y - bite;
    let tooth = ((x + 1000) % 125 - 62).abs();
    let in_row = x.abs() < 880;
    let depth = from_bite.abs();
    let crown = in_row && (12..110).contains(&depth) && tooth < 50;
    let root = in_row && (110..260).contains(&depth) && tooth < 50 - (depth - 110) / 5;
    let bone = depth < 340 && x.abs() < 960;
    if crown {
        185
    } else if root {
        140
    } else if bone {
        88
    } else {
        30
    }
}
