"""Clients for Python against a sandbox that approves every sign-in: clients.py ADDRESS KEY FOLDER_OF_THE_GENERATED_CLIENT

authlib signs in and renews, standardwebhooks verifies a delivery, and what openapi-generator made lists and reads documents."""

import http.server
import json
import os
import sys
import threading
import urllib.parse

import requests
from authlib.integrations.requests_client import OAuth2Session
from standardwebhooks import Webhook

address, key, generated = sys.argv[1:]
# authlib refuses http without it; the sandbox is on this machine.
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"


def authlib() -> None:
    # The token endpoint takes JSON, as the description says; authlib sends forms, and has this hook for such servers.
    def as_json(client, method, uri, headers, body):
        secrets = {"client_id": client.client_id, "client_secret": client.client_secret}
        body = json.dumps(dict(urllib.parse.parse_qsl(body)) | secrets)
        return uri, {**headers, "Content-Type": "application/json", "Content-Length": str(len(body))}, body

    session = OAuth2Session(
        "client",
        "secret",
        scope="profile organization read:documents",
        redirect_uri="http://127.0.0.1:1/callback",
        token_endpoint_auth_method="json",
    )
    session.register_client_auth_method(("json", as_json))
    page, state = session.create_authorization_url(f"{address}/authorize")
    redirected = requests.get(page, allow_redirects=False, timeout=10)
    answer = redirected.headers["Location"]
    first = session.fetch_token(f"{address}/oauth2/token", authorization_response=answer, state=state)
    assert session.get(f"{address}/documents").status_code == 200
    second = session.refresh_token(f"{address}/oauth2/token")
    assert second["refresh_token"] != first["refresh_token"]
    assert session.get(f"{address}/documents").status_code == 200
    print("authlib: signed in, read the list, renewed")


def standardwebhooks() -> None:
    came: list[tuple[dict, bytes]] = []
    arrived = threading.Event()

    class Receiver(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            came.append((dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()
            arrived.set()

        def log_message(self, *_) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        bearer = {"Authorization": f"Bearer {key}"}
        hook = {"url": f"http://127.0.0.1:{server.server_port}/", "events": ["document.updated"]}
        made = requests.post(f"{address}/webhooks", json=hook, headers=bearer, timeout=10).json()
        uuid = requests.get(f"{address}/documents", headers=bearer, timeout=10).json()[0]["uuid"]
        requests.post(f"{address}/documents/{uuid}/status", json={"success": True}, headers=bearer, timeout=10)
        assert arrived.wait(10), "no delivery came"
        server.shutdown()
    headers, body = came[0]
    event = Webhook(made["secret"]).verify(body, {name.lower(): value for name, value in headers.items()})
    assert event["type"] == "document.updated" and event["data"]["uuid"] == uuid
    print("standardwebhooks: a delivery is verified")


def openapi_generator() -> None:
    sys.path.insert(0, generated)
    import practice

    configuration = practice.Configuration(host=address, access_token=key)
    with practice.ApiClient(configuration) as client:
        documents = practice.DocumentApi(client)
        listed = documents.get_documents(items_per_page=3)
        assert len(listed) == 3, listed
        assert documents.get_document(listed[0].uuid).uuid == listed[0].uuid
    print("openapi-generator, python: lists and reads documents")


authlib()
standardwebhooks()
openapi_generator()
