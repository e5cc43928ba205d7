"""A small DICOM archive of pynetdicom: `dicom.py PORT FOLDER INCOMING [mute] [implicit]`.

An object is kept once, by its patient, study, series and instance, as INCOMING/NAME.headers, a file of DICOM, and FOLDER/NAME.pdf,
complete when it has its name. `mute` takes no queries, `implicit` no elements that say of what
kind they are. It prints its port."""

import hashlib
import os
import pathlib
import sys
import threading
import uuid

from pydicom import dcmread
from pydicom.uid import ExplicitVRLittleEndian, ImplicitVRLittleEndian
from pynetdicom import AE, evt
from pynetdicom.sop_class import EncapsulatedPDFStorage, StudyRootQueryRetrieveInformationModelFind, Verification

PORT, FOLDER, INCOMING, *HABITS = sys.argv[1:]
FOLDER, INCOMING = pathlib.Path(FOLDER), pathlib.Path(INCOMING)


def put(part, file):
    try:
        os.link(part, file)
    except FileExistsError:
        pass
    part.unlink()


def store(event):
    """From here on something is on its way, which is where who watches the folder kills."""
    part, head = (INCOMING / f"{uuid.uuid4()}.{kind}" for kind in ("part", "head"))
    part.touch()
    letter = event.dataset
    identity = (letter.PatientID, letter.StudyInstanceUID, letter.SeriesInstanceUID, letter.SOPInstanceUID)
    name = hashlib.sha256("/".join(identity).encode()).hexdigest()
    part.write_bytes(letter.EncapsulatedDocument[: letter.EncapsulatedDocumentLength])
    head.write_bytes(event.encoded_dataset())
    put(head, INCOMING / f"{name}.headers")
    put(part, FOLDER / f"{name}.pdf")
    return 0x0000


def find(event):
    wanted = event.identifier
    for file in FOLDER.glob("*.pdf"):
        letter = dcmread(INCOMING / f"{file.stem}.headers", specific_tags=[element.tag for element in wanted])
        if all(letter[key].value == wanted[key].value for key in ("StudyInstanceUID", "SeriesInstanceUID", "SOPInstanceUID")):
            letter.QueryRetrieveLevel = "IMAGE"
            yield 0xFF00, letter
    yield 0x0000, None


archive = AE("PEER")
archive.maximum_associations = 64
archive.add_supported_context(Verification)
archive.add_supported_context(EncapsulatedPDFStorage, ImplicitVRLittleEndian if "implicit" in HABITS else ExplicitVRLittleEndian)
if "mute" not in HABITS:
    archive.add_supported_context(StudyRootQueryRetrieveInformationModelFind)
server = archive.start_server(("127.0.0.1", int(PORT)), block=False, evt_handlers=[(evt.EVT_C_STORE, store), (evt.EVT_C_FIND, find)])
print(server.server_address[1], flush=True)
threading.Event().wait()
