"""A small FHIR R4 server: `fhir.py PORT FOLDER INCOMING [careless]`. Its patients are whoever is asked for.

A letter is kept as INCOMING/ID.headers, the resource without its PDF, and FOLDER/ID.pdf, complete when it has its name. `careless` does not heed
If-None-Exist, and says so in /metadata. It prints its port."""

import base64
import http.server
import json
import os
import pathlib
import sys
import urllib.parse
import uuid

PORT, FOLDER, INCOMING, *HABITS = sys.argv[1:]
FOLDER, INCOMING = pathlib.Path(FOLDER), pathlib.Path(INCOMING)
HEEDS = "careless" not in HABITS


def letter(number):
    """The resource, if its PDF is there."""
    if not (FOLDER / f"{number}.pdf").exists():
        return None
    return json.loads((INCOMING / f"{number}.headers").read_text())


def having(token):
    """The letters of an identifier."""
    value = token.partition("|")[2]
    numbers = [file.stem for file in FOLDER.glob("*.pdf")]
    return [found for found in map(letter, numbers) if found and found["masterIdentifier"]["value"] == value]


def keep(resource, part):
    """The number of the letter; one that is there already is kept as it is. One step, also for who kills this process."""
    identity = resource["masterIdentifier"]["value"].removeprefix("urn:uuid:")
    number = identity if HEEDS else str(uuid.uuid4())
    part.write_bytes(base64.b64decode(resource["content"][0]["attachment"].pop("data"), validate=True))
    if letter(number) is None:
        told = INCOMING / f"{part.stem}.json"
        told.write_text(json.dumps({**resource, "id": number}))
        os.replace(told, INCOMING / f"{number}.headers")
        try:
            os.link(part, FOLDER / f"{number}.pdf")
        except FileExistsError:
            pass
    part.unlink()
    return number


class Service(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/fhir+json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        kind, _, number = url.path.removeprefix("/fhir/").partition("/")
        wanted = urllib.parse.parse_qs(url.query).get("identifier", [""])[0]
        if kind == "metadata":
            rest = [{"mode": "server", "resource": [{"type": "DocumentReference", "conditionalCreate": HEEDS}]}]
            return self.answer(200, {"resourceType": "CapabilityStatement", "fhirVersion": "4.0.1", "rest": rest})
        if kind == "Patient":
            system, _, value = wanted.partition("|")
            found = [{"resourceType": "Patient", "id": "one", "identifier": [{"system": system, "value": value}]}]
            found = [] if value == "docsyncd-check" else found
        elif number:
            found = letter(number)
            return self.answer(200 if found else 404, found)
        else:
            found = having(wanted)
        self.answer(200, {"resourceType": "Bundle", "type": "searchset", "entry": [{"resource": one} for one in found]})

    def do_POST(self):
        size = int(self.headers["Content-Length"])
        # From here on something is on its way, which is where who watches the folder kills.
        part = INCOMING / f"{uuid.uuid4()}.part"
        part.touch()
        body = self.rfile.read(size)
        if len(body) < size:
            self.close_connection = True
            return
        there = having(self.headers["If-None-Exist"].removeprefix("identifier=")) if HEEDS else []
        self.answer(200 if there else 201, there[0] if there else letter(keep(json.loads(body), part)))


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        # Connections that are killed at the other end.
        pass


server = Server(("127.0.0.1", int(PORT)), Service)
print(server.server_port, flush=True)
server.serve_forever()
