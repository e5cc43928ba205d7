//! A signature as a scanner sees it: strokes of a pen on grainy paper.
//!
//! Only whole numbers are used, because sines differ in the last digit between platforms and the bytes must not.

use super::pdf::Image;
use crate::invent::Dice;

const WIDTH: u32 = 280;
const HEIGHT: u32 = 90;
/// Steps along one stroke.
const STEPS: i32 = 160;

/// The signature of the person with this name: always the same strokes.
pub(super) fn scribble(name: &str) -> Image {
    let number = name.chars().fold(7_u64, |sum, letter| sum.wrapping_mul(131) ^ u64::from(u32::from(letter)));
    let mut dice = Dice::new(number, "scribble", 0);
    let mut gray = vec![0_u8; (WIDTH * HEIGHT) as usize];
    dice.fill(&mut gray);
    for pixel in &mut gray {
        *pixel = 240 + (*pixel & 0x0f);
    }
    let mut from = (20, 60);
    let strokes = dice.between(7, 10);
    for stroke in 0..strokes {
        let forward = i32::try_from(stroke * 220 / strokes).unwrap_or(0) + 40;
        let mut place = |low: u32, high: u32| i32::try_from(dice.between(low, high)).unwrap_or(0);
        let bend = (forward - 30 + place(0, 40), place(2, 84));
        let to = (forward - 4 + place(0, 24), place(30, 72));
        curve(&mut gray, from, bend, to);
        from = to;
    }
    Image { gray, width: WIDTH, height: HEIGHT }
}

/// A quadratic Bézier curve with a round nib.
fn curve(gray: &mut [u8], from: (i32, i32), bend: (i32, i32), to: (i32, i32)) {
    for step in 0..=STEPS {
        let rest = STEPS - step;
        let along =
            |a: i32, b: i32, c: i32| (a * rest * rest + 2 * b * rest * step + c * step * step) / (STEPS * STEPS);
        let (x, y) = (along(from.0, bend.0, to.0), along(from.1, bend.1, to.1));
        for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1), (-1, 0), (0, -1)] {
            ink(gray, x + dx, y + dy);
        }
    }
}

fn ink(gray: &mut [u8], x: i32, y: i32) {
    let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) else {
        return;
    };
    if x < WIDTH
        && let Some(pixel) = gray.get_mut((y * WIDTH + x) as usize)
    {
        *pixel = 40 + (*pixel & 0x0f);
    }
}
