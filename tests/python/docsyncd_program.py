"""docsyncd as a program, with an account that signs in."""

import os
import random
import socket
import subprocess
import threading
from dataclasses import dataclass

WAIT_SECONDS = 60

CONFIGURATION = """
[api]
base_url = "{url}"
app_url = "{url}"
[accounts.main]
auth = "oauth"
client_id = "sandbox-client"
client_secret_file = "client-secret"
redirect_port = {port}
[destinations.pms]
type = "folder"
path = "inbox"
[state]
path = "state/ledger.sqlite3"
"""


def program():
    """Where docsyncd is."""
    found = os.environ.get("DOCSYNCD")
    if not found:
        raise RuntimeError("DOCSYNCD must be the path of docsyncd; .ci/browser-and-python builds and sets it")
    return found


def free_port():
    """A port that is free now and that the system gives to nobody who asks for any: it takes those from 32768 on."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) != 0:
                return port


@dataclass
class Ended:
    """How a run of the program ended."""

    code: int
    stdout: str
    stderr: str


class Practice:
    """A folder with a configuration for this sandbox."""

    def __init__(self, folder, url, port):
        (folder / "inbox").mkdir()
        secret = folder / "client-secret"
        secret.touch(mode=0o600)
        secret.write_text("sandbox-secret")
        self.port = port
        self.config = folder / "docsyncd.toml"
        self.config.write_text(CONFIGURATION.format(url=url, port=port))
        # Who creates it as root is warned, and here there is nobody to warn.
        (folder / "state").mkdir(mode=0o700, parents=True)
        self.tokens = folder / "state" / "tokens" / "main.json"

    def command(self, *arguments):
        return [program(), "--config", str(self.config), *arguments]

    def run(self, *arguments):
        """Runs it to its end."""
        done = subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=WAIT_SECONDS)
        return Ended(done.returncode, done.stdout, done.stderr)

    def callback(self, query):
        return f"http://127.0.0.1:{self.port}/callback?{query}"


class Login:
    """`docsyncd login --no-browser` that waits for the browser."""

    def __init__(self, practice):
        self.process = subprocess.Popen(
            practice.command("login", "--no-browser"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        # Whoever waits for a line that never comes should be told, so the program is ended after a while.
        bell = threading.Timer(WAIT_SECONDS, self.process.kill)
        bell.start()
        self.printed = ""
        for line in self.process.stdout:
            self.printed += line
            if line.startswith("    http"):
                break
        bell.cancel()
        self.address = line.strip()
        assert self.address.startswith("http"), self.printed

    def ended(self):
        """Waits for its end."""
        stdout, stderr = self.process.communicate(timeout=WAIT_SECONDS)
        return Ended(self.process.returncode, self.printed + stdout, stderr)

    def stop(self):
        """Ends it if it still waits."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
