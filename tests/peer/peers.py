"""The servers that docsyncd delivers to here: how each is started, killed and started again on the same port with the same files,
what is written into docsyncd.toml for it, and what docs/destinations.md promises there."""

import getpass
import grp
import os
import pathlib
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
PATIENCE = 30
# Several documents want one name, where that may be.
SHARED = "{{ document.type }}.pdf"
OWN = "{{ document.type }}_{{ document.uuid }}.pdf"


class Missing(Exception):
    """What is not installed."""


def environment():
    """The Python of requirements.txt."""
    folder = os.environ.get("DOCSYNCD_TEST_PEERS")
    if not folder:
        command = [HERE.parent.parent / ".ci" / "python-environment", "tests/peer/requirements.txt"]
        folder = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    return pathlib.Path(folder) / "bin" / "python"


def installed(program):
    found = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if not found:
        raise Missing(program)
    return found


def output_of(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


def free_port():
    """One below those that the system gives to connections, so that it stays free while the server is down."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)):
                return port


def state_of(pid):
    """The parent and the state of a process."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return int(fields[1]), fields[0]
    except (OSError, IndexError):
        return None, None


def kill_with_children(process):
    """SIGKILL to a server and to what it started for its connections."""
    process.send_signal(signal.SIGSTOP)
    family = [process.pid]
    for parent in family:
        family += [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and state_of(pid)[0] == parent]
    for pid in family:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait()
    while any(state_of(pid)[1] not in (None, "Z") for pid in family):
        time.sleep(0.002)


class Peer:
    # A name that is there is not given again.
    keeps_names = True
    # What came is kept once, whatever is repeated.
    keeps_once = True
    # A document whose answer was lost waits for a person.
    holds = False
    has_sidecars = False
    # What `docsyncd check` warns of.
    warnings = ()

    def __init__(self, folder, python):
        self.folder, self.python, self.port = pathlib.Path(folder), python, free_port()
        self.data, self.incoming = self.folder / "data", self.folder / "incoming"
        for made in (self.folder, self.data, self.incoming):
            made.mkdir()
        self.process = None
        self.prepare()

    def prepare(self):
        pass

    def start(self):
        log = open(self.folder / "log", "ab")
        command = [str(part) for part in self.command()]
        self.process = subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + PATIENCE
        while True:
            with socket.socket() as tried:
                if not tried.connect_ex(("127.0.0.1", self.port)):
                    return
            if self.process.poll() is not None or time.monotonic() > end:
                sys.exit(f"{self.name} does not start: {(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(0.01)

    def kill(self):
        kill_with_children(self.process)

    def own(self, script, *arguments):
        return [self.python, "-B", HERE / script, *arguments]


class Sftp(Peer):
    has_sidecars = True
    file_name = SHARED
    key_kind = "ed25519"
    user = "u"
    root = "/"

    def prepare(self):
        self.program = installed(self.program)
        for name, kind in [("host_key", self.key_kind), ("id", "ed25519")]:
            output_of("ssh-keygen", "-q", "-t", kind, "-m", "PEM", "-N", "", "-C", "", "-f", self.folder / name)
        shutil.copy(self.folder / "id.pub", self.folder / "authorized_keys")
        (self.folder / "authorized_keys").chmod(0o600)
        self.configure()

    def configure(self):
        pass

    def destination(self, max_connections):
        fingerprint = output_of("ssh-keygen", "-lf", self.folder / "host_key.pub").split()[1]
        sidecar = 'sidecar = "{{ sha256 }}"' if self.has_sidecars else ""
        return f"""[destinations.peer]
type = "sftp"
host = "127.0.0.1"
port = {self.port}
user = "{self.user}"
key_file = '{self.folder}/id'
host_key = "{fingerprint}"
path = '{self.root}'
file_name = "{self.file_name}"
{sidecar}
timeout = "10s"
max_connections = {max_connections}
"""


class OpenSsh(Sftp):
    name = "sftp-openssh"
    program = "sshd"
    user = getpass.getuser()
    # What who signs in gets.
    forced = "ForceCommand internal-sftp"

    def configure(self):
        self.root = self.data
        # Compiled into sshd; without root it is not used.
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        (self.folder / "sshd_config").write_text(f"""Port {self.port}
ListenAddress 127.0.0.1
HostKey {self.folder}/host_key
AuthorizedKeysFile {self.folder}/authorized_keys
PidFile {self.folder}/pid
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
MaxStartups 100
Subsystem sftp internal-sftp
{self.forced}
""")

    def command(self):
        return [self.program, "-D", "-e", "-f", self.folder / "sshd_config"]


class ProFtpd(Sftp):
    name = "sftp-proftpd"
    program = "proftpd"
    # Its usual one.
    key_kind = "rsa"

    def configure(self):
        self.root = self.data
        modules = pathlib.Path("/usr/lib/proftpd")
        if not (modules / "mod_sftp.so").exists():
            raise Missing("ProFTPD's mod_sftp")
        key = output_of("ssh-keygen", "-e", "-m", "RFC4716", "-f", self.folder / "id.pub")
        user, group = pwd.getpwuid(os.getuid()), grp.getgrgid(os.getgid())
        for name, text in [
            ("keys", key),
            ("passwd", f"u:*:{user.pw_uid}:{group.gr_gid}::{self.data}:/bin/sh\n"),
            ("group", f"u:x:{group.gr_gid}:\n"),
        ]:
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o600)
        (self.folder / "proftpd.conf").write_text(f"""ModulePath {modules}
LoadModule mod_sftp.c
ServerType standalone
DefaultServer on
Port {self.port}
DefaultAddress 127.0.0.1
SocketBindTight on
UseIPv6 off
User {user.pw_name}
Group {group.gr_name}
PidFile {self.folder}/pid
ScoreboardFile {self.folder}/scoreboard
DelayEngine off
<IfModule mod_ctrls.c>
ControlsEngine off
</IfModule>
WtmpLog off
TransferLog none
SystemLog {self.folder}/log
RootLogin on
RequireValidShell off
AuthOrder mod_auth_file.c
AuthUserFile {self.folder}/passwd
AuthGroupFile {self.folder}/group
AllowOverwrite on
SFTPEngine on
SFTPHostKey {self.folder}/host_key
SFTPAuthorizedUserKeys file:{self.folder}/keys
""")

    def command(self):
        return [self.program, "-n", "-q", "-c", self.folder / "proftpd.conf"]


class AsyncSsh(Sftp):
    """It loses the answer to one RENAME of ten, after it gave the name."""

    name = "sftp-asyncssh"
    program = "ssh-keygen"

    def command(self):
        return self.own("servers.py", "sftp", self.data, self.port, self.folder, "0.1")


class RcloneSftp(Sftp):
    name = "sftp-rclone"
    program = "rclone"
    keeps_names = False
    warnings = ("overwrites", "fsync")
    file_name = OWN

    def command(self):
        keys = ["--authorized-keys", self.folder / "authorized_keys", "--key", self.folder / "host_key"]
        where = ["--config", self.folder / "none", "--cache-dir", self.folder / "cache", "--addr", f"127.0.0.1:{self.port}"]
        return [self.program, "serve", "sftp", *where, "--user", "u", *keys, self.data]


class WebDav(Peer):
    has_sidecars = True

    def prepare(self):
        (self.data / "letters").mkdir()
        self.data = self.data / "letters"
        (self.folder / "password").write_text("p")
        (self.folder / "password").chmod(0o600)

    def destination(self, max_connections):
        return f"""[destinations.peer]
type = "webdav"
url = "http://127.0.0.1:{self.port}/"
path = "/letters"
user = "u"
password_file = '{self.folder}/password'
file_name = "{SHARED}"
sidecar = "{{{{ sha256 }}}}"
timeout = "10s"
max_connections = {max_connections}
"""


class WsgiDav(WebDav):
    name = "webdav-wsgidav"

    def command(self):
        return self.own("servers.py", "webdav", self.data.parent, self.port)


class RcloneWebDav(WebDav):
    name = "webdav-rclone"

    def command(self):
        where = ["--config", self.folder / "none", "--cache-dir", self.folder / "cache", "--addr", f"127.0.0.1:{self.port}"]
        where += ["--dir-cache-time", "1s", "--user", "u", "--pass", "p"]
        return [installed("rclone"), "serve", "webdav", *where, self.data.parent]


class Smtp(Peer):
    """Whoever gets a mail twice knows it by its Message-ID."""

    name = "smtp-aiosmtpd"

    def command(self):
        return self.own("servers.py", "smtp", self.data, self.port)

    def destination(self, max_connections):
        return f"""[destinations.peer]
type = "smtp"
host = "127.0.0.1"
port = {self.port}
encryption = "none"
from = "letters@practice.test"
to = "inbox@clinic.test"
timeout = "10s"
max_connections = {max_connections}
"""


class Moto(Peer):
    name = "s3-moto"
    habits = ()
    # A key of its own: whether something else has it is a test of the adapter's.
    file_name = OWN

    def command(self):
        return self.own("servers.py", "s3", self.port, self.data, self.incoming, *self.habits)

    def destination(self, max_connections):
        secret = self.folder / "secret"
        secret.write_text("SK")
        secret.chmod(0o600)
        return f"""[destinations.peer]
type = "s3"
endpoint = "http://127.0.0.1:{self.port}"
bucket = "docs"
access_key_id = "AK"
secret_access_key_file = '{secret}'
file_name = "{self.file_name}"
timeout = "10s"
max_connections = {max_connections}
"""


class SharedMoto(Moto):
    """Several documents want one key."""

    name = "s3-moto-one-key"
    file_name = SHARED


class BlindMoto(Moto):
    name = "s3-without-conditions"
    habits = ("blind",)
    file_name = SHARED
    warnings = ("conditional writes",)


class Http(Peer):
    habits = ()

    def command(self):
        return self.own("upload.py", self.port, self.data, self.incoming, *self.habits)

    def destination(self, max_connections):
        return f"""[destinations.peer]
type = "http"
timeout = "10s"
max_connections = {max_connections}
{self.ways.replace('HOST', f'http://127.0.0.1:{self.port}')}
"""


class HttpPut(Http):
    name = "http-put"
    ways = 'url = "HOST/put/{{ key }}.pdf"\nmethod = "PUT"\nheaders = { "If-None-Match" = "*" }'


class HttpProbe(Http):
    name = "http-probe"
    ways = 'url = "HOST/probe"\nmethod = "POST"\nbody = "multipart"\nprobe_url = "HOST/known/{{ key }}"\nresend_after = "1s"'


JSON = """method = "POST"\nbody = "json"\njson = '{"name": "{{ document.uuid }}", "pdf": "{{ file_base64 }}"}'"""


class HttpOnce(Http):
    """It knows the header Idempotency-Key."""

    name = "http-idempotency-key"
    ways = f'url = "HOST/once"\n{JSON}'


class HttpResend(Http):
    name = "http-resend"
    keeps_once = False
    ways = f'url = "HOST/blind"\n{JSON}\non_lost_reply = "resend"'


class HttpHold(Http):
    name = "http-hold"
    holds = True
    ways = f'url = "HOST/blind"\n{JSON}\non_lost_reply = "hold"'


class Fhir(Peer):
    name = "fhir"
    habits = ()

    def command(self):
        return self.own("fhir.py", self.port, self.data, self.incoming, *self.habits)

    def destination(self, max_connections):
        return f"""[destinations.peer]
type = "fhir"
base_url = "http://127.0.0.1:{self.port}/fhir"
patient = "Patient?identifier=urn:pms|{{{{ patient_id }}}}"
confirm = "query"
timeout = "3s"
max_connections = {max_connections}
"""


class CarelessFhir(Fhir):
    """It does not heed If-None-Exist."""

    name = "fhir-careless"
    habits = ("careless",)


class Dicom(Peer):
    """It keeps what has new identifiers, and shows what it keeps."""

    name = "dicom"
    habits = ()

    def command(self):
        return self.own("dicom.py", self.port, self.data, self.incoming, *self.habits)

    def destination(self, max_connections):
        return f"""[destinations.peer]
type = "dicom"
host = "127.0.0.1"
port = {self.port}
called_ae_title = "PEER"
timeout = "3s"
max_connections = {max_connections}
"""


class MuteDicom(Dicom):
    """Nobody may ask it."""

    name = "dicom-mute"
    habits = ("mute",)
    warnings = ("may not be asked",)


class Hl7(Peer):
    """It knows the messages that it has (MSH-10)."""

    name = "hl7v2"
    habits = ()

    def command(self):
        return self.own("mllp.py", self.port, self.data, self.incoming, *self.habits)

    def destination(self, max_connections):
        return f"""[destinations.peer]
type = "hl7v2"
host = "127.0.0.1"
port = {self.port}
keep_connection_open = true
response_timeout = "3s"
max_connections = {max_connections}
"""


class ForgetfulHl7(Hl7):
    """It keeps each message that comes."""

    name = "hl7v2-forgetful"
    keeps_once = False
    habits = ("forgetful",)


class HttpLiar(HttpPut):
    """Not one of those below: it answers before it keeps, which has to be found out."""

    name = "http-liar"
    habits = ("liar",)


PEERS = [OpenSsh, ProFtpd, AsyncSsh, RcloneSftp, WsgiDav, RcloneWebDav, Moto, SharedMoto, BlindMoto]
PEERS += [HttpPut, HttpProbe, HttpOnce, HttpResend, HttpHold, Fhir, CarelessFhir, Dicom, MuteDicom, Hl7, ForgetfulHl7, Smtp]
