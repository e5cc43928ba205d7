//! Gray pictures as krilla takes them.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use krilla::image::{BitsPerComponent, CustomImage, Image, ImageColorspace};

#[derive(Clone)]
struct Film {
    gray: Arc<Vec<u8>>,
    width: u32,
    height: u32,
}

impl Hash for Film {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.width, self.height).hash(state);
        self.gray.hash(state);
    }
}

impl CustomImage for Film {
    fn color_channel(&self) -> &[u8] {
        &self.gray
    }

    fn alpha_channel(&self) -> Option<&[u8]> {
        None
    }

    fn bits_per_component(&self) -> BitsPerComponent {
        BitsPerComponent::Eight
    }

    fn size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    fn icc_profile(&self) -> Option<&[u8]> {
        None
    }

    fn color_space(&self) -> ImageColorspace {
        ImageColorspace::Luma
    }
}

/// A picture of one byte a pixel, row by row from the top.
pub(super) fn picture(gray: Vec<u8>, width: u32, height: u32) -> Result<Image, String> {
    Image::from_custom(Film { gray: Arc::new(gray), width, height }, true)
}
