//! The order of the questions, and the way back: a step asks what belongs together, and can be done again.

use super::Setup;
use super::ask::Back;
use super::draft::NewSecret;
use super::write::Rights;

/// What is asked together.
pub(super) type Step = fn(&mut Setup) -> anyhow::Result<()>;

/// Where letters go, and who reads them there.
pub(super) const PLACE: [Step; 3] = [Setup::ask_which_destination, Setup::ask_for_destination, Setup::ask_for_reader];

/// What was answered so far: the draft's text and secrets, account, destination, rights.
type Answered = (String, Vec<NewSecret>, String, String, Option<Rights>);

impl Setup {
    pub(super) fn questions(&mut self) -> anyhow::Result<()> {
        self.ask_for_service_user()?;
        if self.ask.is_person() && self.is_set_up() {
            return self.change(true);
        }
        let mut steps: Vec<Step> = vec![Self::ask_for_address, Self::ask_for_account];
        // A file of answers may name letters by the list's numbers.
        if self.ask.answers("patients") {
            steps.push(Self::ask_for_patients);
        }
        steps.extend(PLACE);
        steps.extend([Self::ask_for_more as Step, Self::ask_for_page, Self::ask_for_ledger]);
        while !self.is_gone_through(&steps)? {
            self.tell("setup-first", &[])?;
        }
        Ok(())
    }

    /// Whether somebody set it up before.
    fn is_set_up(&self) -> bool {
        self.draft.before.is_some() && self.draft.current("api", None, "base_url").is_some()
    }

    /// One step after another. A person who goes back is asked the question before: its step is done again, and answers
    /// by itself what was answered before that. `false`: the person left at the first question of all.
    pub(super) fn is_gone_through(&mut self, steps: &[Step]) -> anyhow::Result<bool> {
        let least = self.ask.given();
        let mut begun: Vec<(Answered, usize)> = Vec::new();
        while let Some(step) = steps.get(begun.len()) {
            begun.push((self.answers(), self.ask.given()));
            match step(self) {
                Err(error) if error.is::<Back>() => {
                    let left = self.ask.back(least);
                    // The step that asked it; one that asked nothing is nothing to go back to.
                    let at = left.and_then(|left| begun.iter().rposition(|(_, given)| *given <= left)).unwrap_or(0);
                    begun.truncate(at + 1);
                    if let Some((before, given)) = begun.pop() {
                        self.restore(before);
                        self.ask.repeat_from(given);
                    }
                    if left.is_none() {
                        return Ok(false);
                    }
                }
                done => done?,
            }
        }
        Ok(true)
    }

    /// Asks what is a group of its own. A person who goes back leaves only that, and what it changed is as before.
    /// Returns whether it was gone through.
    pub(super) fn in_group(&mut self, group: impl FnOnce(&mut Self) -> anyhow::Result<()>) -> anyhow::Result<bool> {
        let (before, given) = (self.answers(), self.ask.given());
        match group(self) {
            Err(error) if error.is::<Back>() => {
                self.restore(before);
                self.ask.take_back(given);
                Ok(false)
            }
            done => done.map(|()| true),
        }
    }

    fn answers(&self) -> Answered {
        let Self { draft, account, destination, rights, .. } = self;
        (draft.text.clone(), draft.secrets.clone(), account.clone(), destination.clone(), rights.clone())
    }

    fn restore(&mut self, before: Answered) {
        (self.draft.text, self.draft.secrets, self.account, self.destination, self.rights) = before;
    }
}
