"""The sandbox as a program: started, and stopped again."""

import os
import subprocess
import threading

import requests

API_KEY = "sandbox-key"
EMAIL = "claire.delaunay@cabinet-delaunay.example"
PASSWORD = "sandbox"
START_SECONDS = 30
STOP_SECONDS = 10


class Sandbox:
    """A running sandbox on a free port."""

    def __init__(self, *options):
        program = os.environ.get("SANDBOX")
        if not program:
            raise RuntimeError("SANDBOX must be the path of docsyncd-sandbox; .ci/browser-and-python builds and sets it")
        command = [program, "--listen", "127.0.0.1:0", *map(str, options)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        # Whoever waits for a line that never comes should be told, so the program is ended after a while.
        bell = threading.Timer(START_SECONDS, self.process.kill)
        bell.start()
        first = self.process.stdout.readline()
        bell.cancel()
        if not first.startswith("listening on http://"):
            self.stop()
            raise RuntimeError(f"not the first line of a sandbox: {first!r}")
        self.url = first.removeprefix("listening on ").strip()
        self.admin_url = self.admin_address() if "--admin-listen" in options else None

    def admin_address(self):
        """Where its admin surface is, which is one of the lines after the first."""
        for line in self.process.stdout:
            if line.startswith("admin on "):
                return line.removeprefix("admin on ").strip()
        raise RuntimeError("the sandbox did not say where its admin surface is")

    def advance_clock(self, by):
        """Moves its clock on, as in "61s"; needs --admin-listen."""
        answer = requests.post(f"{self.admin_url}/admin/clock", json={"advance": by}, timeout=20)
        assert answer.status_code == 200, answer.text

    def get(self, path, token=API_KEY, **more):
        """Asks the API with this token; `path` may be a whole address."""
        address = path if path.startswith("http") else self.url + path
        return requests.get(address, headers={"Authorization": f"Bearer {token}"}, timeout=20, **more)

    def post(self, path, body, token=API_KEY):
        """Posts JSON to the API with this token."""
        return requests.post(self.url + path, json=body, headers={"Authorization": f"Bearer {token}"}, timeout=20)

    def stop(self):
        """Ends it; the code it ended with."""
        self.process.terminate()
        try:
            code = self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self.process.stdout.close()
        return code
