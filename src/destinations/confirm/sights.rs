//! The sights of looks that ask a destination about one letter at a time.

use super::super::Outcome;
use super::is_of_all;
use crate::domain::proof::Sight;

/// How many letters in a row without an answer, and none with one, mean that the destination as a whole is away.
const IN_A_ROW: usize = 8;

/// The sights of letters that are asked for one by one. If the destination answers for some letters, a letter without
/// an answer waits: an error about one (a time-out, a refused sign-in, another site's page) says nothing of the others.
#[derive(Default)]
pub(in crate::destinations) struct Sights {
    all: Vec<Sight>,
    unseen: Option<Outcome>,
    answers: bool,
    in_a_row: usize,
}

impl Sights {
    /// Adds the sight of the next letter.
    ///
    /// # Errors
    /// The destination as a whole gives no answer.
    pub(in crate::destinations) fn add(&mut self, sight: Result<Sight, Outcome>) -> Result<(), Outcome> {
        match sight {
            Ok(sight) => {
                (self.answers, self.in_a_row) = (true, 0);
                self.all.push(sight);
            }
            Err(outcome) => {
                self.in_a_row += 1;
                if !self.answers && self.in_a_row >= IN_A_ROW && is_of_all(&outcome) {
                    return Err(outcome);
                }
                self.unseen.get_or_insert(outcome);
                self.all.push(Sight::Waits);
            }
        }
        Ok(())
    }

    /// All sights.
    ///
    /// # Errors
    /// No letter got an answer.
    pub(in crate::destinations) fn all(self) -> Result<Vec<Sight>, Outcome> {
        self.unseen.filter(|_| !self.answers).map_or(Ok(self.all), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::failure::Code;
    use crate::domain::proof::Proof;

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
        // A refusal of the whole destination concerns only one letter, until there are several.
        let away = || Err(Outcome::unavailable("no_connection", "away"));
        let mut sights = Sights::default();
        for sight in [away(), proved(), away()] {
            sights.add(sight).unwrap();
        }
        assert_eq!(sights.all().unwrap(), [Sight::Waits, proved().unwrap(), Sight::Waits]);
        let mut sights = Sights::default();
        assert!((0..IN_A_ROW).all(|number| sights.add(away()).is_ok() == (number + 1 < IN_A_ROW)));
    }
}
