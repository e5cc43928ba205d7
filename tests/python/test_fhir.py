"""A FHIR server that nobody here wrote checks what it gets: fhir.resources validates the resource as FHIR R4 (R4B, in which a
DocumentReference has the same fields), and FHIRPath the rules of the published profiles."""

import base64
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
from fhir.resources.R4B.documentreference import DocumentReference
from fhirpathpy import evaluate

from test_status_page import PDF, Daemon, letter, sandbox

__all__ = ["sandbox"]

DESTINATION = """type = "fhir"
base_url = "{url}"
profile = "{profile}"
patient = "{patient}"
author = "Cabinet dentaire du Parc"
confirm = "query"
"""
SEARCH = "Patient?identifier=urn:pms|{{ patient_id }}"
# What identifies a letter, whatever the profile (IHE MHD 4.2.4, Simplified Publish; FHIR R4).
ALWAYS = [
    "DocumentReference.masterIdentifier.count() = 1",
    "DocumentReference.masterIdentifier.value.matches('^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$')",
    "DocumentReference.identifier.where(value = %resource.masterIdentifier.value).exists()",
    "DocumentReference.status = 'current'",
    "DocumentReference.docStatus.empty()",
    "DocumentReference.subject.count() = 1",
    "DocumentReference.type.coding.exists()",
    "DocumentReference.date.count() = 1",
    "DocumentReference.content.count() = 1",
    "DocumentReference.content.attachment.contentType = 'application/pdf'",
    "DocumentReference.content.attachment.title.count() = 1",
]
# The profile of each publisher: IHE MHD 4.2.4, ANS PDSm 3.1.1, gematik ISiK Basismodul 5.
RULES = {
    "plain": ["DocumentReference.meta.empty()"],
    "mhd": ["DocumentReference.meta.profile.where($this.contains('MHD.SimplifiedPublish')).exists()"],
    "pdsm": [
        "DocumentReference.meta.profile.where($this.contains('pdsm-simplified-publish')).exists()",
        "DocumentReference.author.count() >= 1",
        "DocumentReference.custodian.count() = 1",
        "DocumentReference.content.attachment.language = 'fr-FR'",
    ],
    "isik": [
        "DocumentReference.contained.empty()",
        "DocumentReference.subject.reference.count() = 1",
        "DocumentReference.subject.identifier.empty()",
        "DocumentReference.type.coding.where(system = 'http://dvmd.de/fhir/CodeSystem/kdl').count() = 1",
        "DocumentReference.type.coding.where(system = 'http://dvmd.de/fhir/CodeSystem/kdl').display.exists()",
        "DocumentReference.securityLabel.count() >= 1",
        "DocumentReference.content.format.count() = 1",
        "DocumentReference.context.facilityType.count() = 1",
        "DocumentReference.context.practiceSetting.count() = 1",
        "DocumentReference.relatesTo.target.all(reference.exists())",
    ],
}


class Server(ThreadingHTTPServer):
    """Keeps letters by their identifier, and has one patient of each identifier that it is told."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.letters = []
        self.lock = threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/fhir"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, body):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/fhir+json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def having(self, token):
        value = token.split("|")[-1]
        return [letter for letter in self.server.letters if letter["masterIdentifier"]["value"] == value]

    def do_GET(self):
        parts = urlsplit(self.path)
        kind, _, number = parts.path.removeprefix("/fhir/").partition("/")
        wanted = parse_qs(parts.query).get("identifier", [""])[0]
        if kind == "metadata":
            letters = {"type": "DocumentReference", "conditionalCreate": True}
            rest = [{"mode": "server", "resource": [letters]}]
            return self.answer(200, {"resourceType": "CapabilityStatement", "fhirVersion": "4.0.1", "rest": rest})
        if kind == "Patient":
            value = wanted.split("|")[-1]
            found = [{"resourceType": "Patient", "id": "one", "identifier": [{"value": value}]}]
            found = [] if value == "docsyncd-check" else found
        elif number:
            return self.answer(200, self.server.letters[int(number)])
        else:
            found = self.having(wanted)
        self.answer(200, {"resourceType": "Bundle", "type": "searchset", "entry": [{"resource": one} for one in found]})

    def do_POST(self):
        letter = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.lock:
            there = self.having(self.headers["if-none-exist"].removeprefix("identifier="))
            if there:
                return self.answer(200, there[0])
            kept = {**letter, "id": str(len(self.server.letters))}
            self.server.letters.append(kept)
        self.answer(201, kept)


@pytest.fixture
def server():
    server = Server()
    yield server
    server.shutdown()


def hold(letter, rules):
    for rule in rules:
        assert evaluate(letter, rule, {"resource": letter}) == [True], f"{rule}: {letter}"


# ISiK has no contained resources.
CASES = [(profile, patient) for profile in RULES for patient in ("contained", SEARCH) if (profile, patient) != ("isik", "contained")]


@pytest.mark.parametrize(("profile", "patient"), CASES)
def test_a_letter_is_what_the_profile_wants(tmp_path, sandbox, server, profile, patient):
    daemon = Daemon(tmp_path, sandbox.url)
    destination = DESTINATION.format(url=server.url, profile=profile, patient=patient)
    text = daemon.config.read_text().replace('type = "folder"\npath = "inbox"\n', destination)
    daemon.config.write_text(text)
    letter(sandbox, "Martin", "Zoé", "referral_letter")
    checked = daemon.run("check")
    assert checked.returncode == 0, checked.stdout
    assert not server.letters
    done = daemon.run("sync")
    assert done.returncode == 0, done.stderr
    [kept] = server.letters
    DocumentReference.model_validate_json(json.dumps(kept))
    hold(kept, ALWAYS + RULES[profile])
    attachment = kept["content"][0]["attachment"]
    pdf = base64.b64decode(attachment["data"])
    assert pdf == base64.b64decode(PDF)
    assert (attachment["size"], attachment["hash"]) == (len(pdf), base64.b64encode(hashlib.sha1(pdf).digest()).decode())
    # Reported, and nothing is sent again.
    assert daemon.run("sync").returncode == 0
    assert len(server.letters) == 1
