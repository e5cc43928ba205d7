"""A small service that takes PDFs over HTTP, for what no ready server does: `upload.py PORT FOLDER INCOMING [as_it_comes] [liar]`. It
stands for the software that practices have, of which none can be installed here.

PUT  /put/KEY       the PDF; 412 when KEY is there and the request has If-None-Match
POST /probe         a form, whose `file` is kept again at each request; GET /known/KEY tells whether it is there
POST /once          JSON; knows Idempotency-Key, and keeps what comes again once
POST /blind         JSON; knows nothing, and keeps what comes again once more
GET, HEAD           of what was put, with its x-amz-meta- headers: enough of S3 for a bucket without a name of its own

A kept document is FOLDER/KEY.pdf, complete when it has its name. `as_it_comes` keeps bodies without taking the PDF out of them;
`liar` answers a PUT before it keeps what came, and keeps it half a second later."""

import base64
import email.parser
import email.policy
import http.server
import itertools
import json
import os
import pathlib
import shutil
import sys
import threading
import urllib.parse

PORT, FOLDER, INCOMING, *HABITS = sys.argv[1:]
FOLDER, INCOMING = pathlib.Path(FOLDER), pathlib.Path(INCOMING)
NUMBERS = itertools.count()
METADATA = {}


def pdf_of(body, kind):
    """What a form or JSON holds."""
    if kind.startswith("multipart/"):
        head = b"Content-Type: " + kind.encode() + b"\r\n\r\n"
        parts = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body).iter_parts()
        return next(part for part in parts if part.get_filename()).get_payload(decode=True)
    return base64.b64decode(json.loads(body)["pdf"], validate=True)


def file_of(key, again=0):
    return FOLDER / (urllib.parse.quote(key.removesuffix(".pdf"), safe="") + (f"~{again}" if again else "") + ".pdf")


class Service(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def parse_request(self):
        if not super().parse_request():
            return False
        # What follows is the signature of S3.
        self.path = self.path.partition("?")[0]
        return True

    def log_message(self, *_):
        pass

    def answer(self, status, headers=()):
        self.send_response(status)
        for name, value in {"Content-Length": "0", **dict(headers)}.items():
            self.send_header(name, value)
        self.end_headers()

    def received(self):
        """The body's file; `None` when it was cut off."""
        left = int(self.headers["Content-Length"])
        file = INCOMING / f"{os.getpid()}-{next(NUMBERS)}"
        with open(file, "wb") as output:
            while left and (piece := self.rfile.read(min(left, 1 << 16))):
                output.write(piece)
                left -= len(piece)
        return None if left else file

    def do_PUT(self):
        key = self.path.removeprefix("/put/")
        if (file := self.received()) is None:
            self.close_connection = True
        elif "liar" in HABITS:
            threading.Timer(0.5, self.keep, (file, key)).start()
            self.answer(201)
        else:
            METADATA[key] = {name: value for name, value in self.headers.items() if name.lower().startswith("x-amz-meta-")}
            self.answer(201 if self.keep(file, key) else 412)

    def do_POST(self):
        key, way = self.headers["Idempotency-Key"], self.path.strip("/")
        if (file := self.received()) is None:
            self.close_connection = True
            return
        if "as_it_comes" not in HABITS:
            file.write_bytes(pdf_of(file.read_bytes(), self.headers["Content-Type"]))
        again = 0
        while not self.keep(file, key, again) and way != "once":
            again += 1
        self.answer(200)

    def keep(self, file, key, again=0):
        """Whether the name was free; as one step, also for who kills this process."""
        try:
            os.link(file, file_of(key, again))
        except FileExistsError:
            return False
        os.unlink(file)
        return True

    def do_GET(self):
        way, _, key = self.path.strip("/").partition("/")
        file = file_of(key if way in ("put", "known") else self.path)
        if not file.exists():
            return self.answer(404)
        if way == "known":
            return self.answer(200)
        self.answer(200, [("Content-Length", str(file.stat().st_size)), *METADATA.get(self.path, {}).items()])
        if self.command == "GET":
            with open(file, "rb") as content:
                shutil.copyfileobj(content, self.wfile)

    do_HEAD = do_GET


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        # Connections that are killed at the other end.
        pass


Server(("127.0.0.1", int(PORT)), Service).serve_forever()
