"""A DICOM archive that nobody here wrote (pynetdicom) gets letters, pydicom reads what came, and dciodvfy, where it is installed (Debian's
dicom3tools), holds it to the standard's module for encapsulated PDFs."""

import re
import shutil
import subprocess
import sys
from base64 import b64decode
from pathlib import Path

import pytest
from pydicom import dcmread
from pydicom.datadict import dictionary_VR
from pydicom.uid import EncapsulatedPDFStorage, ExplicitVRLittleEndian, ImplicitVRLittleEndian

from test_status_page import PDF, Daemon, letter, sandbox

__all__ = ["sandbox"]

DESTINATION = """type = "dicom"
host = "127.0.0.1"
port = {port}
called_ae_title = "PEER"
title = "{{{{ document.type }}}} {{{{ patient.lastName }}}}"
{more}
"""
ATTACK = "Mar\\tin^Jr=X\r\n\x1b$B\u2028Ü"


class Archive:
    """The archive of the tests that kill it, and what it keeps."""

    def __init__(self, folder, *habits):
        self.pdfs, self.objects = folder / "pdfs", folder / "objects"
        self.pdfs.mkdir(parents=True)
        self.objects.mkdir()
        script = Path(__file__).parents[1] / "peer" / "dicom.py"
        command = [sys.executable, "-B", script, "0", self.pdfs, self.objects, *habits]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def kept(self):
        return [dcmread(file) for file in sorted(self.objects.glob("*.headers"))]


@pytest.fixture(params=["explicit", "implicit"])
def archive(tmp_path, request):
    archive = Archive(tmp_path / "archive", request.param)
    archive.form = {"explicit": ExplicitVRLittleEndian, "implicit": ImplicitVRLittleEndian}[request.param]
    yield archive
    archive.process.kill()
    archive.process.communicate()


def practice(tmp_path, sandbox, archive, more=""):
    daemon = Daemon(tmp_path, sandbox.url)
    destination = DESTINATION.format(port=archive.port, more=more)
    daemon.config.write_text(daemon.config.read_text().replace('type = "folder"\npath = "inbox"\n', destination))
    return daemon


def hold(kept, archive, folder):
    """What holds for each letter."""
    assert kept.file_meta.TransferSyntaxUID == archive.form
    assert kept.SOPClassUID == EncapsulatedPDFStorage
    pdf = b64decode(PDF)
    assert kept.EncapsulatedDocument == pdf + b"\0" * (len(pdf) % 2)
    assert kept.EncapsulatedDocumentLength == len(pdf)
    assert (kept.MIMETypeOfEncapsulatedDocument, kept.Modality, kept.ConversionType) == ("application/pdf", "DOC", "WSD")
    assert kept.SpecificCharacterSet == "ISO_IR 192"
    for element in kept.iterall():
        assert element.VR == dictionary_VR(element.tag), element
        assert element.VM <= 1, element
    for uid in (kept.SOPInstanceUID, kept.StudyInstanceUID, kept.SeriesInstanceUID):
        assert uid.is_valid and re.fullmatch(r"2\.25\.[1-9][0-9]{1,38}", uid), uid
    dciodvfy = shutil.which("dciodvfy")
    if dciodvfy:
        file = folder / "object.dcm"
        kept.save_as(file)
        said = subprocess.run([dciodvfy, file], capture_output=True, text=True, check=False).stderr
        assert "EncapsulatedPDF" in said and "Error" not in said, said


@pytest.mark.parametrize("more", ["", 'verify = "query"', 'confirm = "query"'])
def test_a_letter_is_an_encapsulated_pdf(tmp_path, sandbox, archive, more):
    daemon = practice(tmp_path, sandbox, archive, more)
    letter(sandbox, "Martin", "Zoé", "referral_letter")
    checked = daemon.run("check")
    assert checked.returncode == 0, checked.stdout
    assert not archive.kept()
    done = daemon.run("sync")
    assert done.returncode == 0, done.stderr
    [kept] = archive.kept()
    hold(kept, archive, tmp_path)
    assert (kept.PatientName.family_name, kept.PatientName.given_name) == ("Martin", "Zoé")
    assert kept.DocumentTitle == "referral_letter Martin"
    [concept] = kept.ConceptNameCodeSequence
    assert (concept.CodeValue, concept.CodingSchemeDesignator) == ("57134-9", "LN")
    # Reported, and nothing is sent again.
    assert daemon.run("sync").returncode == 0
    assert len(archive.kept()) == 1


def test_names_that_attack_are_one_name(tmp_path, sandbox, archive):
    daemon = practice(tmp_path, sandbox, archive)
    letter(sandbox, ATTACK, ATTACK, "lab_slip")
    done = daemon.run("sync")
    assert done.returncode == 0, done.stderr
    [kept] = archive.kept()
    hold(kept, archive, tmp_path)
    name = kept.PatientName
    assert (name.middle_name, name.name_prefix, name.name_suffix, name.ideographic, name.phonetic) == ("",) * 5
    for text in (name.family_name, name.given_name, kept.DocumentTitle, kept.StudyDescription):
        assert not re.search(r"[\\\x00-\x1f\u2028]", text) and "Mar tin" in text, text
