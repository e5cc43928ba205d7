"""What docsyncd costs, as ratios against named alternatives in one run: see README.md. `measure.py DOCSYNCD SERVER LIMIT [--short]`.

Every round is checked: each document filed once, reported once, downloaded once."""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

KEY = "bench-key"
WIDE = 16
OWN_NAME = "{{ document.uuid }}.pdf"
PDF_BYTES = 60 * 1024
HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests" / "peer"))

import node_red  # noqa: E402: it lies beside this file
import peers  # noqa: E402: it lies beside the tests


class Server:
    """The documents API, in a process of its own."""

    def __init__(self, program, documents, latency=0):
        command = [program, str(documents), str(PDF_BYTES), str(latency)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split()[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def state(self):
        with urllib.request.urlopen(f"{self.url}/state") as answer:
            return json.load(answer)


class OpenSsh(peers.OpenSsh):
    file_name = OWN_NAME
    has_sidecars = False


class Cost:
    """What a process took: seconds of wall, seconds of processor, bytes resident at its peak."""

    def __init__(self, command, folder):
        log = open(folder / "output", "ab")
        began = time.monotonic()
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
        self.wall = time.monotonic() - began
        if status:
            sys.exit(f"{command[0]} failed: {(folder / 'output').read_text()[-1000:]}")
        self.processor = usage.ru_utime + usage.ru_stime
        self.peak = usage.ru_maxrss * 1024


class WithShell(OpenSsh):
    """As a distribution installs it: rclone compares checksums, which it has `md5sum` make there. What the user's `.bashrc` does is
    left out: bash reads it for ssh in the first shell only."""

    forced = "SetEnv SHLVL=1"


class Measure:
    def __init__(self, arguments):
        self.docsyncd = str(pathlib.Path(arguments.docsyncd).resolve())
        self.server = str(pathlib.Path(arguments.server).resolve())
        self.least = str(pathlib.Path(arguments.limit).resolve())
        self.short = arguments.short
        self.rounds = 1 if arguments.short else arguments.rounds
        self.rest = 3 if arguments.short else arguments.rest
        self.disk = pathlib.Path(tempfile.mkdtemp(prefix="docsyncd-bench-", dir=arguments.disk))
        self.memory = pathlib.Path(tempfile.mkdtemp(prefix="docsyncd-bench-", dir="/dev/shm"))

    def few(self, count):
        return max(count // 20, 20) if self.short else count

    def remove(self):
        # At the end: ext4 is slow to give out inodes that were freed in the last minute.
        for folder in (self.disk, self.memory):
            shutil.rmtree(folder, ignore_errors=True)

    def folder(self, below):
        folder = pathlib.Path(tempfile.mkdtemp(dir=below))
        (folder / "inbox").mkdir()
        return folder

    def configure(self, folder, url, more="", accounts=1, destination=None):
        # Each in a folder of its own, as the packages have them: only so is the folder of the key watched.
        for below in ("secrets", "state"):
            (folder / below).mkdir(mode=0o700, exist_ok=True)
        (folder / "secrets" / "key").write_text(KEY)
        (folder / "secrets" / "key").chmod(0o600)
        names = ["main"] if accounts == 1 else [f"a{number}" for number in range(accounts)]
        text = f'[api]\nbase_url = "{url}"\n[sync]\nmax_concurrency = {WIDE}\n{more}\n'
        text += "".join(f"[accounts.{name}]\napi_key_file = 'secrets/key'\n" for name in names)
        own = f"[destinations.pms]\ntype = \"folder\"\npath = '{folder}/inbox'\nfile_name = \"{OWN_NAME}\"\n"
        text += destination or own
        text += f"[state]\npath = '{folder}/state/ledger.sqlite3'\n"
        (folder / "docsyncd.toml").write_text(text)
        return str(folder / "docsyncd.toml")

    def checked(self, server, inbox, documents):
        state, filed = server.state(), len(list(inbox.glob("*.pdf")))
        expected = {"synchronized": documents, "reports": documents, "downloads": documents}
        if state != expected or filed != documents:
            sys.exit(f"{filed} files and {state} instead of {documents} of each")

    def sync(self, below, documents, latency=0):
        with Server(self.server, documents, latency) as server:
            folder = self.folder(below)
            cost = Cost([self.docsyncd, "sync", "--config", self.configure(folder, server.url)], folder)
            self.checked(server, folder / "inbox", documents)
            return cost

    def alternative(self, program, below, documents):
        with Server(self.server, documents) as server:
            folder = self.folder(below)
            cost = Cost([*program, server.url, KEY, str(folder / "inbox"), str(WIDE)], folder)
            self.checked(server, folder / "inbox", documents)
            return cost

    def script(self, below, documents):
        return self.alternative([sys.executable, str(HERE / "script.py")], below, documents)

    def limit(self, below, documents):
        return self.alternative([self.least], below, documents)

    def node_red(self, documents):
        with Server(self.server, documents) as server:
            folder = self.folder(self.disk)
            cost = node_red.run(os.environ["DOCSYNCD_BENCH_NODE"], server, folder, documents, usage)
            self.checked(server, folder / "inbox", documents)
            return cost

    def curl(self, documents):
        """The three requests of each document by one curl, which keeps its connection and throws everything away."""
        with Server(self.server, documents) as server:
            folder = self.folder(self.memory)
            uuids, page = [], 1
            while len(uuids) < documents:
                with urllib.request.urlopen(f"{server.url}/documents?itemsPerPage=100&page={page}") as answer:
                    uuids += [item["uuid"] for item in json.load(answer)]
                page += 1
            requests = []
            for number, uuid in enumerate(uuids):
                for path in (f"documents/{uuid}", f"media/{number}"):
                    requests.append(f'url = "{server.url}/{path}"\noutput = "/dev/null"\n')
                requests.append(
                    f'url = "{server.url}/documents/{uuid}/status"\noutput = "/dev/null"\n'
                    'header = "Content-Type: application/json"\ndata = "{\\"success\\":true,\\"error\\":null}"\n'
                )
            (folder / "curl").write_text("silent\n" + "next\nsilent\n".join(requests))
            return Cost(["curl", "--config", str(folder / "curl")], folder)

    def over_ssh(self, server, below, documents):
        """docsyncd's delivery to OpenSSH, and rclone's copy of as many files as large to the same server, which has them lie there
        already: it asks no API and reports nothing. Then how long rclone takes to read back what it copied, as docsyncd has done."""
        rclone, folder = peers.installed("rclone"), self.folder(below)
        openssh = server(folder / "openssh", sys.executable)
        openssh.start()
        try:
            with Server(self.server, documents) as server:
                config = self.configure(folder, server.url, destination=openssh.destination(4))
                ours = Cost([self.docsyncd, "sync", "--config", config], folder)
                self.checked(server, openssh.data, documents)
            for number in range(documents):
                (folder / "inbox" / f"{number}.pdf").write_bytes(os.urandom(PDF_BYTES))
            there = ["--sftp-host", "127.0.0.1", "--sftp-port", str(openssh.port), "--sftp-user", openssh.user]
            there += ["--sftp-key-file", str(openssh.folder / "id"), "--config", str(folder / "none")]
            (openssh.folder / "copied").mkdir()
            target = f":sftp:{openssh.folder}/copied"
            copied = Cost([rclone, "copy", "--transfers", "4", *there, str(folder / "inbox"), target], folder)
            if len(os.listdir(openssh.folder / "copied")) != documents:
                sys.exit("rclone did not copy all")
            read_back = [rclone, "check", "--download", "--checkers", "4", *there, str(folder / "inbox"), target]
            return ours, copied, Cost(read_back, folder)
        finally:
            openssh.kill()

    def floor(self, files):
        """Seconds in which the disk takes so many files from 16 writers: written, fsynced, renamed, the folder fsynced."""
        folder = self.folder(self.disk) / "inbox"
        content, numbers, lock = os.urandom(PDF_BYTES), iter(range(files)), threading.Lock()

        def write():
            handle = os.open(folder, os.O_RDONLY)
            while True:
                with lock:
                    number = next(numbers, None)
                if number is None:
                    return os.close(handle)
                part = folder / f"{number}.part"
                with open(part, "wb", buffering=0) as output:
                    output.write(content)
                    os.fsync(output.fileno())
                os.rename(part, folder / f"{number}.pdf")
                os.fsync(handle)

        writers = [threading.Thread(target=write) for _ in range(WIDE)]
        began = time.monotonic()
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        return time.monotonic() - began

    def service(self, folder, config):
        """A daemon that is ready, and the milliseconds that took."""
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notify.bind(str(folder / "notify"))
        notify.settimeout(60)
        # As systemd makes one for it.
        runtime = tempfile.mkdtemp(dir=self.memory)
        environment = {**os.environ, "NOTIFY_SOCKET": str(folder / "notify"), "RUNTIME_DIRECTORY": runtime}
        began = time.monotonic()
        log = open(folder / "output", "ab")
        process = subprocess.Popen([self.docsyncd, "--config", config, "run"], env=environment, stdout=log, stderr=log)
        while b"READY=1" not in notify.recv(4096):
            pass
        return process, (time.monotonic() - began) * 1000

    def at_rest(self, documents, accounts, seconds):
        """After a backlog: milliseconds until ready, bytes resident, and an hour's seconds of processor and bytes written."""
        with Server(self.server, documents) as server:
            folder = self.folder(self.disk)
            process, ready = self.service(folder, self.configure(folder, server.url, accounts=accounts))
            while server.state()["reports"] < documents:
                time.sleep(0.2)
            # The polls after the last report ask twice, one interval apart, whether each document has left the list.
            time.sleep(2 if self.short else 150 if documents else 15)
            before, began = usage(process.pid), time.monotonic()
            time.sleep(seconds)
            hours = (time.monotonic() - began) / 3600
            after = usage(process.pid)
            process.send_signal(signal.SIGTERM)
            if process.wait(60):
                sys.exit(f"the service ended with {process.returncode}")
            return ready, after[0], (after[1] - before[1]) / hours, (after[2] - before[2]) / hours


def usage(pid):
    """Bytes resident, seconds of processor, bytes written."""
    process = pathlib.Path(f"/proc/{pid}")
    resident = int(re.search(r"VmRSS:\s+(\d+)", (process / "status").read_text())[1]) * 1024
    # clock_getcpuclockid(3): /proc counts in hundredths of a second, and at rest that is an hour's second in half a minute.
    processor = time.clock_gettime((~pid << 3) | 2)
    written = int(re.search(r"write_bytes: (\d+)", (process / "io").read_text())[1])
    return resident, processor, written


def megabytes(number):
    return f"{number / 1e6:.1f} MB"


def rows(m):
    """What is measured, the goal, and the figure, one after the other."""
    median = statistics.median
    pairs = [(m.script(m.disk, m.few(2000)), m.sync(m.disk, m.few(2000)), m.floor(m.few(2000))) for _ in range(m.rounds)]
    yield "wall against the script, on disk", "≥ 2", f"{median(s.wall / d.wall for s, d, _ in pairs):.2f}"
    yield "wall against the disk's floor, 16 writers", "≤ 1.8", f"{median(d.wall / f for _, d, f in pairs):.2f}"
    small = median(d.peak for _, d, _ in pairs)
    speed = median(m.few(2000) / d.wall for _, d, _ in pairs)
    if "DOCSYNCD_BENCH_NODE" in os.environ:
        pairs = [(m.node_red(m.few(2000)), m.sync(m.disk, m.few(2000))) for _ in range(m.rounds)]
        yield "wall against Node-RED, on disk", "≥ 2", f"{median(n.wall / d.wall for n, d in pairs):.2f}"
        processor = median(d.processor / n.processor for n, d in pairs)
        yield "processor time against Node-RED", "≤ 0.5", f"{processor:.2f}"
        yield "peak memory against Node-RED", "≤ 0.1", f"{median(d.peak / n.peak for n, d in pairs):.2f}"

    def fast(count):
        return m.script(m.memory, count), m.sync(m.memory, count), m.curl(count), m.limit(m.memory, count)

    scripts, ours, curls, limits = zip(*(fast(m.few(2000)) for _ in range(m.rounds)))

    def times(costs, others):
        return median(cost.processor / other.processor for cost, other in zip(costs, others))

    yield "processor time against curl's requests", "≤ 2.0", f"{times(ours, curls):.1f}"
    yield "the same of the limit", "", f"{times(limits, curls):.1f}"
    yield "processor time against the script", "≥ 2.2", f"{times(scripts, ours):.2f}"
    yield "the same of the limit", "", f"{times(scripts, limits):.2f}"
    for what, costs in [("processor time of a document", ours), ("the same of the limit", limits)]:
        yield what, "", f"{median(cost.processor for cost in costs) / m.few(2000) * 1000:.2f} ms"
    yield "wall against the limit, in memory", "", f"{median(d.wall / b.wall for d, b in zip(ours, limits)):.1f}"

    large = [m.sync(m.disk, m.few(10_000)) for _ in range(min(m.rounds, 3))]
    ratio = median(m.few(10_000) / cost.wall for cost in large) / speed
    yield "documents a second, 10,000 against 2,000", "≥ 0.95", f"{ratio:.2f}"
    yield "peak memory, 2,000 and 10,000", "≤ 24 MB", f"{megabytes(small)}, {megabytes(median(c.peak for c in large))}"

    documents, latency = m.few(400), 30
    ideal = (documents / WIDE * 3 + 1) * latency / 1000
    slow = median(ideal / m.sync(m.disk, documents, latency).wall for _ in range(m.rounds))
    yield "30 ms of latency: share of the ideal", "≥ 1.0", f"{slow:.2f}"
    one, none = (median(m.sync(m.disk, count).wall for _ in range(m.rounds)) for count in (1, 0))
    yield "one document, from the poll to reported", "≤ 7 ms", f"{(one - none) * 1000:.0f} ms"

    for where, below in [("on disk", m.disk), ("in memory", m.memory)]:
        what = f"wall against `rclone copy --transfers 4`, 1,000 to OpenSSH, {where}"
        try:
            usual = [m.over_ssh(WithShell, below, m.few(1000)) for _ in range(m.rounds)]
            sftp_only = [m.over_ssh(OpenSsh, below, m.few(1000)) for _ in range(m.rounds)]
        except peers.Missing as missing:
            yield what, "≥ 1", f"{missing} is not installed"
            continue
        yield what, "≥ 1", f"{median(r.wall / d.wall for d, r, _ in usual):.2f}"
        yield "the same where rclone can compare sizes only", "≥ 0.75", f"{median(r.wall / d.wall for d, r, _ in sftp_only):.2f}"
        both = median((r.wall + b.wall) / d.wall for d, r, b in sftp_only)
        yield "the same there, with `rclone check --download`", "", f"{both:.2f}"
        processor = median(d.processor / r.processor for d, r, _ in sftp_only)
        yield f"processor time against rclone's copy there, {where}", "", f"{processor:.1f}"
        yield f"peak memory, {where}", "≤ 40 MB", megabytes(median(d.peak for d, _, _ in usual))

    ready, resident, processor, written = m.at_rest(m.few(10_000), 1, m.rest)
    yield "ready, empty ledger", "≤ 20 ms", f"{ready:.0f} ms"
    yield "some minutes after a backlog of 10,000", "≤ 16 MB", megabytes(resident)
    yield "at rest, an hour's processor time", "≤ 0.4 s", f"{processor:.1f} s"
    yield "at rest, an hour's bytes written", "0", f"{written:.0f}"
    yield "500 accounts at rest", "≤ 30 MB", megabytes(m.at_rest(0, m.few(500), min(m.rest, 60))[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("docsyncd")
    parser.add_argument("server")
    parser.add_argument("limit")
    parser.add_argument("--short", action="store_true", help="one round of few documents: whether it works, and no figures")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rest", type=int, default=600, help="seconds at rest after the backlog")
    parser.add_argument("--disk", help="a folder on the disk that is measured; a temporary one otherwise")
    measure = Measure(parser.parse_args())
    try:
        print("| what | goal | measured |\n|---|---|---|")
        for what, goal, figure in rows(measure):
            print(f"| {what} | {goal} | {figure} |", flush=True)
    finally:
        measure.remove()


main()
