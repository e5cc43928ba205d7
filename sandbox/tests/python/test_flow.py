"""The whole flow as an integrator in another language goes through it: from sign-in to a document that is reported."""

import hashlib

import pytest
import requests

from application import Application, query_of
from html_forms import form_with
from sandbox_program import EMAIL, PASSWORD

SCOPE = (
    "profile organization read:documents write:documents read:document_integrations write:document_integrations "
    "read:patients"
)
OWN_FILE = "letter of the practice.pdf"


def small_pdf():
    """A PDF of one empty page."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>",
    ]
    body, starts = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        starts.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % start for start in starts)
    size = len(objects) + 1
    return body + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (size, table, size, len(body))
    )


@pytest.fixture
def application():
    return Application(redirect_uri="https://practice.example/came-back?from=sandbox")


@pytest.fixture
def sandbox(start_sandbox, application, tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / OWN_FILE).write_bytes(small_pdf())
    return start_sandbox("--pdf-dir", tmp_path / "letters", "--documents", 5, *application.options())


def sign_in(session, application, sandbox, path="/authorize"):
    """The page on which a person decides."""
    page = session.get(application.authorization_address(sandbox, SCOPE, path), timeout=20)
    assert page.status_code == 200
    answer = form_with(page, "sign-in").send(session, "sign-in", email=EMAIL, password=PASSWORD)
    assert answer.status_code in (302, 303)
    return session.get(requests.compat.urljoin(page.url, answer.headers["Location"]), timeout=20)


def decide(session, application, sandbox, button, path="/authorize"):
    """What the application gets to know of a person's decision."""
    page = sign_in(session, application, sandbox, path)
    form = form_with(page, button)
    # The page shows every scope that is asked for; one that cannot be refused is not sent.
    assert {value for name, value in form.fields if name == "scope"} >= set(SCOPE.split()) - {"profile"}
    answer = form.send(session, button)
    assert answer.status_code in (302, 303)
    location = answer.headers["Location"]
    assert location.startswith(application.redirect_uri + "&"), "the registered address is kept as it is"
    told = query_of(location)
    assert told.pop("state") == application.state
    return told


def listed(sandbox, token):
    """The uuids of the documents that nobody has reported yet, oldest first."""
    uuids, page = [], 1
    while True:
        query = {"synchronized": "false", "order[createdAt]": "asc", "itemsPerPage": 2, "page": page}
        answer = sandbox.get("/documents", token, params=query)
        assert answer.status_code == 200
        rows = answer.json()
        if not rows:
            return uuids
        uuids += [row["uuid"] for row in rows]
        page += 1


def test_an_integrator_brings_the_documents_home(sandbox, application):
    told = decide(requests.Session(), application, sandbox, "approve")
    answer = application.exchange(sandbox, told["code"])
    assert answer.status_code == 200, answer.text
    tokens = answer.json()
    assert tokens["token_type"] == "Bearer"
    assert isinstance(tokens["expires_in"], int) and tokens["expires_in"] > 0
    token = tokens["access_token"]
    assert token.count(".") == 2, "the access token is a JWT"
    assert sandbox.get("/me", token).json()["email"] == EMAIL

    uuids = listed(sandbox, token)
    assert len(uuids) == len(set(uuids)) == 5
    own_hash, seen = hashlib.sha256(small_pdf()).hexdigest(), []
    for uuid in uuids:
        answer = sandbox.get(f"/documents/{uuid}", token)
        assert answer.status_code == 200
        document = answer.json()
        assert document["uuid"] == uuid
        pdf = document["pdf"]
        answer = sandbox.get(pdf["url"], token)
        assert answer.status_code == 200
        assert answer.headers["Content-Type"] == "application/pdf"
        assert answer.content.startswith(b"%PDF-") and len(answer.content) == pdf["size"]
        seen.append(hashlib.sha256(answer.content).hexdigest())
        again = sandbox.get(pdf["url"], token).content
        assert hashlib.sha256(again).hexdigest() == seen[-1], "a file does not change under its address"

        report = sandbox.post(f"/documents/{uuid}/status", {"success": True}, token)
        assert report.status_code == 200 and report.json()["uuid"] == uuid
        assert uuid not in listed(sandbox, token)
    assert seen.count(own_hash) == 1, "the practice's own letter came through byte for byte"
    assert listed(sandbox, token) == []


def test_a_failure_is_reported_with_its_reason(sandbox):
    uuid = sandbox.get("/documents", params={"synchronized": "false"}).json()[0]["uuid"]
    report = sandbox.post(f"/documents/{uuid}/status", {"success": False, "error": "No such patient."})
    assert report.status_code == 200
    refused = sandbox.post(f"/documents/{uuid}/status", {"success": "yes", "error": 7})
    assert refused.status_code == 422
    assert refused.headers["Content-Type"].startswith("application/ld+json")
    assert {wrong["propertyPath"] for wrong in refused.json()["violations"]} == {"success", "error"}


def test_a_refreshed_token_works_and_the_old_refresh_token_dies(sandbox, application):
    told = decide(requests.Session(), application, sandbox, "approve")
    first = application.exchange(sandbox, told["code"]).json()
    answer = application.refresh(sandbox, first["refresh_token"])
    assert answer.status_code == 200, answer.text
    second = answer.json()
    assert second["refresh_token"] != first["refresh_token"]
    assert sandbox.get("/documents", second["access_token"]).status_code == 200

    dead = application.refresh(sandbox, first["refresh_token"])
    assert 400 <= dead.status_code < 500
    assert dead.json()["error"] == "invalid_grant" and dead.json()["error_description"]


def test_a_code_works_once(sandbox, application):
    told = decide(requests.Session(), application, sandbox, "approve", path="/oauth/authorize")
    assert application.exchange(sandbox, told["code"]).status_code == 200
    second = application.exchange(sandbox, told["code"])
    assert 400 <= second.status_code < 500
    assert second.json()["error"] == "invalid_grant"


def test_a_person_who_refuses_gives_no_code(sandbox, application):
    told = decide(requests.Session(), application, sandbox, "refuse")
    assert told["error"] == "access_denied"
    assert "code" not in told


def test_a_made_up_token_opens_nothing(sandbox):
    for path in ("/me", "/documents"):
        answer = sandbox.get(path, "made.up.token")
        assert answer.status_code == 401, path
