//! A stream of chance that is the same on every machine and in every version.

use rand::Rng;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

/// ChaCha with 8 rounds, whose output is specified. Only its 64-bit words are used: versions of the rand crate may
/// derive ranges and shuffles differently, which would change every invented document.
pub(crate) struct Dice(ChaCha8Rng);

impl Dice {
    /// The dice for one thing: by seed, kind and number.
    pub fn new(seed: u64, kind: &str, number: u64) -> Self {
        let mut key = [0_u8; 32];
        let (head, rest) = key.split_at_mut(8);
        head.copy_from_slice(&seed.to_le_bytes());
        let (number_bytes, kind_bytes) = rest.split_at_mut(8);
        number_bytes.copy_from_slice(&number.to_le_bytes());
        for (place, letter) in kind_bytes.iter_mut().zip(kind.bytes()) {
            *place = letter;
        }
        Self(ChaCha8Rng::from_seed(key))
    }

    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number from 0 up to but not including `limit`; 0 when the limit is 0. The bias is below one in a billion.
    pub fn below(&mut self, limit: u32) -> u32 {
        let scaled = u64::from(limit) * (self.word() >> 32);
        u32::try_from(scaled >> 32).unwrap_or(0)
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// True with this probability from 0.0 to 1.0. Always uses up a word.
    pub fn fraction_below(&mut self, probability: f64) -> bool {
        // The upper 32 bits as a fraction of one: exact in a double, and below 1.0.
        let fraction = f64::from(u32::try_from(self.word() >> 32).unwrap_or(u32::MAX)) / 4_294_967_296.0;
        fraction < probability
    }

    /// One of the choices; without choices, the default value.
    pub fn pick<T: Copy + Default>(&mut self, choices: &[T]) -> T {
        let limit = u32::try_from(choices.len()).unwrap_or(u32::MAX);
        let index = self.below(limit) as usize;
        choices.get(index).copied().unwrap_or_default()
    }

    /// Some of the choices, each once: in order, after a random start.
    pub fn some<T: Copy + Default>(&mut self, choices: &[T], count: u32) -> Vec<T> {
        let start = self.below(u32::try_from(choices.len()).unwrap_or(u32::MAX)) as usize;
        choices.iter().cycle().skip(start).take((count as usize).min(choices.len())).copied().collect()
    }

    /// A version 4 uuid.
    pub fn uuid(&mut self) -> String {
        let mut bytes = [0_u8; 16];
        self.0.fill_bytes(&mut bytes);
        uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
    }

    pub fn fill(&mut self, bytes: &mut [u8]) {
        self.0.fill_bytes(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_never_changes() {
        // A change here renames every invented document, so it must be intended.
        let mut dice = Dice::new(1, "document", 0);
        let first = (dice.uuid(), dice.below(1000));
        let mut again = Dice::new(1, "document", 0);
        assert_eq!(first, (again.uuid(), again.below(1000)));
        assert_ne!(first.0, Dice::new(2, "document", 0).uuid());
        assert_ne!(first.0, Dice::new(1, "patient", 0).uuid());
        assert_ne!(first.0, Dice::new(1, "document", 1).uuid());
    }

    #[test]
    fn numbers_stay_in_range() {
        let mut dice = Dice::new(7, "range", 0);
        assert!((0..1000).all(|_| (3..=5).contains(&dice.between(3, 5))));
        assert_eq!(dice.below(0), 0);
        assert_eq!(dice.pick::<&str>(&[]), "");
    }
}
