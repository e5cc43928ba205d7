"""Real servers for tests of destinations, on a port of 127.0.0.1 which they print once they listen. They serve until they are
killed, and need the packages of requirements.txt.

servers.py webdav FOLDER [PORT]             wsgidav
servers.py s3                               moto; its objects go with the process
servers.py s3 PORT FOLDER INCOMING [blind]  moto whose objects outlive it, as FOLDER/KEY; `blind` knows no conditional writes
servers.py hl7 FOLDER                       python-hl7's MLLP server; what hl7apy finds in order by the tables of its version (strict) is
                                            kept as FOLDER/MSH-10.hl7 and .pdf, everything else gets AE
servers.py smtp FOLDER PORT [TLS]           aiosmtpd; what is attached to a mail becomes FOLDER/MESSAGE-ID.pdf or .zip, once; TLS holds tls.pem and
                                            tls.key: then STARTTLS comes first, and user `u` with password `p`
servers.py sftp FOLDER PORT KEYS CHANCE     asyncssh; KEYS holds `host_key` and `authorized_keys`; of a RENAME it loses the answer,
                                            with this chance from 0 to 1"""

import sys


def webdav(folder, port="0"):
    from cheroot.wsgi import Server
    from wsgidav.wsgidav_app import WsgiDAVApp

    app = WsgiDAVApp({
        "provider_mapping": {"/": folder},
        "simple_dc": {"user_mapping": {"*": {"u": {"password": "p"}}}},
        "http_authenticator": {"accept_basic": True, "accept_digest": False, "default_to_digest": False},
        "lock_storage": True,
        "property_manager": None,
        "verbose": 0,
        "logging": {"enable": False},
    })
    server = Server(("127.0.0.1", int(port)), app)
    server.prepare()
    print(server.bind_addr[1], flush=True)
    server.serve()


def s3(port="0", folder=None, incoming=None, *habits):
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    app = DomainDispatcherApplication(create_backend_app)
    if folder:
        from bucket import Bucket

        app = Bucket(app, folder, incoming, habits)
    server = make_server("127.0.0.1", int(port), app, threaded=True)
    print(server.server_port, flush=True)
    server.serve_forever()


def hl7(folder, port="0"):
    import asyncio
    import base64
    import pathlib
    import sys

    from hl7.mllp import start_hl7_server
    from hl7apy.consts import VALIDATION_LEVEL
    from hl7apy.parser import parse_message

    def keep(text):
        """hl7apy takes 199 characters of a document, and so is shown four."""
        segments = text.split("\r")
        at = next(index for index, segment in enumerate(segments) if segment.startswith("OBX|"))
        fields = segments[at].split("|")
        *kind, content = fields[5].split("^")
        if kind != ["", "application", "pdf", "Base64"]:
            raise ValueError("OBX-5 is no PDF")
        pdf = base64.b64decode(content, validate=True)
        fields[5] = "^".join([*kind, "AAAA"])
        segments[at] = "|".join(fields)
        parse_message("\r".join(segments), validation_level=VALIDATION_LEVEL.STRICT).validate()
        name = pathlib.Path(folder) / segments[0].split("|")[9]
        name.with_suffix(".hl7").write_text("\r".join(segments), newline="")
        name.with_suffix(".pdf").write_bytes(pdf)

    async def take(reader, writer):
        try:
            while True:
                message = await reader.readmessage()
                text = str(message)
                try:
                    keep(text)
                    code = "AA"
                except Exception as error:
                    print(type(error).__name__, error, file=sys.stderr, flush=True)
                    code = "AE"
                writer.writemessage(message.create_ack(ack_code=code))
                await writer.drain()
        except asyncio.IncompleteReadError:
            writer.close()

    async def serve():
        server = await start_hl7_server(take, "127.0.0.1", int(port), encoding="utf-8", limit=256 << 20)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(serve())


def sftp(folder, port, keys, chance):
    import asyncio
    import random

    import asyncssh

    class Files(asyncssh.SFTPServer):
        def __init__(self, channel):
            super().__init__(channel, chroot=folder)

        def rename(self, old, new):
            super().rename(old, new)
            if random.random() < float(chance):
                self.connection.abort()
                raise asyncssh.SFTPConnectionLost("the answer is lost")

    async def serve():
        server = await asyncssh.listen(
            "127.0.0.1",
            int(port),
            server_host_keys=[f"{keys}/host_key"],
            authorized_client_keys=f"{keys}/authorized_keys",
            sftp_factory=Files,
        )
        print(server.get_port(), flush=True)
        await server.wait_closed()

    asyncio.run(serve())


def smtp(folder, port="0", tls=None):
    import asyncio
    import email
    import email.policy
    import os
    import ssl

    from aiosmtpd.smtp import SMTP, AuthResult

    class Mailbox:
        async def handle_DATA(self, server, session, envelope):
            mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
            (attached,) = mail.iter_attachments()
            name = mail["Message-ID"].strip("<>") + os.path.splitext(attached.get_filename())[1]
            incoming = os.path.join(folder, os.pardir, "incoming", f"{name}.{id(session)}")
            with open(incoming, "wb") as file:
                file.write(attached.get_payload(decode=True))
            kept = os.path.join(folder, name)
            (os.remove if os.path.exists(kept) else lambda file: os.rename(file, kept))(incoming)
            return "250 kept"

    def knows(server, session, envelope, mechanism, given):
        return AuthResult(success=(given.login, given.password) == (b"u", b"p"), handled=False)

    options = {"hostname": "localhost", "data_size_limit": 200_000_000}
    if tls:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(f"{tls}/tls.pem", f"{tls}/tls.key")
        options |= {"tls_context": context, "require_starttls": True, "auth_required": True, "authenticator": knows}

    async def serve():
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: SMTP(Mailbox(), **options), "127.0.0.1", int(port))
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(serve())


{"smtp": smtp, "webdav": webdav, "s3": s3, "hl7": hl7, "sftp": sftp}[sys.argv[1]](*sys.argv[2:])
