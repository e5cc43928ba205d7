//! The texts of the pages, in French and in English.

use axum::http::{HeaderMap, header};

/// A language of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    English,
    French,
}

/// The sentences of the pages.
pub(super) struct Words {
    pub sign_in: &'static str,
    pub to_continue_to: &'static str,
    pub email: &'static str,
    pub password: &'static str,
    pub wrong_password: &'static str,
    pub people_here: &'static str,
    pub and_others: &'static str,
    pub wants_access: &'static str,
    pub signed_in_as: &'static str,
    pub other_account: &'static str,
    pub it_asks_to: &'static str,
    pub untick: &'static str,
    pub always: &'static str,
    pub approve: &'static str,
    pub refuse: &'static str,
    pub you_return_to: &'static str,
    pub nothing_ticked: &'static str,
    pub form_is_foreign: &'static str,
    pub cannot_continue: &'static str,
    pub parameter_missing: &'static str,
    pub unknown_client: &'static str,
    pub unknown_redirect: &'static str,
    pub tell_its_maker: &'static str,
    pub failed: &'static str,
    pub sandbox: &'static str,
}

const ENGLISH: Words = Words {
    sign_in: "Sign in",
    to_continue_to: "to continue to",
    email: "Email address",
    password: "Password",
    wrong_password: "The email address or the password is wrong.",
    people_here: "This is a sandbox: nobody in it is real. You can sign in as",
    and_others: "and others",
    wants_access: "wants access to your account",
    signed_in_as: "Signed in as",
    other_account: "Use another account",
    it_asks_to: "It asks to:",
    untick: "Untick what you do not want to allow.",
    always: "always included",
    approve: "Approve",
    refuse: "Refuse",
    you_return_to: "You will be sent back to",
    nothing_ticked: "Tick at least one permission, or refuse.",
    form_is_foreign: "This form was not sent from this page, or is too old. Please try again.",
    cannot_continue: "This request cannot be followed",
    parameter_missing: "The address you came by needs this parameter exactly once:",
    unknown_client: "No application is registered under this client_id:",
    unknown_redirect: "The application did not register this redirect_uri. It is compared character for character:",
    tell_its_maker: "You were not sent back, because it is not certain that the application wants you there. Whoever makes \
                     it has to correct the address.",
    failed: "The sandbox could not answer",
    sandbox: "Sandbox",
};

const FRENCH: Words = Words {
    sign_in: "Connexion",
    to_continue_to: "pour continuer vers",
    email: "Adresse e-mail",
    password: "Mot de passe",
    wrong_password: "L’adresse e-mail ou le mot de passe est incorrect.",
    people_here: "Ceci est un bac à sable : personne n’y est réel. Vous pouvez vous connecter comme",
    and_others: "et d’autres",
    wants_access: "demande l’accès à votre compte",
    signed_in_as: "Session ouverte :",
    other_account: "Utiliser un autre compte",
    it_asks_to: "L’application demande à :",
    untick: "Décochez ce que vous ne souhaitez pas autoriser.",
    always: "toujours inclus",
    approve: "Autoriser",
    refuse: "Refuser",
    you_return_to: "Vous serez renvoyé vers",
    nothing_ticked: "Cochez au moins une autorisation, ou refusez.",
    form_is_foreign: "Ce formulaire ne vient pas de cette page ou est trop ancien. Veuillez réessayer.",
    cannot_continue: "Cette demande ne peut pas aboutir",
    parameter_missing: "L’adresse suivie doit contenir ce paramètre une seule fois :",
    unknown_client: "Aucune application n’est enregistrée sous ce client_id :",
    unknown_redirect: "L’application n’a pas enregistré ce redirect_uri. Il est comparé caractère par caractère :",
    tell_its_maker: "Le renvoi n’a pas eu lieu, car il n’est pas certain que l’application vous y attende. Son éditeur \
                     doit corriger l’adresse.",
    failed: "Le bac à sable n’a pas pu répondre",
    sandbox: "Bac à sable",
};

/// What stands after `read:` and `write:`, in both languages.
const THINGS: &[(&str, &str, &str)] = &[
    ("patients", "patients", "les patients"),
    ("contacts", "contacts", "les contacts"),
    ("documents", "documents and letters", "les documents et courriers"),
    ("notes", "notes", "les notes"),
    ("document_integrations", "the transfer status of documents", "l’état de transfert des documents"),
    ("webhooks", "webhooks", "les webhooks"),
    ("users", "the practice’s users", "les utilisateurs du cabinet"),
    ("organizations", "the practice’s details", "les informations du cabinet"),
    ("invitations", "invitations", "les invitations"),
    ("subscriptions", "the subscription", "l’abonnement"),
    ("emails", "emails", "les e-mails"),
    ("personalizations", "personal settings", "les personnalisations"),
    ("oauth_client_users", "connected applications", "les applications connectées"),
    ("oauth_clients", "registered applications", "les applications enregistrées"),
    ("oauth_short_access_tokens", "short-lived access tokens", "les jetons d’accès de courte durée"),
    ("images", "images", "les images"),
    ("meetings", "meetings", "les réunions"),
    ("audios", "audio recordings", "les enregistrements audio"),
    ("readers", "readers", "les lecteurs"),
    ("user_registrations", "user registrations", "les inscriptions d’utilisateurs"),
    ("transcription_dictionary", "the transcription dictionary", "le dictionnaire de transcription"),
];

/// Scopes that are no pair, in both languages.
const SINGLE: &[(&str, &str, &str)] = &[
    ("profile", "See your name and account information", "Voir votre nom et les informations de votre compte"),
    ("organization", "See your practice’s information", "Voir les informations de votre cabinet"),
    ("capture:images", "Take pictures", "Prendre des images"),
    ("capture:audios", "Record audio", "Enregistrer du son"),
];

impl Language {
    /// The language that the browser prefers (RFC 9110, section 12.5.4); English if it names neither.
    pub fn of(headers: &HeaderMap) -> Self {
        let wish = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let mut best = (0.0, Self::English);
        for range in wish.split(',') {
            let mut parts = range.split(';').map(str::trim);
            let primary = parts.next().unwrap_or_default().split('-').next().unwrap_or_default();
            let language = match primary.to_ascii_lowercase().as_str() {
                "fr" => Self::French,
                "en" => Self::English,
                _ => continue,
            };
            let quality = parts.find_map(|part| part.strip_prefix("q=")).map_or(Ok(1.0), str::parse::<f32>);
            if let Ok(quality) = quality
                && quality > best.0
            {
                best = (quality, language);
            }
        }
        best.1
    }

    /// The code for `lang` and `Content-Language`.
    pub fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::French => "fr",
        }
    }

    pub fn words(self) -> &'static Words {
        match self {
            Self::English => &ENGLISH,
            Self::French => &FRENCH,
        }
    }

    /// What a scope allows, as a person would say it.
    pub fn scope(self, scope: &str) -> String {
        let pick = |entry: &(&str, &'static str, &'static str)| match self {
            Self::English => entry.1,
            Self::French => entry.2,
        };
        if let Some(entry) = SINGLE.iter().find(|(known, ..)| *known == scope) {
            return pick(entry).to_owned();
        }
        let (access, of) = scope.split_once(':').unwrap_or_default();
        let thing = THINGS.iter().find(|(known, ..)| *known == of).map_or(scope, pick);
        match (self, access) {
            (Self::English, "write") => format!("Create, change and delete {thing}"),
            (Self::English, _) => format!("Read {thing}"),
            (Self::French, "write") => format!("Créer, modifier et supprimer {thing}"),
            (Self::French, _) => format!("Consulter {thing}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::Scopes;

    fn language(wish: &'static str) -> Language {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_LANGUAGE, wish.parse().unwrap());
        Language::of(&headers)
    }

    #[test]
    fn the_browser_chooses_the_language() {
        for (wish, chosen) in [
            ("fr-FR,fr;q=0.9,en;q=0.8", Language::French),
            ("en-US,en;q=0.9,fr;q=0.8", Language::English),
            ("de, en;q=0.3, fr;q=0.7", Language::French),
            ("de", Language::English),
            ("fr;q=0, en;q=0.1", Language::English),
            ("fr;q=nonsense", Language::English),
        ] {
            assert_eq!(language(wish), chosen, "{wish}");
        }
        assert_eq!(Language::of(&HeaderMap::new()), Language::English);
    }

    #[test]
    fn every_scope_is_told_in_words_of_its_own() {
        for language in [Language::English, Language::French] {
            let all = Scopes::all();
            let mut told: Vec<String> = all.iter().map(|scope| language.scope(scope)).collect();
            assert!(told.iter().all(|words| !words.contains(['_', ':'])), "{told:?}");
            told.sort();
            told.dedup();
            assert_eq!(told.len(), all.iter().count());
        }
    }
}
