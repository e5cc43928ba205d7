"""moto with a disk: what was put is kept as a file and put again at the next start, so that a kill of the process loses nothing that
was answered. Bodies that were cut off or do not have their checksum are refused, as S3 does it and moto does not."""

import base64
import hashlib
import io
import itertools
import json
import os
import pathlib
import threading
import urllib.parse

from werkzeug.test import Client

NAME = "docs"
# moto asks for a signature, and does not look at it.
SIGNED = "AWS4-HMAC-SHA256 Credential=AK/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"


class Bucket:
    def __init__(self, app, folder, incoming, habits):
        self.app, self.folder, self.incoming = app, pathlib.Path(folder), pathlib.Path(incoming)
        self.blind = "blind" in habits
        self.numbers = itertools.count()
        self.one_at_a_time = threading.Lock()
        client = Client(app)
        client.put(f"/{NAME}", headers={"authorization": SIGNED}).get_data()
        for file in self.folder.iterdir():
            headers = json.loads((self.incoming / f"{file.name}.headers").read_text())
            key = urllib.parse.unquote(file.name)
            path = urllib.parse.quote(f"/{NAME}/{key}")
            answer = client.put(path, data=file.read_bytes(), headers={**headers, "authorization": SIGNED})
            assert answer.status_code == 200, answer.get_data()

    def __call__(self, environ, start):
        path, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
        if not path.startswith(f"/{NAME}/") or method not in ("PUT", "DELETE"):
            return self.app(environ, start)
        name = urllib.parse.quote(path.removeprefix(f"/{NAME}/").encode("latin-1"), safe="")
        if method == "DELETE":
            with self.one_at_a_time:
                (self.folder / name).unlink(missing_ok=True)
                return list(self.app(environ, start))
        return self.put(environ, start, name)

    def put(self, environ, start, name):
        temporary = self.incoming / f"{os.getpid()}-{next(self.numbers)}"
        size = int(environ.get("CONTENT_LENGTH") or 0)
        with open(temporary, "wb") as file:
            body = environ["wsgi.input"].read(size)
            file.write(body)
        if len(body) != size:
            return refuse(start, "400 Bad Request", "IncompleteBody")
        if self.blind and "HTTP_IF_NONE_MATCH" in environ:
            return refuse(start, "501 Not Implemented", "NotImplemented")
        checksum = environ.get("HTTP_X_AMZ_CHECKSUM_SHA256")
        if checksum and base64.b64decode(checksum) != hashlib.sha256(body).digest():
            return refuse(start, "400 Bad Request", "BadDigest")
        environ["wsgi.input"] = io.BytesIO(body)
        statuses = []

        def started(status, headers, *more):
            statuses.append((status, headers))
            return start(status, headers, *more)

        with self.one_at_a_time:
            answer = list(self.app(environ, started))
            if statuses[0][0].startswith("200"):
                metadata = {
                    header.removeprefix("HTTP_").replace("_", "-").lower(): value
                    for header, value in environ.items()
                    if header.startswith("HTTP_X_AMZ_META_")
                }
                (self.incoming / f"{name}.headers").write_text(json.dumps(metadata))
                os.replace(temporary, self.folder / name)
        return answer


def refuse(start, status, code):
    start(status, [("Content-Type", "application/xml"), ("Connection", "close")])
    return [f"<Error><Code>{code}</Code><Message>refused</Message></Error>".encode()]
