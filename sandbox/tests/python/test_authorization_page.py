"""The authorization page in a browser: from sign-in to a token, approved and refused."""

import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from selenium.webdriver.common.by import By

from application import Application, query_of
from person import WAIT_SECONDS, Person
from sandbox_program import EMAIL

SCOPE = "profile organization read:documents read:patients"
ADDRESSES = ["/authorize", "/oauth/authorize"]
CAME_BACK = "You can close this window."


class Returns:
    """The application's own server, to which people come back."""

    def __init__(self):
        arrived = self.arrived = queue.Queue()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path.startswith("/came-back"):
                    arrived.put(self.path)
                self.send_response(200)
                self.send_header("Content-Type", "text/plain")
                self.end_headers()
                self.wfile.write(CAME_BACK.encode())

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/came-back"

    def next(self):
        return query_of(self.arrived.get(timeout=WAIT_SECONDS))

    def none_came(self):
        return self.arrived.empty()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def returns():
    server = Returns()
    yield server
    server.stop()


@pytest.fixture
def application(returns):
    return Application(redirect_uri=returns.address)


@pytest.fixture
def sandbox(start_sandbox, application):
    return start_sandbox("--documents", 3, *application.options())


@pytest.fixture
def person(browser, sandbox):
    yield Person(browser)
    # A page that is refused is told here too, and so is what the application's own server lacks: a picture for the tab.
    messages = [entry["message"] for entry in browser.get_log("browser")]
    complaints = [text for text in messages if text.startswith(sandbox.url) and "status of 4" not in text]
    assert complaints == [], "the browser complained about a page of the sandbox"


def test_the_page_asks_who_is_there_before_it_asks_for_anything(person, sandbox, application):
    person.browser.get(application.authorization_address(sandbox, SCOPE))
    assert person.find("#sign-in").is_displayed()
    assert not person.sees("#approve")
    person.sign_in()
    assert person.find("#approve").is_displayed()
    assert EMAIL in person.find("body").text
    shown = person.browser.find_elements(By.CSS_SELECTOR, "input[name=scope]")
    assert {box.get_attribute("value") for box in shown} == set(SCOPE.split())
    assert all(box.is_selected() for box in shown)


@pytest.mark.parametrize("address", ADDRESSES)
def test_approving_leads_to_a_token_that_opens_the_api(person, sandbox, application, returns, address):
    person.browser.get(application.authorization_address(sandbox, SCOPE, address))
    person.sign_in()
    person.press("approve")
    assert CAME_BACK in person.find("body").text
    told = returns.next()
    assert told["state"] == application.state
    assert "error" not in told
    answer = application.exchange(sandbox, told["code"])
    assert answer.status_code == 200, answer.text
    me = sandbox.get("/me", answer.json()["access_token"])
    assert me.status_code == 200
    assert me.json()["email"] == EMAIL


@pytest.mark.parametrize("address", ADDRESSES)
def test_refusing_sends_the_person_back_without_a_code(person, sandbox, application, returns, address):
    person.browser.get(application.authorization_address(sandbox, SCOPE, address))
    person.sign_in()
    person.press("refuse")
    told = returns.next()
    assert told["error"] == "access_denied"
    assert told["state"] == application.state
    assert "code" not in told


def test_a_single_scope_can_be_refused(person, sandbox, application, returns):
    person.browser.get(application.authorization_address(sandbox, SCOPE))
    person.sign_in()
    person.scope("read:documents").click()
    assert not person.scope("read:documents").is_selected()
    person.press("approve")
    tokens = application.exchange(sandbox, returns.next()["code"]).json()
    # RFC 6749, section 5.1: the scope is told where it is not the one that was asked for.
    assert set(tokens["scope"].split()) == set(SCOPE.split()) - {"read:documents"}
    assert sandbox.get("/me", tokens["access_token"]).status_code == 200
    assert sandbox.get("/documents", tokens["access_token"]).status_code == 403


def test_a_wrong_password_is_said_and_can_be_corrected(person, sandbox, application, returns):
    person.browser.get(application.authorization_address(sandbox, SCOPE))
    person.sign_in(password="not it")
    assert person.find("[role=alert]").text
    assert person.find("input[name=email]").get_attribute("value") == EMAIL
    assert person.find("input[name=password]").get_attribute("value") == ""
    assert not person.sees("#approve")
    person.sign_in()
    person.press("approve")
    assert "code" in returns.next()


def test_another_account_can_be_used(person, sandbox, application, returns):
    person.browser.get(application.authorization_address(sandbox, SCOPE))
    person.sign_in()
    person.press("switch-account")
    assert person.find("#sign-in").is_displayed()
    person.browser.get(application.authorization_address(sandbox, SCOPE))
    assert not person.sees("#approve"), "nobody is signed in any more"
    assert returns.none_came()


def test_whoever_is_signed_in_is_not_asked_again(person, sandbox, application, returns):
    person.browser.get(application.authorization_address(sandbox, SCOPE))
    person.sign_in()
    person.press("approve")
    first = returns.next()["code"]
    person.browser.get(application.authorization_address(sandbox, SCOPE))
    person.press("approve")
    assert returns.next()["code"] != first


def test_nobody_is_sent_to_an_address_that_is_not_registered(person, sandbox, application, returns):
    elsewhere = returns.address + "/elsewhere"
    person.browser.get(application.authorization_address(sandbox, SCOPE, redirect_uri=elsewhere))
    assert elsewhere in person.find("body").text
    assert person.browser.current_url.startswith(sandbox.url)
    assert returns.none_came()


def test_a_form_that_another_site_made_up_changes_nothing(person, sandbox, application, returns):
    person.browser.get(application.authorization_address(sandbox, SCOPE))
    person.sign_in()
    hidden = person.browser.find_elements(By.CSS_SELECTOR, "input[type=hidden]")
    assert hidden
    for field in hidden:
        person.browser.execute_script("arguments[0].value = 'guessed'", field)
    person.press("approve")
    assert person.find("[role=alert]").text
    assert returns.none_came()
