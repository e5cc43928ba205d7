"""A FHIR server that nobody here wrote checks what it gets: fhir.resources validates the resource as FHIR R4 (R4B, in which a
DocumentReference has the same fields), and FHIRPath the rules of the published profiles."""

import base64
import hashlib
import json
import subprocess
import sys
from pathlib import Path

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


class Server:
    """The server of the tests that kill it, and what it keeps."""

    def __init__(self, folder):
        self.pdfs, self.letters = folder / "pdfs", folder / "letters"
        self.pdfs.mkdir(parents=True)
        self.letters.mkdir()
        command = [sys.executable, "-B", Path(__file__).parents[1] / "peer" / "fhir.py", "0", self.pdfs, self.letters]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}/fhir"

    def kept(self):
        """Each letter, as FHIR has it, and its PDF."""
        letters = [(json.loads(file.read_text()), self.pdfs / f"{file.stem}.pdf") for file in self.letters.glob("*.headers")]
        return [(letter, pdf.read_bytes()) for letter, pdf in letters]


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path / "server")
    yield server
    server.process.kill()
    server.process.communicate()


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
    assert not server.kept()
    done = daemon.run("sync")
    assert done.returncode == 0, done.stderr
    [(kept, pdf)] = server.kept()
    attachment = kept["content"][0]["attachment"]
    assert pdf == base64.b64decode(PDF)
    assert (attachment["size"], attachment["hash"]) == (len(pdf), base64.b64encode(hashlib.sha1(pdf).digest()).decode())
    attachment["data"] = base64.b64encode(pdf).decode()
    DocumentReference.model_validate_json(json.dumps(kept))
    hold(kept, ALWAYS + RULES[profile])
    # Reported, and nothing is sent again.
    assert daemon.run("sync").returncode == 0
    assert len(server.kept()) == 1
