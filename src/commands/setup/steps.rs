//! The order of the questions, and the way back: a step asks what belongs together, and can be done again.

use super::Setup;
use super::ask::Back;
use super::draft::NewSecret;
use super::write::Rights;

/// What is asked together.
type Step = fn(&mut Setup) -> anyhow::Result<()>;

/// Where letters go, and who reads them there.
const PLACE: [Step; 2] = [Setup::ask_for_destination, Setup::ask_for_reader];

/// What was answered so far: the draft's text and secrets, account, destination, rights.
type Answered = (String, Vec<NewSecret>, String, String, Option<Rights>);

impl Setup {
    pub(super) fn questions(&mut self) -> anyhow::Result<()> {
        self.ask_for_service_user()?;
        let mut steps: Vec<Step> = vec![Self::ask_for_address, Self::ask_for_account];
        // A file of answers may name letters by the list's numbers.
        if self.ask.answers("patients") {
            steps.push(Self::ask_for_patients);
        }
        steps.extend(PLACE);
        steps.extend([Self::ask_for_more as Step, Self::ask_for_page, Self::ask_for_ledger]);
        self.go_through(&steps)
    }

    /// Changes what has been answered, at the end.
    pub(super) fn change_an_answer(&mut self) -> anyhow::Result<()> {
        let choices = [
            ("address", self.say("setup-change-address", &[])),
            ("account", self.say("setup-change-account", &[])),
            ("destination", self.say("setup-change-destination", &[])),
            ("more", self.say("setup-change-more", &[])),
        ];
        let question = self.question("", "setup-change", &[]);
        let chosen = match self.ask.choose(&question, &choices) {
            Err(error) if error.is::<Back>() => return Ok(()),
            chosen => chosen?,
        };
        let steps: &[Step] = match chosen {
            // Another service has other keys.
            "address" => &[Self::ask_for_address, Self::ask_for_account],
            "account" => &[Self::ask_for_account],
            "destination" => &PLACE,
            _ => &[Self::ask_for_more],
        };
        self.go_through(steps)
    }

    /// One step after another; where a person goes back, the step before is done again.
    fn go_through(&mut self, steps: &[Step]) -> anyhow::Result<()> {
        // How many questions each step asked: one that asked none is nothing to go back to.
        let (mut asked, mut at) = (vec![0; steps.len()], 0);
        while let Some(step) = steps.get(at) {
            let (before, answered) = (self.answers(), self.ask.answered());
            match step(self) {
                Ok(()) => {
                    if let Some(asked) = asked.get_mut(at) {
                        *asked = self.ask.answered() - answered;
                    }
                    at += 1;
                }
                Err(error) if error.is::<Back>() => {
                    // What was answered in this step is no answer; those of the steps before stay as what is offered.
                    self.take_back(before);
                    let within = self.ask.answered() > answered;
                    let before = asked.iter().take(at).rposition(|asked| *asked > 0);
                    match before {
                        _ if within => {}
                        Some(before) => at = before,
                        None => self.tell("setup-first", &[])?,
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn answers(&self) -> Answered {
        let Self { draft, account, destination, rights, .. } = self;
        (draft.text.clone(), draft.secrets.clone(), account.clone(), destination.clone(), rights.clone())
    }

    fn take_back(&mut self, before: Answered) {
        (self.draft.text, self.draft.secrets, self.account, self.destination, self.rights) = before;
    }
}
