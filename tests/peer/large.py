"""A documents API with large PDFs, each almost the same and none in memory: `large.py DOCUMENTS BYTES`. It prints its address and
serves until it is killed. What it shows is the least that docsyncd asks for; everything else is the sandbox's."""

import http.server
import json
import sys
import urllib.parse

COUNT, BYTES = map(int, sys.argv[1:])
AT = "2026-03-01T09:30:00+00:00"
PIECE = b"\0" * (1 << 20)
UUIDS = [f"{number:08x}-1111-4111-8111-{number:012x}" for number in range(COUNT)]
REPORTED = {}


def head(number):
    return b"%%PDF-1.4 %08x\n" % number


def document(number, is_whole):
    times = {"createdAt": AT, "updatedAt": AT}
    person = {**times, "uuid": f"00000000-3333-4333-8333-{number:012x}", "firstName": "Zoé", "lastName": "Name"}
    pdf = f"{number:08x}-2222-4222-8222-{number:012x}"
    shown = {"uuid": UUIDS[number], **times, "type": "lab_slip", "isAnonymized": False, "genericContactSpecialty": ""}
    if not is_whole:
        return {**shown, "user": person["uuid"], "patient": person["uuid"], "pdf": pdf}
    url = f"http://127.0.0.1:{SERVER.server_port}/media/{number}"
    pdf = {**times, "uuid": pdf, "name": "a.pdf", "fileName": "a.pdf", "size": BYTES, "url": url}
    return {**shown, "user": person, "patient": person, "pdf": pdf, "documentIntegrations": []}


class Api(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path, _, query = self.path.partition("?")
        parts = path.strip("/").split("/")
        if parts == ["reported"]:
            return self.answer(REPORTED)
        if parts[0] == "media":
            return self.media(int(parts[1]))
        if len(parts) == 2:
            return self.answer(document(UUIDS.index(parts[1]), True))
        # All of them are on the first page.
        is_empty = urllib.parse.parse_qs(query).get("page", ["1"]) != ["1"]
        self.answer([] if is_empty else [document(n, False) for n in range(COUNT) if UUIDS[n] not in REPORTED])

    def media(self, number):
        self.send_response(200)
        self.send_header("Content-Type", "application/pdf")
        self.send_header("Content-Length", str(BYTES))
        self.end_headers()
        self.wfile.write(head(number))
        left = BYTES - len(head(number))
        while left:
            self.wfile.write(PIECE[:left])
            left -= min(left, len(PIECE))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        uuid = self.path.split("/")[2]
        REPORTED[uuid] = body["success"]
        self.answer(document(UUIDS.index(uuid), True))


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass


SERVER = Server(("127.0.0.1", 0), Api)
print(f"http://127.0.0.1:{SERVER.server_port}", flush=True)
SERVER.serve_forever()
