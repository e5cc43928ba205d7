"""The application of an integrator: it asks for authorization and exchanges codes for tokens."""

import secrets
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlencode, urlsplit

import requests


@dataclass
class Application:
    """What the operator agreed on with the integrator."""

    redirect_uri: str
    client_id: str = "practice-bridge"
    client_secret: str = "bridge-secret"
    state: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    def options(self):
        """The options that make it known to a sandbox."""
        return [
            *("--client-id", self.client_id),
            *("--client-secret", self.client_secret),
            *("--redirect-uri", self.redirect_uri),
        ]

    def authorization_address(self, sandbox, scope, path="/authorize", **instead):
        """Where it sends a person."""
        query = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "scope": scope,
            "state": self.state,
        }
        return f"{sandbox.url}{path}?{urlencode(query | instead)}"

    def ask_for_tokens(self, sandbox, **grant):
        """One request to the token endpoint."""
        body = {"client_id": self.client_id, "client_secret": self.client_secret, **grant}
        return requests.post(f"{sandbox.url}/oauth2/token", json=body, timeout=20)

    def exchange(self, sandbox, code):
        """The answer to a code."""
        return self.ask_for_tokens(
            sandbox, grant_type="authorization_code", code=code, redirect_uri=self.redirect_uri
        )

    def refresh(self, sandbox, refresh_token):
        """The answer to a refresh token."""
        return self.ask_for_tokens(sandbox, grant_type="refresh_token", refresh_token=refresh_token)


def query_of(address):
    """The query of an address, each parameter once."""
    pairs = parse_qs(urlsplit(address).query, strict_parsing=True)
    assert all(len(values) == 1 for values in pairs.values()), pairs
    return {name: value for name, [value] in pairs.items()}
