"""Real servers for tests of destinations: `servers.py webdav FOLDER` or `servers.py s3`. Prints the port of 127.0.0.1 once it
listens, and serves until it is killed. Needs the packages of requirements.txt."""

import sys


def webdav(folder):
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
    server = Server(("127.0.0.1", 0), app)
    server.prepare()
    print(server.bind_addr[1], flush=True)
    server.serve()


def s3():
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=True)
    print(server.server_port, flush=True)
    server.serve_forever()


{"webdav": webdav, "s3": s3}[sys.argv[1]](*sys.argv[2:])
