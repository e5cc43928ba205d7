//! What looks at a destination show that answers about one letter at a time.

use super::super::Outcome;
use super::is_of_all;
use crate::proof::Sight;

/// The sights of letters that are asked for one by one. If the destination answers for some letters, one without an
/// answer waits.
#[derive(Default)]
pub(in crate::adapters) struct Sights {
    all: Vec<Sight>,
    unseen: Option<Outcome>,
    answers: bool,
}

impl Sights {
    /// The next letter's.
    ///
    /// # Errors
    /// The destination as a whole gives no answer.
    pub(in crate::adapters) fn add(&mut self, sight: Result<Sight, Outcome>) -> Result<(), Outcome> {
        self.all.push(match sight {
            Ok(sight) => {
                self.answers = true;
                sight
            }
            Err(outcome) if is_of_all(&outcome) => return Err(outcome),
            Err(outcome) => {
                self.unseen.get_or_insert(outcome);
                Sight::Waits
            }
        });
        Ok(())
    }

    /// All of them.
    ///
    /// # Errors
    /// There was an answer for none.
    pub(in crate::adapters) fn all(self) -> Result<Vec<Sight>, Outcome> {
        self.unseen.filter(|_| !self.answers).map_or(Ok(self.all), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Code;
    use crate::proof::Proof;

    #[test]
    fn a_letter_without_an_answer_holds_up_no_other() {
        let odd = || Err(Outcome::transient(Code::Status(500), "odd"));
        let proved = || Ok(Sight::Proved { proof: Proof::Query, place: None, seen: None });
        let mut sights = Sights::default();
        for sight in [odd(), proved(), odd()] {
            sights.add(sight).unwrap();
        }
        assert_eq!(sights.all().unwrap(), [Sight::Waits, proved().unwrap(), Sight::Waits]);
        let mut sights = Sights::default();
        sights.add(odd()).unwrap();
        assert!(sights.all().is_err(), "no letter has an answer");
        assert!(Sights::default().add(Err(Outcome::unavailable("no_connection", "away"))).is_err());
    }
}
