"""Alarms against receivers that nobody here wrote: aiosmtpd, the verifier of Standard Webhooks, and a heartbeat's server."""

import email
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from aiosmtpd.controller import Controller
from standardwebhooks.webhooks import Webhook

from docsyncd_program import WAIT_SECONDS, free_port
from test_status_page import Daemon, letter, sandbox

__all__ = ["sandbox"]

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ALERTS = """
[alerts]
language = "en"
after = "3s"
heartbeat_url_file = "heartbeat"
webhook_url_file = "webhook"
webhook_secret_file = "webhook-secret"
[alerts.mail]
host = "127.0.0.1"
port = {port}
encryption = "none"
from = "docsyncd@practice.test"
to = ["it@practice.test"]
"""


class Kept:
    """What came, and how to wait for more."""

    def __init__(self):
        self.all = []
        self.came = threading.Condition()

    def add(self, one):
        with self.came:
            self.all.append(one)
            self.came.notify_all()

    def wait_for(self, condition, what):
        with self.came:
            assert self.came.wait_for(lambda: condition(self.all), WAIT_SECONDS), f"{what}: {self.all}"


class Mailbox(Kept):
    """A handler of aiosmtpd."""

    async def handle_DATA(self, server, session, envelope):
        self.add(email.message_from_bytes(envelope.content))
        return "250 taken"


@pytest.fixture
def mailbox():
    mailbox = Mailbox()
    mailbox.port = free_port()
    controller = Controller(mailbox, hostname="127.0.0.1", port=mailbox.port)
    controller.start()
    yield mailbox
    controller.stop()


@pytest.fixture
def web():
    web = Kept()

    class Handler(BaseHTTPRequestHandler):
        def answer(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            web.add((f"{self.command} {self.path}", dict(self.headers), body))
            self.send_response(200)
            self.end_headers()

        do_GET = do_POST = answer

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    web.url = f"http://127.0.0.1:{server.server_port}"
    yield web
    server.shutdown()


@pytest.fixture
def daemon(tmp_path, sandbox, web, mailbox):
    folder = tmp_path / "practice"
    folder.mkdir()
    daemon = Daemon(folder, sandbox.url)
    for name, content in (("heartbeat", f"{web.url}/ping"), ("webhook", f"{web.url}/hook"), ("webhook-secret", SECRET)):
        (folder / name).touch(mode=0o600)
        (folder / name).write_text(content)
    daemon.config.write_text(daemon.config.read_text() + ALERTS.format(port=mailbox.port))
    yield daemon
    daemon.stop()


def kill(daemon):
    daemon.process.kill()
    daemon.process.wait(WAIT_SECONDS)


def test_an_outage_with_kills_in_between_is_two_messages_a_channel(daemon, sandbox, web, mailbox):
    for number in range(50):
        letter(sandbox, f"Zqxname{number}", "Zoé", "patient_letter")
    (daemon.folder / "inbox").rmdir()
    daemon.start()
    # Before anybody was told, and after.
    daemon.wait_for(lambda status: status["pauses"])
    kill(daemon)
    daemon.start()
    hooks = lambda all: [one for one in all if one[0] == "POST /hook"]
    web.wait_for(lambda all: len(hooks(all)) >= 1, "the problem by webhook")
    mailbox.wait_for(lambda all: len(all) >= 1, "the problem by mail")
    for _ in range(2):
        kill(daemon)
        daemon.start()
        daemon.wait_for(lambda status: status["pauses"])
    assert web.all[-1][0] in ("GET /ping/fail", "GET /ping/start", "POST /hook"), "nothing is well"
    (daemon.folder / "inbox").mkdir()
    daemon.wait_for(lambda status: status["documents"]["reported"] == 50)
    web.wait_for(lambda all: len({one[1]["webhook-id"] for one in hooks(all)}) >= 2, "the end by webhook")
    mailbox.wait_for(lambda all: len({mail["message-id"] for mail in all}) >= 2, "the end by mail")
    kill(daemon)

    told = {}
    for _, headers, body in hooks(web.all):
        message = Webhook(SECRET).verify(body, {name.lower(): value for name, value in headers.items()})
        # What a kill left without an answer comes again under the same identifier, word for word.
        assert told.setdefault(headers["webhook-id"], message) == json.loads(body)
    kinds = [message["kind"] for message in told.values()]
    assert kinds == ["problem", "over"], told
    mails = {mail["message-id"]: mail for mail in mailbox.all}
    assert len(mails) == 2, mailbox.all
    bodies = [mail.get_payload(decode=True).decode() for mail in mails.values()]
    assert "the destination pms cannot be reached" in bodies[0] and "can be reached again" in bodies[1], bodies
    for text in [*bodies, *(body.decode() for _, _, body in web.all)]:
        assert "zqx" not in text.lower()
    paths = [one[0] for one in web.all]
    assert paths[0] == "GET /ping/start" and "GET /ping/fail" in paths, paths
