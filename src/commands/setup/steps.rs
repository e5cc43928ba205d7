//! The order of the questions, and the way back. A step asks questions that belong together, and can be repeated.

use super::Setup;
use super::ask::Back;
use super::draft::NewSecret;
use super::write::Rights;

/// A step.
pub(super) type Step = fn(&mut Setup) -> anyhow::Result<()>;

/// Where letters go, and who reads them there.
pub(super) const PLACE: [Step; 3] = [Setup::ask_which_destination, Setup::ask_for_destination, Setup::ask_for_reader];

/// All answers so far: the draft's text and secrets, account, destination, rights.
type Answered = (String, Vec<NewSecret>, String, String, Option<Rights>);

impl Setup {
    pub(super) fn questions(&mut self) -> anyhow::Result<()> {
        self.ask_for_service_user()?;
        if self.ask.is_person() && self.is_set_up() {
            return self.change(true);
        }
        let mut steps: Vec<Step> = vec![Self::ask_for_address, Self::ask_for_account];
        // A file of answers may use the list's numbers in the names of letters.
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

    /// Whether somebody has set up docsyncd before.
    fn is_set_up(&self) -> bool {
        self.draft.before.is_some() && self.draft.current("api", None, "base_url").is_some()
    }

    /// Runs the steps in order. If a person goes back, the step of the previous question is repeated, and earlier
    /// answers are reused. Returns false if the person went back from the first question.
    pub(super) fn is_gone_through(&mut self, steps: &[Step]) -> anyhow::Result<bool> {
        let least = self.ask.given();
        let mut begun: Vec<(Answered, usize)> = Vec::new();
        while let Some(step) = steps.get(begun.len()) {
            begun.push((self.answers(), self.ask.given()));
            match step(self) {
                Err(error) if error.is::<Back>() => {
                    let left = self.ask.back(least);
                    // The step that asked the question. A step without questions cannot be gone back to.
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

    /// Asks a group of questions. A person who goes back leaves the whole group, and its changes are undone. Returns
    /// whether the group was completed.
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
