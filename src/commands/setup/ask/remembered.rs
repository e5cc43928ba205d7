//! Remembers a person's answers, so that a person can go back one question. The step that asks is done again. Earlier
//! questions get their earlier answers, without being shown. An answer that was taken back is offered as the default.

use std::collections::HashMap;

use secrecy::SecretString;

use super::{Ask, Back, Question};
use crate::formats::language::Language;

/// One answer.
#[derive(Clone)]
enum Given {
    Text(Option<String>),
    Chosen(String),
    Agreed(bool),
    Secret(Option<SecretString>),
}

pub(in crate::commands::setup) struct Remembered {
    person: Box<dyn Ask>,
    /// The text of each question, and its answer.
    given: Vec<(String, Given)>,
    /// How many of the answers count. The others answer the next questions.
    at: usize,
    /// The answers that were taken back, by the text of the question.
    taken_back: HashMap<String, Given>,
    /// The text of the question at which the person went back.
    left: String,
}

impl Remembered {
    pub(in crate::commands::setup) fn new(person: Box<dyn Ask>) -> Self {
        Self { person, given: Vec::new(), at: 0, taken_back: HashMap::new(), left: String::new() }
    }

    /// The earlier answer, while a step is done again.
    fn repeated(&mut self, question: &Question<'_>) -> Option<Given> {
        match self.given.get(self.at) {
            Some((words, given)) if *words == question.words => {
                self.at += 1;
                Some(given.clone())
            }
            // This time the step asks other questions.
            _ => {
                self.given.truncate(self.at);
                None
            }
        }
    }

    /// The answer to this question that was taken back. A menu has no key, and begins anew.
    fn offered(&self, question: &Question<'_>) -> Option<&Given> {
        self.taken_back.get(&question.words).filter(|_| !question.key.is_empty())
    }

    fn keep<T>(
        &mut self,
        question: &Question<'_>,
        answer: anyhow::Result<T>,
        given: impl FnOnce(&T) -> Given,
    ) -> anyhow::Result<T> {
        match &answer {
            Ok(answer) => {
                // Whoever is asked once more is offered this answer and not one from before.
                self.taken_back.remove(&question.words);
                self.given.push((question.words.clone(), given(answer)));
                self.at = self.given.len();
            }
            Err(error) if error.is::<Back>() => self.left.clone_from(&question.words),
            Err(_) => {}
        }
        answer
    }
}

/// The question with another default.
fn or<'a>(question: &Question<'a>, default: Option<String>) -> Question<'a> {
    let Question { key, words, help, .. } = question;
    Question { key, words: words.clone(), help: help.clone(), default: default.or_else(|| question.default.clone()) }
}

impl Ask for Remembered {
    fn language(&self) -> Language {
        self.person.language()
    }

    fn text(&mut self, question: &Question<'_>) -> anyhow::Result<Option<String>> {
        if let Some(Given::Text(text)) = self.repeated(question) {
            return Ok(text);
        }
        let before = match self.offered(question) {
            Some(Given::Text(text)) => text.clone(),
            _ => None,
        };
        let answer = self.person.text(&or(question, before));
        self.keep(question, answer, |text| Given::Text(text.clone()))
    }

    fn choose<'c>(&mut self, question: &Question<'_>, choices: &[(&'c str, String)]) -> anyhow::Result<&'c str> {
        let find = |name: &str| choices.iter().map(|(known, _)| *known).find(|known| *known == name);
        if let Some(Given::Chosen(name)) = self.repeated(question)
            && let Some(found) = find(&name)
        {
            return Ok(found);
        }
        let before = match self.offered(question) {
            Some(Given::Chosen(name)) => Some(name.clone()).filter(|name| find(name).is_some()),
            _ => None,
        };
        let answer = self.person.choose(&or(question, before), choices);
        self.keep(question, answer, |name| Given::Chosen((*name).to_owned()))
    }

    fn agree(&mut self, question: &Question<'_>, default: bool) -> anyhow::Result<bool> {
        if let Some(Given::Agreed(agrees)) = self.repeated(question) {
            return Ok(agrees);
        }
        let default = match self.offered(question) {
            Some(Given::Agreed(before)) => *before,
            _ => default,
        };
        let answer = self.person.agree(question, default);
        self.keep(question, answer, |agrees| Given::Agreed(*agrees))
    }

    fn secret(&mut self, question: &Question<'_>) -> anyhow::Result<Option<SecretString>> {
        if let Some(Given::Secret(secret)) = self.repeated(question) {
            return Ok(secret);
        }
        let before = match self.offered(question) {
            Some(Given::Secret(secret)) => secret.clone(),
            _ => None,
        };
        let mut asked = or(question, None);
        if before.is_some() {
            asked.help = self.language().text("setup-secret-there");
        }
        let answer = self.person.secret(&asked).map(|secret| secret.or(before));
        self.keep(question, answer, |secret| Given::Secret(secret.clone()))
    }

    fn refused(&mut self, key: &str, why: &str) -> anyhow::Result<()> {
        if self.repeats() {
            return Ok(());
        }
        // An answer that does not work is not offered again.
        if let Some((words, _)) = self.given.last() {
            self.taken_back.remove(words);
        }
        self.person.refused(key, why)
    }

    fn given(&self) -> usize {
        self.at
    }

    fn repeats(&self) -> bool {
        self.at < self.given.len()
    }

    fn back(&mut self, least: usize) -> Option<usize> {
        self.given.truncate(self.at);
        // If a question is asked again, its answer was refused. It and the later ones are asked again.
        let counted = self.given.get(least..).unwrap_or_default();
        if let Some(refused) = counted.iter().position(|(words, _)| *words == self.left) {
            self.given.truncate(least + refused);
        }
        let last = if self.given.len() > least { self.given.pop() } else { None };
        self.at = self.given.len();
        let (words, given) = last?;
        self.taken_back.insert(words, given);
        Some(self.at)
    }

    fn repeat_from(&mut self, at: usize) {
        self.at = at.min(self.given.len());
    }

    fn take_back(&mut self, from: usize) {
        let from = from.min(self.given.len());
        self.taken_back.extend(self.given.drain(from..));
        self.at = from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types these answers, with `<` to go back.
    struct Typist(std::vec::IntoIter<&'static str>);

    impl Ask for Typist {
        fn language(&self) -> Language {
            Language::English
        }

        fn text(&mut self, question: &Question<'_>) -> anyhow::Result<Option<String>> {
            match self.0.next().unwrap() {
                "<" => Err(Back.into()),
                "" => Ok(question.default.clone()),
                text => Ok(Some(text.to_owned())),
            }
        }

        fn choose<'c>(&mut self, _: &Question<'_>, _: &[(&'c str, String)]) -> anyhow::Result<&'c str> {
            Err(Back.into())
        }

        fn agree(&mut self, _: &Question<'_>, default: bool) -> anyhow::Result<bool> {
            Ok(default)
        }

        fn secret(&mut self, question: &Question<'_>) -> anyhow::Result<Option<SecretString>> {
            Ok(self.text(question)?.map(SecretString::from))
        }
    }

    fn asked(words: &str) -> Question<'_> {
        Question { key: words, words: words.to_owned(), help: String::new(), default: None }
    }

    /// The first answer of a group is the one that is refused.
    #[test]
    fn a_refused_answer_is_not_brought_back_by_going_back() {
        let typed = vec!["folder", "/nowhere", "somebody", "<", "", "/srv"];
        let mut ask = Remembered::new(Box::new(Typist(typed.into_iter())));
        let text = |ask: &mut Remembered, words: &str| ask.text(&asked(words));
        for words in ["which", "path", "user"] {
            text(&mut ask, words).unwrap();
        }
        ask.refused("path", "there is no such folder").unwrap();
        assert!(text(&mut ask, "path").unwrap_err().is::<Back>());
        assert_eq!(ask.back(0), Some(0), "to the question before the refused one");
        ask.repeat_from(0);
        assert_eq!(text(&mut ask, "which").unwrap().as_deref(), Some("folder"));
        assert_eq!(text(&mut ask, "path").unwrap().as_deref(), Some("/srv"), "asked anew");
    }

    #[test]
    fn the_last_answer_is_offered_and_not_one_that_was_left_before() {
        let typed = vec!["old.test", "new.test", ""];
        let mut ask = Remembered::new(Box::new(Typist(typed.into_iter())));
        assert_eq!(ask.text(&asked("host")).unwrap().as_deref(), Some("old.test"));
        ask.take_back(0);
        assert_eq!(ask.text(&asked("host")).unwrap().as_deref(), Some("new.test"));
        // It does not work. The draft has it as the default.
        ask.refused("host", "no answer").unwrap();
        let again = asked("host").or(Some("new.test".to_owned()));
        assert_eq!(ask.text(&again).unwrap().as_deref(), Some("new.test"), "Enter alone");
    }

    #[test]
    fn one_question_back_the_others_answer_themselves_and_what_was_said_is_offered() {
        let typed = vec!["a", "b", "wrong", "<", "", "c"];
        let mut ask = Remembered::new(Box::new(Typist(typed.into_iter())));
        let text = |ask: &mut Remembered, words: &str| ask.text(&asked(words));
        assert_eq!(text(&mut ask, "1").unwrap().as_deref(), Some("a"));
        assert_eq!(text(&mut ask, "2").unwrap().as_deref(), Some("b"));
        assert_eq!(text(&mut ask, "3").unwrap().as_deref(), Some("wrong"));
        assert!(text(&mut ask, "3").unwrap_err().is::<Back>(), "asked again, as it was refused");
        assert_eq!(ask.back(0), Some(1), "to the second, not to the third once more");
        ask.repeat_from(0);
        assert!(ask.repeats());
        assert_eq!(text(&mut ask, "1").unwrap().as_deref(), Some("a"), "nobody typed it");
        assert!(!ask.repeats());
        assert_eq!(text(&mut ask, "2").unwrap().as_deref(), Some("b"), "Enter alone: as before");
        assert_eq!((text(&mut ask, "3").unwrap().as_deref(), ask.given()), (Some("c"), 3));
        assert_eq!(ask.back(3), None, "not below where the group began");
    }
}
