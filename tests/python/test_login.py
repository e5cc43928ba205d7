"""Signing in with docsyncd in a browser: from the printed address to the closing page."""

import json
import os
import re
import stat
from pathlib import Path

import pytest
import requests
from selenium.webdriver.common.by import By

from docsyncd_program import Login, Practice, free_port
from html_forms import form_with
from person import Person
from sandbox_program import EMAIL

SIGNED_IN = "You are signed in"


@pytest.fixture
def port():
    return free_port()


@pytest.fixture
def sandbox(start_sandbox, port):
    return start_sandbox(
        *("--documents", 1, "--admin-listen", "127.0.0.1:0"),
        *("--redirect-uri", f"http://127.0.0.1:{port}/callback"),
    )


@pytest.fixture
def practice(tmp_path, sandbox, port):
    folder = tmp_path / "practice"
    folder.mkdir()
    return Practice(folder, sandbox.url, port)


@pytest.fixture
def login(practice):
    """`docsyncd login`, waiting."""
    waiting = Login(practice)
    yield waiting
    waiting.stop()


@pytest.fixture
def person(browser):
    yield Person(browser)
    complaints = [entry for entry in browser.get_log("browser") if "status of 4" not in entry["message"]]
    assert complaints == [], "the browser complained"


def text_of(person):
    return person.find("body").text


def picture(person, name):
    """Keeps what the browser shows, where somebody asked for it."""
    folder = os.environ.get("PICTURES")
    if folder:
        person.browser.save_screenshot(str(Path(folder) / f"{name}.png"))


def way_back(person, login):
    """Signs in and approves, and returns where the browser would be sent instead of going there."""
    person.browser.get(login.address)
    person.sign_in()
    page = person.find("#approve")
    assert page.is_displayed()
    session = requests.Session()
    for cookie in person.browser.get_cookies():
        session.cookies.set(cookie["name"], cookie["value"])
    shown = session.get(person.browser.current_url, timeout=20)
    scopes = [("scope", value) for name, value in form_with(shown, "approve").fields if name == "scope"]
    assert scopes
    answer = form_with(shown, "approve").send(session, "approve")
    assert answer.status_code == 303, answer.text
    return answer.headers["Location"]


def test_approving_signs_the_account_in(person, practice, login):
    person.browser.get(login.address)
    person.sign_in()
    person.press("approve")
    text = text_of(person)
    assert SIGNED_IN in text
    assert "Claire Delaunay" in text and EMAIL in text
    assert "You can close this window." in text
    # The page's own style came through the policy, and nothing else was asked for.
    assert person.browser.execute_script("return getComputedStyle(document.querySelector('main')).borderRadius") == "14px"
    assert person.browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    picture(person, "signed-in")
    ended = login.ended()
    assert (ended.code, ended.stderr) == (0, "")
    assert f"signed in as Claire Delaunay <{EMAIL}>, practice " in ended.stdout
    kept = json.loads(practice.tokens.read_text())
    assert kept["user"] == EMAIL
    assert stat.S_IMODE(practice.tokens.stat().st_mode) == 0o600
    assert kept["access_token"] not in ended.stdout and kept["refresh_token"] not in ended.stdout


def test_a_french_browser_reads_french(person, login):
    agent = person.browser.execute_script("return navigator.userAgent")
    french = {"userAgent": agent, "acceptLanguage": "fr-FR,fr;q=0.9,en;q=0.5"}
    person.browser.execute_cdp_cmd("Network.setUserAgentOverride", french)
    person.browser.get(login.address)
    person.sign_in()
    person.press("approve")
    text = text_of(person)
    assert "Vous êtes connecté" in text
    assert "Vous pouvez fermer cette fenêtre." in text
    picture(person, "signed-in-french")
    assert login.ended().code == 0


def test_refusing_is_told_on_the_page_and_in_the_terminal(person, practice, login):
    person.browser.get(login.address)
    person.sign_in()
    person.press("refuse")
    text = text_of(person)
    assert "Access was refused on the sign-in page" in text
    assert "access_denied" in text and SIGNED_IN not in text
    picture(person, "refused")
    ended = login.ended()
    assert ended.code == 1
    assert "access_denied" in ended.stderr and re.search(r"[Rr]un docsyncd .*login again", ended.stderr)
    assert not practice.tokens.exists()


def test_an_answer_with_a_wrong_state_is_explained_and_the_right_one_still_counts(person, practice, login):
    person.browser.get(practice.callback("code=made-up&state=made-up"))
    assert "This is not the sign-in that docsyncd waits for" in text_of(person)
    picture(person, "wrong-state")
    assert not practice.tokens.exists()
    person.browser.get(login.address)
    person.sign_in()
    person.press("approve")
    assert SIGNED_IN in text_of(person)
    ended = login.ended()
    assert ended.code == 0
    assert "wrong state" in ended.stderr


def test_a_code_counts_once(person, sandbox, login):
    back = way_back(person, login)
    # The first exchange takes long enough for the same address to be opened again.
    fault = {"route": "token", "times": 1, "kind": "delay", "by": "5s"}
    assert requests.post(f"{sandbox.admin_url}/admin/faults", json=fault, timeout=20).ok
    browser = person.browser
    # Chromium itself lets the second of two requests for one address wait, so one has a parameter more.
    for address in (back, f"{back}&again=1"):
        browser.execute_script("window.open(arguments[0])", address)
    texts = []
    for tab in browser.window_handles[1:]:
        browser.switch_to.window(tab)
        person.until(lambda: browser.find_elements(By.TAG_NAME, "h1"))
        texts.append(text_of(person))
    assert sorted(SIGNED_IN in text for text in texts) == [False, True], texts
    assert any("This sign-in was already used" in text for text in texts), texts
    ended = login.ended()
    assert ended.code == 0, ended


def test_a_code_older_than_a_minute_is_refused(person, practice, sandbox, login):
    back = way_back(person, login)
    sandbox.advance_clock("61s")
    person.browser.get(back)
    text = text_of(person)
    assert "The server no longer accepts this sign-in" in text
    assert "60 seconds" in text
    picture(person, "too-late")
    ended = login.ended()
    assert ended.code == 1
    assert "invalid_grant" in ended.stderr and re.search(r"[Rr]un docsyncd .*login again", ended.stderr)
    assert not practice.tokens.exists()


def test_signing_out_forgets_it(person, practice, login):
    person.browser.get(login.address)
    person.sign_in()
    person.press("approve")
    assert SIGNED_IN in text_of(person)
    assert login.ended().code == 0
    assert practice.tokens.exists()
    assert practice.run("logout").code == 0
    assert not practice.tokens.exists()
