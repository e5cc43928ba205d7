"""Reads an archive of IHE XDM as software of the other side would, and ends with 1 where it is not what the profile says:
xdm.py ARCHIVE…

IHE ITI TF-2, 3.32.4.1.2 (the files), TF-3, 4.2 (the metadata), and the schemas of ebXML RegRep 3.0 for the order of elements."""

import hashlib
import re
import sys
import xml.etree.ElementTree as ElementTree
import zipfile

RIM = "{urn:oasis:names:tc:ebxml-regrep:xsd:rim:3.0}"
LCM = "{urn:oasis:names:tc:ebxml-regrep:xsd:lcm:3.0}"
# RegistryObjectType and its extensions: these, in this order.
ORDER = ["Slot", "Name", "Description", "VersionInfo", "Classification", "ExternalIdentifier"]
CLASSES = {
    "41a5887f-8865-4c09-adf7-e362475b143a": "classCode",
    "f4f85eac-e6cb-4883-b524-f2705394840f": "confidentialityCode",
    "a09d5840-386c-46f2-b5ad-9c3699a4309d": "formatCode",
    "f33fb8ac-18af-42cc-ae0e-ed0b0bdb91e1": "healthcareFacilityTypeCode",
    "cccf5598-8b07-4b77-a05e-ae952c785ead": "practiceSettingCode",
    "f0306f51-975f-434e-a61c-c59651d33983": "typeCode",
}
DOCUMENT = {"58a6f841-87b3-4a3e-92fd-a8ffeff98427", "2e82c1f6-a085-4c72-9da3-8640a32e42ab"}
SET = {
    "6b5aea1a-874d-4603-a4bc-96a0a7b38446",
    "554ac39e-e3fe-47fe-b233-965d2a147832",
    "96fdda7c-d067-4183-912e-bf5ee74998a8",
}
OID = re.compile(r"[0-2](\.(0|[1-9][0-9]*))+")
# An id that the schema takes (anyURI), and no two are alike.
seen = set()


def values(thing, name):
    found = [slot for slot in thing.findall(f"{RIM}Slot") if slot.get("name") == name]
    assert len(found) == 1, f"{len(found)} slots {name}"
    return [value.text for value in found[0].findall(f"{RIM}ValueList/{RIM}Value")]


def is_ordered(thing):
    places = [ORDER.index(child.tag.removeprefix(RIM)) for child in thing]
    assert places == sorted(places), f"the elements of {thing.tag} are in another order"
    assert thing.get("id") and thing.get("id") not in seen, f"no id of its own: {thing.get('id')}"
    seen.add(thing.get("id"))
    for child in thing:
        if child.tag in (f"{RIM}Classification", f"{RIM}ExternalIdentifier"):
            is_ordered(child)


def identifiers(thing):
    found = {}
    for one in thing.findall(f"{RIM}ExternalIdentifier"):
        assert one.get("registryObject") == thing.get("id")
        assert one.find(f"{RIM}Name/{RIM}LocalizedString") is not None
        found[one.get("identificationScheme").removeprefix("urn:uuid:")] = one.get("value")
    return found


def classes(thing):
    found = {}
    for one in thing.findall(f"{RIM}Classification"):
        assert one.get("classifiedObject") == thing.get("id")
        found[one.get("classificationScheme").removeprefix("urn:uuid:")] = one
    return found


def check(path):
    seen.clear()
    archive = zipfile.ZipFile(path)
    assert archive.testzip() is None, "a checksum is wrong"
    assert {"INDEX.HTM", "README.TXT", "IHE_XDM/SUBSET01/METADATA.XML"} <= set(archive.namelist()), archive.namelist()
    ElementTree.fromstring(archive.read("INDEX.HTM"))
    request = ElementTree.fromstring(archive.read("IHE_XDM/SUBSET01/METADATA.XML"))
    assert request.tag == f"{LCM}SubmitObjectsRequest"
    (objects,) = request
    assert objects.tag == f"{RIM}RegistryObjectList"
    (document,), (submission,) = objects.findall(f"{RIM}ExtrinsicObject"), objects.findall(f"{RIM}RegistryPackage")
    for thing in objects:
        is_ordered(thing)
    assert document.get("mimeType") == "application/pdf"
    assert document.get("objectType") == "urn:uuid:7edca82f-054d-47f2-a032-9b2a5b5186c1"
    content = archive.read("IHE_XDM/SUBSET01/" + values(document, "URI")[0])
    assert values(document, "size") == [str(len(content))]
    assert values(document, "hash") == [hashlib.sha1(content).hexdigest()]
    assert re.fullmatch(r"\d{14}", values(document, "creationTime")[0])
    assert re.fullmatch(r"\d{14}", values(submission, "submissionTime")[0])
    assert values(document, "languageCode") and values(document, "sourcePatientInfo")
    coded = classes(document)
    for scheme, name in CLASSES.items():
        assert coded[scheme].get("nodeRepresentation") and values(coded[scheme], "codingScheme"), name
    ids, set_ids = identifiers(document), identifiers(submission)
    assert ids.keys() == DOCUMENT and set_ids.keys() == SET
    patient = ids["58a6f841-87b3-4a3e-92fd-a8ffeff98427"]
    assert re.fullmatch(r"[^^]+\^\^\^&" + OID.pattern + "&ISO", patient), patient
    assert set_ids["6b5aea1a-874d-4603-a4bc-96a0a7b38446"] == patient
    for oid in (ids["2e82c1f6-a085-4c72-9da3-8640a32e42ab"], *list(set_ids.values())[1:]):
        assert OID.fullmatch(oid), oid
    (node,) = objects.findall(f"{RIM}Classification")
    assert node.get("classificationNode") == "urn:uuid:a54d6aa5-d40d-43f9-88c5-b4633d873bdd"
    assert node.get("classifiedObject") == submission.get("id")
    member = objects.findall(f"{RIM}Association")[0]
    assert (member.get("sourceObject"), member.get("targetObject")) == (submission.get("id"), document.get("id"))
    assert values(member, "SubmissionSetStatus") == ["Original"]


for path in sys.argv[1:]:
    check(path)
    print(f"{path}: an archive of IHE XDM")
