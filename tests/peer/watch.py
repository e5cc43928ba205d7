"""Watches the folder that a server serves, by inotify: when each file got its name, and whether anything was done to it then."""

import ctypes
import hashlib
import os
import select
import struct
import threading
import time

MODIFY, MOVED_FROM, MOVED_TO, CREATE, DELETE, OVERFLOW = 0x2, 0x40, 0x80, 0x100, 0x200, 0x4000
HEAD = struct.Struct("iIII")


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_temporary(name):
    return name.startswith(".docsyncd-") and name.endswith(".tmp")


class Watch:
    """`findings` are sentences about what must not be. `incoming` is where a server receives what it keeps by itself."""

    def __init__(self, peer):
        self.peer = peer
        self.findings = []
        self.sha256 = {}  # of each file with a final name, in the moment it got it
        self.since = {}  # when that was, in seconds of the wall clock
        self.named = 0
        self.begun = 0  # transfers
        self.change = threading.Condition()
        libc = ctypes.CDLL(None, use_errno=True)
        self.inotify = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        mask = MODIFY | MOVED_FROM | MOVED_TO | CREATE | DELETE
        self.data = libc.inotify_add_watch(self.inotify, bytes(peer.data), mask)
        self.incoming = libc.inotify_add_watch(self.inotify, bytes(peer.incoming), CREATE)
        if min(self.inotify, self.data, self.incoming) < 0:
            raise OSError(ctypes.get_errno(), "inotify")
        self.ends = False
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def end(self):
        """Reads what has happened by now."""
        self.ends = True
        self.thread.join()
        os.close(self.inotify)

    def read(self):
        while True:
            ends = self.ends
            if select.select([self.inotify], [], [], 0 if ends else 0.05)[0]:
                self.events(os.read(self.inotify, 1 << 16))
            elif ends:
                return

    def events(self, data):
        now, at = time.time(), 0
        with self.change:
            while at < len(data):
                watch, mask, _, length = HEAD.unpack_from(data, at)
                name = data[at + HEAD.size : at + HEAD.size + length].rstrip(b"\0").decode()
                at += HEAD.size + length
                if mask & OVERFLOW:
                    self.findings.append("more happened than could be watched")
                elif watch == self.incoming or is_temporary(name):
                    self.begun += bool(mask & CREATE)
                else:
                    self.event(mask, name, now)
            self.change.notify_all()

    def event(self, mask, name, now):
        is_pdf = name.endswith(".pdf")
        if mask & MODIFY:
            self.findings.append(f"{name} was written while it had its name")
        if mask & (MOVED_FROM | DELETE) and is_pdf:
            self.findings.append(f"{name} was taken away")
        if mask & (CREATE | MOVED_TO):
            if name in self.since and is_pdf and self.peer.keeps_names:
                self.findings.append(f"{name} got its name twice")
            path = self.peer.data / name
            try:
                found, changed = sha256(path), path.stat().st_ctime
            except FileNotFoundError:
                # A sidecar whose PDF did not get its name, or what was already told.
                return
            if self.sha256.setdefault(name, found) != found:
                self.findings.append(f"{name} was replaced by something else")
            if is_pdf and self.peer.has_sidecars and f"{name[:-4]}.txt" not in self.since:
                self.findings.append(f"{name} was there before its sidecar")
            self.since.setdefault(name, min(now, changed))
            self.named += is_pdf

    def wait(self, kind, more, seconds):
        """Until there were so many `more` of `kind`, "named" or "begun"; at most so long."""
        wanted = getattr(self, kind) + more
        with self.change:
            self.change.wait_for(lambda: getattr(self, kind) >= wanted, seconds)
