"""Real servers for tests of destinations, on a port of 127.0.0.1 which they print once they listen. They serve until they are
killed, and need the packages of requirements.txt.

servers.py webdav FOLDER [PORT]             wsgidav
servers.py s3                               moto; its objects go with the process
servers.py s3 PORT FOLDER INCOMING [blind]  moto whose objects outlive it, as FOLDER/KEY; `blind` knows no conditional writes
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


{"webdav": webdav, "s3": s3, "sftp": sftp}[sys.argv[1]](*sys.argv[2:])
