//! What the pages and the terminal say about a sign-in, in French and in English, all in one place.

/// A language of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Also for everybody who asks for neither, and for the terminal.
    English,
    /// For browsers that like it better.
    French,
}

/// Why nobody is signed in at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// `access_denied`: the person refused.
    Denied,
    /// `invalid_request` on the way back.
    InvalidRequest,
    /// `unauthorized_client`, on the way back or from the token endpoint.
    UnauthorizedClient,
    /// `invalid_scope` (RFC 6749, section 4.1.2.1).
    InvalidScope,
    /// `server_error` and `temporarily_unavailable` (RFC 6749, section 4.1.2.1).
    ServerFault,
    /// Another word of the server.
    OtherRefusal,
    /// `invalid_grant`: the code is expired or already used, or belongs to another redirect address.
    CodeRefused,
    /// `invalid_client`: the client secret or the identifier is wrong.
    ClientRefused,
    /// The token endpoint could not be reached, or gave no answer that could be understood.
    Unreachable,
    /// The client secret cannot be read.
    NoSecret,
    /// The tokens could not be written.
    NotSaved,
}

/// What happened, and what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// A headline without a full stop.
    pub what: &'static str,
    /// One or two sentences.
    pub advice: &'static str,
}

/// The sentences of the pages that are no failures.
pub struct Words {
    /// Headline of the closing page.
    pub done: &'static str,
    /// Before the person's name.
    pub signed_in_as: &'static str,
    /// What docsyncd does from now on.
    pub goes_on: &'static str,
    /// Under everything that is at an end.
    pub close: &'static str,
    /// Headline: the answer is of another attempt.
    pub foreign: &'static str,
    /// What to do about it.
    pub foreign_advice: &'static str,
    /// Headline: nothing is in the answer.
    pub incomplete: &'static str,
    /// What to do about it.
    pub incomplete_advice: &'static str,
    /// Headline: an answer came before.
    pub used: &'static str,
    /// What to do about it.
    pub used_advice: &'static str,
    /// Headline: nothing is at this address.
    pub nothing_here: &'static str,
}

const ENGLISH: Words = Words {
    done: "You are signed in",
    signed_in_as: "Signed in as",
    goes_on: "docsyncd on this computer can now file your documents.",
    close: "You can close this window.",
    foreign: "This is not the sign-in that docsyncd waits for",
    foreign_advice: "It belongs to an earlier attempt, or another program made it up. Nothing was changed. \
                     Use the address that docsyncd showed last.",
    incomplete: "This address says nothing about a sign-in",
    incomplete_advice: "Nothing was changed. Use the address that docsyncd showed last.",
    used: "This sign-in was already used",
    used_advice: "An answer counts only once. What became of it is in the window in which docsyncd login was started.",
    nothing_here: "There is nothing at this address",
};

const FRENCH: Words = Words {
    done: "Vous êtes connecté",
    signed_in_as: "Connecté en tant que",
    goes_on: "docsyncd peut désormais classer vos documents sur cet ordinateur.",
    close: "Vous pouvez fermer cette fenêtre.",
    foreign: "Ce n’est pas la connexion que docsyncd attend",
    foreign_advice: "Elle appartient à une tentative précédente, ou un autre programme l’a inventée. Rien n’a été \
                     modifié. Utilisez la dernière adresse affichée par docsyncd.",
    incomplete: "Cette adresse ne dit rien d’une connexion",
    incomplete_advice: "Rien n’a été modifié. Utilisez la dernière adresse affichée par docsyncd.",
    used: "Cette connexion a déjà été utilisée",
    used_advice: "Une réponse ne compte qu’une fois. Son résultat est affiché dans la fenêtre où docsyncd login a été \
                  lancé.",
    nothing_here: "Il n’y a rien à cette adresse",
};

impl Language {
    /// The one of the two that the browser likes better (RFC 9110, section 12.5.4).
    pub fn of(accept_language: &str) -> Self {
        let mut best = (0, Self::English);
        for range in accept_language.split(',') {
            let (tag, weight) = range.split_once(';').unwrap_or((range, "q=1"));
            let language = match tag.trim().split('-').next().unwrap_or_default().to_ascii_lowercase().as_str() {
                "fr" => Self::French,
                "en" => Self::English,
                _ => continue,
            };
            let weight = weight.trim().strip_prefix("q=").map_or(0, thousandths);
            if weight > best.0 {
                best = (weight, language);
            }
        }
        best.1
    }

    /// For `lang` and `Content-Language`.
    pub fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::French => "fr",
        }
    }

    /// Its sentences.
    pub fn words(self) -> &'static Words {
        match self {
            Self::English => &ENGLISH,
            Self::French => &FRENCH,
        }
    }
}

/// A weight such as `0.85` in thousandths; 0 when it is none.
fn thousandths(weight: &str) -> u16 {
    let (whole, part) = weight.split_once('.').unwrap_or((weight, ""));
    let digits = format!("{part:0<3}");
    match (whole, digits.len(), digits.parse::<u16>()) {
        ("1", 3, Ok(0)) => 1000,
        ("0", 3, Ok(part)) => part,
        _ => 0,
    }
}

impl FailureKind {
    /// What an error redirect means (API, "Flow", step 5).
    pub fn of_redirect(error: &str) -> Self {
        match error {
            "access_denied" => Self::Denied,
            "invalid_request" => Self::InvalidRequest,
            "unauthorized_client" => Self::UnauthorizedClient,
            "invalid_scope" => Self::InvalidScope,
            "server_error" | "temporarily_unavailable" => Self::ServerFault,
            _ => Self::OtherRefusal,
        }
    }

    /// What an error of the token endpoint means (API, "Token endpoint errors").
    pub fn of_exchange(error: &str) -> Self {
        match error {
            "invalid_grant" => Self::CodeRefused,
            "invalid_client" => Self::ClientRefused,
            other => Self::of_redirect(other),
        }
    }

    /// What to tell a person.
    pub fn told(self, language: Language) -> Message {
        let (what, advice) = match language {
            Language::English => self.english(),
            Language::French => self.french(),
        };
        Message { what, advice }
    }

    fn english(self) -> (&'static str, &'static str) {
        match self {
            Self::Denied => (
                "Access was refused on the sign-in page",
                "If that was not meant, run docsyncd login again and approve.",
            ),
            Self::InvalidRequest => (
                "The server does not accept the request",
                "Compare client_id, scopes and redirect address with what the operator registered.",
            ),
            Self::UnauthorizedClient => (
                "The server does not let this application sign people in",
                "Ask the operator to allow it for the client_id in the configuration.",
            ),
            Self::InvalidScope => (
                "The server does not grant one of the scopes",
                "Compare the account's scopes in the configuration with what the operator allows.",
            ),
            Self::ServerFault => ("The server has a fault of its own", "Run docsyncd login again in a few minutes."),
            Self::OtherRefusal => (
                "The server refused the sign-in",
                "Run docsyncd login again; if it happens again, tell the operator the words below.",
            ),
            Self::CodeRefused => (
                "The server no longer accepts this sign-in",
                "It is valid for 60 seconds and only once. Run docsyncd login again.",
            ),
            Self::ClientRefused => (
                "The server does not accept the application's credentials",
                "Check client_id and client_secret_file in the configuration, then run docsyncd login again.",
            ),
            Self::Unreachable => (
                "The sign-in could not be finished with the server",
                "Check the network and api.base_url, then run docsyncd login again.",
            ),
            Self::NoSecret => {
                ("The client secret cannot be read", "Correct client_secret_file, then run docsyncd login again.")
            }
            Self::NotSaved => (
                "The sign-in could not be saved on this computer",
                "Correct what is said below, then run docsyncd login again.",
            ),
        }
    }

    fn french(self) -> (&'static str, &'static str) {
        match self {
            Self::Denied => (
                "L’accès a été refusé sur la page de connexion",
                "Si ce n’était pas voulu, relancez docsyncd login et autorisez l’accès.",
            ),
            Self::InvalidRequest => (
                "Le serveur n’accepte pas la demande",
                "Comparez client_id, scopes et l’adresse de retour avec ce que l’opérateur a enregistré.",
            ),
            Self::UnauthorizedClient => (
                "Le serveur ne permet pas à cette application de connecter des personnes",
                "Demandez à l’opérateur de l’autoriser pour le client_id de la configuration.",
            ),
            Self::InvalidScope => (
                "Le serveur n’accorde pas l’une des autorisations demandées",
                "Comparez les scopes du compte dans la configuration avec ce que l’opérateur permet.",
            ),
            Self::ServerFault => ("Le serveur rencontre une panne", "Relancez docsyncd login dans quelques minutes."),
            Self::OtherRefusal => (
                "Le serveur a refusé la connexion",
                "Relancez docsyncd login ; si cela se reproduit, transmettez à l’opérateur les mots ci-dessous.",
            ),
            Self::CodeRefused => (
                "Le serveur n’accepte plus cette connexion",
                "Elle est valable 60 secondes et une seule fois. Relancez docsyncd login.",
            ),
            Self::ClientRefused => (
                "Le serveur n’accepte pas les identifiants de l’application",
                "Vérifiez client_id et client_secret_file dans la configuration, puis relancez docsyncd login.",
            ),
            Self::Unreachable => (
                "La connexion n’a pas pu être terminée auprès du serveur",
                "Vérifiez le réseau et api.base_url, puis relancez docsyncd login.",
            ),
            Self::NoSecret => (
                "Le secret de l’application ne peut pas être lu",
                "Corrigez client_secret_file, puis relancez docsyncd login.",
            ),
            Self::NotSaved => (
                "La connexion n’a pas pu être enregistrée sur cet ordinateur",
                "Corrigez ce qui est indiqué ci-dessous, puis relancez docsyncd login.",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_browser_chooses_the_language() {
        for (wish, language) in [
            ("fr-FR,fr;q=0.9,en;q=0.8", Language::French),
            ("en-GB,en;q=0.9,fr;q=0.8", Language::English),
            ("de, en;q=0.30, FR;q=0.7", Language::French),
            ("en;q=0.5,fr;q=0.55", Language::French),
            ("de,es;q=0.5", Language::English),
            ("fr;q=0", Language::English),
            ("fr;q=much", Language::English),
            ("fr;q=9", Language::English),
            ("", Language::English),
        ] {
            assert_eq!(Language::of(wish), language, "{wish}");
        }
    }

    #[test]
    fn the_errors_of_the_description_have_words_of_their_own() {
        let redirects =
            ["access_denied", "invalid_request", "unauthorized_client", "anything"].map(FailureKind::of_redirect);
        let exchanges = ["invalid_grant", "invalid_client"].map(FailureKind::of_exchange);
        let kinds: Vec<FailureKind> = redirects.into_iter().chain(exchanges).collect();
        for language in [Language::English, Language::French] {
            let mut told: Vec<&str> = kinds.iter().map(|kind| kind.told(language).what).collect();
            told.sort_unstable();
            told.dedup();
            assert_eq!(told.len(), kinds.len());
        }
        assert_eq!(FailureKind::of_exchange("invalid_request"), FailureKind::InvalidRequest);
    }
}
