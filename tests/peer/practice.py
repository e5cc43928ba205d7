"""A practice: the sandbox's API with documents, and docsyncd that delivers them to a server."""

import hashlib
import json
import pathlib
import signal
import subprocess
import time
import urllib.request

KEY = "sandbox-key"
PATIENCE = 120


def ask(url, body=None, headers=(), method=None):
    headers = {"Content-Type": "application/json", **dict(headers)}
    request = urllib.request.Request(url, None if body is None else json.dumps(body).encode(), headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read()


class Sandbox:
    def __init__(self, program, folder, documents, options=()):
        ready = folder / "sandbox.json"
        command = [program, "--admin-listen", "127.0.0.1:0", "--ready-file", ready, "--documents", documents, *options]
        self.process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE
        while not ready.exists():
            if self.process.poll() is not None or time.monotonic() > end:
                raise SystemExit("the sandbox does not start")
            time.sleep(0.02)
        told = json.loads(ready.read_text())
        self.url, self.admin_url = told["url"], told["admin_url"]

    def admin(self, path, body=None, method=None):
        return json.loads(ask(f"{self.admin_url}/admin/{path}", body, method=method) or "null")

    def documents(self):
        return [document["uuid"] for document in self.admin("documents") if document["pdf"]]

    def sha256(self, uuid):
        key = {"Authorization": f"Bearer {KEY}"}
        document = json.loads(ask(f"{self.url}/documents/{uuid}", headers=key))
        return hashlib.sha256(ask(document["pdf"]["url"], headers=key)).hexdigest()

    def end(self):
        self.process.kill()
        self.process.wait()


class Docsyncd:
    def __init__(self, program, folder):
        self.program, self.folder, self.process = program, folder, None

    def configure(self, base_url, destination, sync=""):
        key, file = self.folder / "api-key", self.folder / "docsyncd.toml"
        key.write_text(KEY)
        file.write_text(f"""[api]
base_url = "{base_url}"
[accounts.main]
api_key_file = 'api-key'
[sync]
poll_interval = "2s"
{sync}
[retry]
initial = "20ms"
max = "100ms"
[state]
path = '{self.folder}/state/ledger.sqlite3'
spool_limit = "4GiB"
{destination}""")
        for private in (key, file):
            private.chmod(0o600)
        (self.folder / "state").mkdir(mode=0o700)

    def command(self, *arguments):
        return [str(self.program), "--config", str(self.folder / "docsyncd.toml"), *arguments]

    def start(self):
        log = open(self.folder / "docsyncd.log", "ab")
        self.process = subprocess.Popen(self.command("run"), stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self):
        """False when it had ended by itself."""
        runs = self.process.poll() is None
        self.process.kill()
        self.process.wait()
        return runs

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def run(self, *arguments):
        ended = subprocess.run(self.command(*arguments), stdin=subprocess.DEVNULL, capture_output=True, text=True)
        with open(self.folder / "docsyncd.log", "a") as log:
            log.write(ended.stdout + ended.stderr)
        return ended

    def log(self):
        return (self.folder / "docsyncd.log").read_text(errors="replace")

    def spooled(self):
        return [file for file in (self.folder / "state" / "spool").rglob("*") if file.is_file()]

    def forget_peak(self):
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def peak(self):
        """Bytes resident, at most, since it was started or that was forgotten."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) * 1024
