"""The status page in a browser: every state in both languages, what a person does there, and whether everybody can use it."""

import json
import os
import re
import struct
import subprocess
import threading
import time
import zlib
from base64 import b64decode
from pathlib import Path

import pytest
import requests
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from docsyncd_program import WAIT_SECONDS, free_port, program
from person import Person
from sandbox_program import API_KEY

CONFIGURATION = """
[api]
base_url = "{url}"
[accounts.main]
api_key_file = "api-key"
[sync]
poll_interval = "1h"
[retry]
initial = "10ms"
max = "200ms"
[destinations.pms]
type = "folder"
path = "inbox"
[state]
path = "state/ledger.sqlite3"
[status_page]
listen = "127.0.0.1:0"
"""

PDF = "JVBERi0xLjcKJSBhIGxldHRlcgolJUVPRgo="


class Daemon:
    """`docsyncd run` with its page."""

    def __init__(self, folder, url):
        self.folder = folder
        (folder / "inbox").mkdir()
        (folder / "state").mkdir(mode=0o700)
        self.key_file = folder / "api-key"
        self.key_file.touch(mode=0o600)
        self.key_file.write_text(API_KEY)
        self.config = folder / "docsyncd.toml"
        self.config.write_text(CONFIGURATION.format(url=url))
        self.config.chmod(0o600)
        self.process = None

    def run(self, *arguments):
        """Runs a command to its end."""
        command = [program(), "--config", str(self.config), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=WAIT_SECONDS, check=False)

    def start(self):
        command = [program(), "--config", str(self.config), "run"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        bell = threading.Timer(WAIT_SECONDS, self.process.kill)
        bell.start()
        self.log = []
        for line in self.process.stderr:
            self.log.append(line)
            if found := re.search(r"the status page is at (https?://[^/]+)/", line):
                self.url = found[1]
                break
        bell.cancel()
        # The rest is read as well, or the daemon would wait for a full pipe.
        threading.Thread(target=lambda: self.log.extend(self.process.stderr), daemon=True).start()
        assert self.url, self.log

    def link(self):
        opened = self.run("open", "--print")
        assert (opened.returncode, opened.stderr) == (0, ""), opened
        return opened.stdout.strip()

    def status(self):
        return json.loads(self.run("status", "--json").stdout)

    def wait_for(self, condition):
        """Waits until the ledger says so."""
        until = time.monotonic() + WAIT_SECONDS
        while not condition(self.status()):
            assert time.monotonic() < until, self.status()
            time.sleep(0.1)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(WAIT_SECONDS)


@pytest.fixture
def sandbox(start_sandbox):
    return start_sandbox("--documents", 0, "--admin-listen", "127.0.0.1:0")


@pytest.fixture
def daemon(tmp_path, sandbox):
    folder = tmp_path / "practice"
    folder.mkdir()
    daemon = Daemon(folder, sandbox.url)
    yield daemon
    daemon.stop()


@pytest.fixture
def person(browser):
    yield Person(browser)
    # A page that is open when the daemon ends asks where it is. A connection that rested too long is closed, and Chromium takes another.
    expected = ("status of 4", "/changes", "net::ERR_CONNECTION_REFUSED", "net::ERR_SOCKET_NOT_CONNECTED")
    complaints = [entry for entry in browser.get_log("browser") if not any(sign in entry["message"] for sign in expected)]
    assert complaints == [], "the browser complained"


def admin(sandbox, path, **body):
    answer = requests.post(f"{sandbox.admin_url}/admin/{path}", json=body, timeout=20)
    assert answer.status_code == 201, answer.text
    return answer.json()


def letter(sandbox, last, first, kind):
    body = {"type": kind, "patient": {"lastName": last, "firstName": first}, "pdf_base64": PDF}
    return admin(sandbox, "documents", **body)["uuids"][0]


def speak(browser, language):
    agent = browser.execute_script("return navigator.userAgent")
    wanted = {"userAgent": agent, "acceptLanguage": language}
    browser.execute_cdp_cmd("Network.setUserAgentOverride", wanted)


def size(browser, width, height=900):
    view = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", view)
    # They would cut the right edge off the pictures.
    browser.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})


def picture(browser, name):
    """Keeps the whole page, where somebody asked for it."""
    folder = os.environ.get("PICTURES")
    if folder:
        shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
        Path(folder, f"{name}.png").write_bytes(b64decode(shot["data"]))


def assert_accessible(browser, name):
    """No rule of axe-core up to WCAG 2.2 AA is broken, on a screen, a phone and at 320 pixels, by day and by night."""
    axe = Path(os.environ["AXE"]).read_text()
    rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
    for width in (1280, 390, 320):
        for scheme in ("light", "dark"):
            size(browser, width)
            feature = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", feature)
            browser.execute_script(axe)
            found = browser.execute_async_script("axe.run(document, arguments[0]).then(arguments[1])", rules)
            broken = [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found["violations"]]
            assert broken == [], f"{name}, {width} pixels, {scheme}"
            assert len(found["passes"]) > 15, "the rules were tried"
            wide = browser.execute_script("return document.documentElement.scrollWidth")
            assert wide <= width, f"{name}: {wide} pixels wide in {width}"
            picture(browser, f"{name}-{width}-{scheme}")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    size(browser, 1280)


def leave(person, act):
    """Does what leads to another page, and waits until that is there."""
    browser = person.browser
    browser.execute_script("window.thisPage = true")
    act()
    person.until(lambda: browser.execute_script("return !window.thisPage && document.readyState == 'complete'"))


def text_of(person):
    return person.find("body").text


def show(person, daemon, language):
    speak(person.browser, language)
    person.browser.get(daemon.url)
    return text_of(person)


def both(person, daemon, name, english, french):
    """Shows the page in both languages; each must say these, and be accessible."""
    for language, sentences in (("en", english), ("fr-FR,fr;q=0.9", french)):
        text = show(person, daemon, language)
        for sentence in sentences:
            assert sentence in text, f"{sentence!r} is not in {text}"
        assert person.find("html").get_attribute("lang") == language[:2]
        assert_accessible(person.browser, f"{name}-{language[:2]}")


def test_all_is_well(person, daemon, sandbox):
    letter(sandbox, "Durand", "Zoé", "prescription")
    letter(sandbox, "Lefèvre-Montalembert", "Anne-Sophie", "referral_letter")
    letter(sandbox, "Øster", "Ole", "lab_slip")
    daemon.start()
    daemon.wait_for(lambda status: status["documents"]["reported"] == 3)
    text = show(person, daemon, "en")
    assert "Durand" not in text and "Names and buttons are locked" in text
    assert not person.sees("form")
    both(person, daemon, "locked", ["All is well", "Accounts that work: 1 of 1."], ["Tout va bien", "verrouillés"])
    person.browser.get(daemon.link())
    person.until(lambda: person.browser.current_url == f"{daemon.url}/")
    both(
        person,
        daemon,
        "well",
        ["All is well: 3 letters today", "Durand Zoé", "Prescription", "Laboratory slip"],
        ["Tout va bien : 3 courriers aujourd", "Durand Zoé", "Ordonnance", "Fiche de laboratoire"],
    )
    # Nothing but the page's own style, icon and script was asked for.
    asked = person.browser.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert {name.replace(daemon.url, "") for name in asked} <= {"/style.css", "/well.svg", "/page.js", "/changes", "/"}
    pdf = person.browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})
    assert len(pdf["data"]) > 10_000
    cookie = person.browser.get_cookies()[0]
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")


def test_the_language_can_be_chosen(person, daemon):
    daemon.start()
    show(person, daemon, "en")
    leave(person, person.find("nav a").click)
    assert person.find("html").get_attribute("lang") == "fr"
    person.browser.get(daemon.url)
    assert person.find("html").get_attribute("lang") == "fr", "it is remembered"


def test_letters_wait_for_a_folder_that_is_not_there(person, daemon, sandbox):
    for name in ("Durand", "Martin", "Petit"):
        letter(sandbox, name, "Zoé", "patient_letter")
    (daemon.folder / "inbox").rmdir()
    daemon.start()
    daemon.wait_for(lambda status: status["pauses"] and status["documents"]["fetched"] == 3)
    locked = show(person, daemon, "en")
    assert "Destinations that work: 0 of 1." in locked and "pms" not in locked
    person.browser.get(daemon.link())
    # The only destination is away: that is red, however short it has been.
    assert person.sees("section.status.shut") and "No letters can be filed now" in show(person, daemon, "en")
    both(
        person,
        daemon,
        "waiting",
        ["3 letters wait since", "the destination pms cannot be reached", "It is still to be filed.", "paused", "Martin"],
        ["3 courriers attendent depuis", "la destination pms est inaccessible", "Il reste à classer.", "en pause"],
    )
    show(person, daemon, "en")
    leave(person, person.find("form[action='/mended'] button").click)
    assert "still does not work" in text_of(person)
    picture(person.browser, "not-mended")
    (daemon.folder / "inbox").mkdir()
    leave(person, person.find("form[action='/mended'] button").click)
    assert "It works again" in text_of(person)
    daemon.wait_for(lambda status: status["documents"]["reported"] == 3)
    assert "All is well" in show(person, daemon, "en")


def test_a_letter_that_failed_is_tried_again(person, daemon, sandbox):
    uuid = letter(sandbox, "Durand", "Zoé", "cone_beam_report")
    letter(sandbox, "Martin", "Paul", "cone_beam_report")
    admin(sandbox, "faults", route="document", document=uuid, kind="status", code=403)
    daemon.start()
    daemon.wait_for(lambda status: status["documents"]["failed"] == 1)
    person.browser.get(daemon.link())
    both(
        person,
        daemon,
        "failed",
        ["A person is needed", "1 letter could not be filed", "Try again", f"no name, number …{uuid[-8:]}"],
        ["Quelqu'un doit intervenir", "1 courrier n'a pas pu être classé", "C'est réparé, réessayer", f"numéro …{uuid[-8:]}"],
    )
    assert requests.delete(f"{sandbox.admin_url}/admin/faults", timeout=20).ok
    show(person, daemon, "en")
    leave(person, person.find("form[action='/retry'] button").click)
    assert "The letter is tried again" in text_of(person)
    picture(person.browser, "tried-again")
    daemon.wait_for(lambda status: status["documents"]["reported"] == 2)
    assert "All is well" in show(person, daemon, "en")
    assert not person.sees("form[action='/retry']")


def test_the_key_of_the_account_is_refused(person, daemon, sandbox):
    daemon.key_file.write_text("another-key")
    letter(sandbox, "Durand", "Zoé", "prescription")
    daemon.start()
    daemon.wait_for(lambda status: status["pauses"])
    person.browser.get(daemon.link())
    both(
        person,
        daemon,
        "sign-in",
        ["A person is needed", "the key of the account main", "the account main needs a new key", "The service refuses the key of the account main"],
        ["Quelqu'un doit intervenir", "la clé du compte main", "il faut une nouvelle clé", "Le service refuse la clé du compte main"],
    )
    # It has no sign-in.
    assert "sign in" not in show(person, daemon, "en") and "reconnecter" not in show(person, daemon, "fr")


def test_the_account_has_to_sign_in_again(person, daemon, sandbox):
    secret = daemon.folder / "client-secret"
    secret.touch(mode=0o600)
    secret.write_text("sandbox-secret")
    signs_in = f'auth = "oauth"\nclient_id = "sandbox-client"\nclient_secret_file = "client-secret"\nredirect_port = {free_port()}'
    text = daemon.config.read_text().replace('api_key_file = "api-key"', signs_in)
    daemon.config.write_text(text.replace("[accounts.main]", f'app_url = "{sandbox.url}"\n[accounts.main]'))
    letter(sandbox, "Durand", "Zoé", "prescription")
    daemon.start()
    daemon.wait_for(lambda status: status["pauses"])
    person.browser.get(daemon.link())
    both(
        person,
        daemon,
        "sign-in-again",
        ["A person is needed", "the account main has to sign in again", "Call your IT", "paused", "has to sign in to the service again"],
        ["Quelqu'un doit intervenir", "le compte main doit se reconnecter", "Appelez votre informaticien", "en pause", "se reconnecter au service"],
    )
    # It has no key.
    assert "refuses the key" not in show(person, daemon, "en") and "refuse la clé" not in show(person, daemon, "fr")


def test_the_service_asks_to_wait(person, daemon, sandbox):
    letter(sandbox, "Durand", "Zoé", "prescription")
    admin(sandbox, "faults", route="document", kind="status", code=429)
    daemon.start()
    daemon.wait_for(lambda status: status["pauses"])
    person.browser.get(daemon.link())
    both(
        person,
        daemon,
        "asked-to-wait",
        ["1 letter waits since", "the service asks the account main to wait"],
        ["1 courrier attend depuis", "le service demande au compte main d'attendre"],
    )


def test_what_does_not_run_shows_nothing_that_could_be_taken_for_well(person, daemon):
    daemon.start()
    person.browser.get(daemon.link())
    person.until(lambda: person.browser.current_url == f"{daemon.url}/")
    assert "All is well" in text_of(person)
    daemon.stop()
    with pytest.raises(WebDriverException, match="ERR_CONNECTION_REFUSED"):
        person.browser.get(daemon.url)
    picture(person.browser, "not-running")
    assert "well" not in text_of(person)
    # What to do is where the page was asked for.
    for arguments, code, says in (
        (["open"], 1, "not running"),
        (["status", "--lang", "en"], 4, "docsyncd is not running: no letters are filed."),
        (["status", "--lang", "fr"], 4, "docsyncd est arrêté\u00a0: aucun courrier n'est classé."),
    ):
        ended = daemon.run(*arguments)
        assert ended.returncode == code and says in ended.stdout + ended.stderr, ended
    person.browser.get_log("browser")


def test_a_letter_is_searched_for_with_the_keyboard(person, daemon, sandbox):
    letter(sandbox, "Durand", "Zoé", "prescription")
    letter(sandbox, "Martin", "Zoé", "lab_slip")
    daemon.start()
    daemon.wait_for(lambda status: status["documents"]["reported"] == 2)
    person.browser.get(daemon.link())
    show(person, daemon, "en")
    leave(person, lambda: person.find("#words").send_keys("durand", Keys.ENTER))
    assert "1 letter is found." in text_of(person)
    assert "durand" not in person.browser.current_url, "a name is in no address"
    assert_accessible(person.browser, "found")
    rows = person.browser.find_elements(By.CSS_SELECTOR, ".search tbody tr")
    assert len(rows) == 1 and "Durand Zoé" in rows[0].text
    show(person, daemon, "fr")
    leave(person, lambda: person.find("#words").send_keys("durand", Keys.ENTER))
    assert "1 courrier trouvé." in text_of(person)
    assert_accessible(person.browser, "found-fr")
    show(person, daemon, "en")
    leave(person, person.find("form[action='/close'] button").click)
    assert "This browser is locked" in text_of(person)
    assert "Durand" not in show(person, daemon, "en")


def test_a_letter_has_a_page_of_its_own(person, daemon, sandbox):
    uuid = letter(sandbox, "Durand", "Zoé", "prescription")
    daemon.start()
    daemon.wait_for(lambda status: status["documents"]["reported"] == 1)
    person.browser.get(daemon.link())
    show(person, daemon, "en")
    leave(person, person.find("#today ~ table a").click)
    assert person.browser.current_url == f"{daemon.url}/letter/{uuid}"
    assert "Durand" not in person.browser.title, "the browser keeps titles"
    [filed] = [path for path in (daemon.folder / "inbox").rglob("*.pdf")]
    for language, sentences in (
        ("en", ["Durand Zoé", "It is filed, and confirmed to the service.", "the file is on the disk", "Downloaded", str(filed)]),
        ("fr-FR,fr;q=0.9", ["Durand Zoé", "Il est classé, et c'est confirmé au service.", "Téléchargé", str(filed)]),
    ):
        speak(person.browser, language)
        person.browser.get(f"{daemon.url}/letter/{uuid}")
        for sentence in sentences:
            assert sentence in text_of(person), sentence
        assert_accessible(person.browser, f"letter-{language[:2]}")
    speak(person.browser, "en")
    person.browser.get(f"{daemon.url}/letter/{uuid}")
    permission = {"origin": daemon.url, "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    person.browser.execute_cdp_cmd("Browser.grantPermissions", permission)
    person.find("button.copy").click()
    person.until(lambda: person.find("button.copy").text == "Copied")
    copied = person.browser.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    assert copied == str(filed)
    # The browser's own viewer shows it under the policy that it comes with.
    leave(person, person.find("a[href$='/pdf']").click)
    assert person.browser.execute_script("return document.contentType") == "application/pdf"
    time.sleep(1)
    picture(person.browser, "letter-pdf")
    complaints = [entry["message"] for entry in person.browser.get_log("browser")]
    assert [message for message in complaints if "favicon.ico" not in message] == []


def test_the_page_lives(person, daemon, sandbox):
    daemon.start()
    person.browser.get(daemon.link())
    person.until(lambda: person.browser.current_url == f"{daemon.url}/")
    show(person, daemon, "en")
    person.browser.execute_script("window.thisPage = true")
    person.find("#days ~ details summary").click()
    letter(sandbox, "Durand", "Zoé", "prescription")
    assert daemon.run("poll").returncode == 0
    person.until(lambda: "Durand Zoé" in text_of(person))
    person.until(lambda: "All is well: 1 letter today" in text_of(person))
    assert person.browser.execute_script("return window.thisPage"), "the page was not left"
    assert person.find("#days ~ details").get_attribute("open"), "what was unfolded stays so"
    # Who types is not disturbed.
    person.find("#words").send_keys("Mart")
    letter(sandbox, "Martin", "Paul", "prescription")
    assert daemon.run("poll").returncode == 0
    daemon.wait_for(lambda status: status["documents"]["reported"] == 2)
    time.sleep(3)
    assert person.find("#words").get_attribute("value") == "Mart"
    person.find("#words").clear()
    person.browser.execute_script("document.activeElement.blur()")
    person.until(lambda: "Martin Paul" in text_of(person))
    # It turns grey when the daemon has stopped, and goes on by itself when that is there again.
    address = daemon.url.removeprefix("http://")
    text = daemon.config.read_text()
    daemon.stop()
    person.until(lambda: "docsyncd does not answer." in text_of(person))
    assert person.find("body").get_attribute("class") == "stale"
    assert person.find("link[rel=icon]").get_attribute("href").endswith("/silent.svg")
    picture(person.browser, "stale")
    assert_accessible(person.browser, "stale")
    daemon.config.write_text(text.replace('listen = "127.0.0.1:0"', f'listen = "{address}"'))
    daemon.start()
    person.until(lambda: not person.find("#silent").is_displayed())
    person.until(lambda: person.find("link[rel=icon]").get_attribute("href").endswith("/well.svg"))
    assert person.find("body").get_attribute("class") == ""


def test_one_more_computer_gets_the_page_over_tls_and_loses_it_again(person, daemon, sandbox):
    letter(sandbox, "Durand", "Zoé", "prescription")
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "60"]
    make += ["-subj", "/CN=docsyncd", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "page.key", "-out", "page.pem"]
    subprocess.run(make, cwd=daemon.folder, check=True, capture_output=True)
    files = "certificate_file = 'page.pem'\ncertificate_key_file = 'page.key'\n"
    daemon.config.write_text(daemon.config.read_text() + files)
    person.browser.execute_cdp_cmd("Security.setIgnoreCertificateErrors", {"ignore": True})
    daemon.start()
    assert daemon.url.startswith("https://")
    daemon.wait_for(lambda status: status["documents"]["reported"] == 1)
    made = daemon.run("open", "--for-another", "--print")
    assert (made.returncode, made.stderr) == (0, ""), made
    person.browser.get(made.stdout.strip())
    person.until(lambda: person.browser.current_url == f"{daemon.url}/")
    cookie = next(cookie for cookie in person.browser.get_cookies() if cookie["name"].startswith("docsyncd_"))
    assert cookie["secure"] and cookie["httpOnly"] and cookie["expiry"] > time.time() + 89 * 24 * 60 * 60
    both(
        person,
        daemon,
        "tls",
        ["Durand Zoé", "For one more computer"],
        ["Durand Zoé", "Pour un autre ordinateur"],
    )
    for language in ("de", "fr-FR,fr;q=0.9", "en"):
        show(person, daemon, language)
        leave(person, person.find("form[action='/another'] button").click)
        link = person.find("code.link").text
        assert link.startswith(f"{daemon.url}/open?key=") and "key" not in person.browser.current_url
        assert_accessible(person.browser, f"another-{language[:2]}")
    agent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0"
    other = requests.Session()
    # The environment may name other authorities.
    other.trust_env, other.verify = False, str(daemon.folder / "page.pem")
    opened = other.get(link, headers={"User-Agent": agent}, timeout=20)
    assert opened.status_code == 200, opened.text
    assert "Durand" in other.get(daemon.url, timeout=20).text
    assert other.get(link, timeout=20).status_code == 403, "it counts once"
    assert "2 browsers see the letters" in show(person, daemon, "en")
    person.find(".browsers summary").click()
    assert "Firefox, Windows" in text_of(person) and "this one" in text_of(person)
    assert_accessible(person.browser, "browsers")
    leave(person, person.find("form[action='/lock'] button").click)
    assert "That browser is locked" in text_of(person) and "Durand" in text_of(person)
    assert "Durand" not in other.get(daemon.url, timeout=20).text
    person.browser.execute_cdp_cmd("Security.setIgnoreCertificateErrors", {"ignore": False})


def test_the_page_is_whole_without_scripts(person, daemon, sandbox):
    letter(sandbox, "Durand", "Zoé", "prescription")
    daemon.start()
    daemon.wait_for(lambda status: status["documents"]["reported"] == 1)
    person.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    person.browser.get(daemon.link())
    text = show(person, daemon, "en")
    assert "Durand Zoé" in text and "docsyncd does not answer" not in text
    assert person.find("meta[http-equiv=refresh]").get_attribute("content") == "60; url=/"
    assert not any(button.is_displayed() for button in person.browser.find_elements(By.CSS_SELECTOR, "button.copy"))


def test_another_page_can_neither_press_a_button_nor_show_the_page(person, daemon, sandbox, tmp_path):
    letter(sandbox, "Durand", "Zoé", "prescription")
    daemon.start()
    person.browser.get(daemon.link())
    person.until(lambda: person.browser.current_url == f"{daemon.url}/")
    token = person.find("input[name=token]").get_attribute("value")
    hostile = tmp_path / "hostile.html"
    hostile.write_text(
        f"<form method=post action='{daemon.url}/poll'><input name=token value='{token}'><button id=go>x</button></form>"
        f"<iframe src='{daemon.url}/'></iframe>"
    )
    person.browser.get(hostile.as_uri())
    person.browser.switch_to.frame(0)
    assert "Durand" not in person.browser.page_source
    person.browser.switch_to.default_content()
    leave(person, person.find("#go").click)
    assert "This was not sent from the status page" in text_of(person)
    picture(person.browser, "foreign")
    # What it complains of is what was to be refused.
    person.browser.get_log("browser")


LIST = 'number = "Nr"\nlast_name = "Name"\nfirst_name = "Vorname"\ndate_of_birth = "Geboren"'


def with_patients(daemon, rows, more=""):
    """The daemon knows this list, and names its files by the patient's number."""
    (daemon.folder / "patients.csv").write_text("\n".join(["Nr;Name;Vorname;Geboren" + more, *rows]) + "\n")
    name = 'path = "inbox"\nfile_name = "{{ patient.number }} {{ document.createdAt | date }}_{{ document.type }}_{{ document.uuid }}.pdf"'
    text = daemon.config.read_text().replace('path = "inbox"', name)
    daemon.config.write_text(f'{text}[patients]\nfile = "patients.csv"\n{LIST}\n')


def of_patient(sandbox, last, first, born, kind="lab_slip"):
    patient = {"lastName": last, "firstName": first, "dateOfBirth": born}
    return admin(sandbox, "documents", type=kind, patient=patient, pdf_base64=PDF)["uuids"][0]


def test_a_patient_is_assigned_after_a_second_look_and_taken_back(person, daemon, sandbox):
    twins = ["501;Durand;Zoé;1991-04-09;Arles;MGEN", "502;Durand;Zoe;1991-04-09;Nantes;AOK"]
    with_patients(daemon, [*twins, "503;Durand;Paul;1991-04-09;Brest;TK"], ";Ort;Kasse")
    of_patient(sandbox, "Durand", "Zoé", "1991-04-09")
    daemon.start()
    daemon.wait_for(lambda status: status["needs_person"] == 1)
    person.browser.get(daemon.link())
    both(
        person,
        daemon,
        "patients",
        ["Which patient is this letter about?", "cannot tell them apart", "9 Apr 1991", "Arles", "Nantes", "Assign to this patient"],
        ["De quel patient s'agit-il", "09/04/1991", "Attribuer à ce patient"],
    )
    text = show(person, daemon, "de")
    assert "Diesem Patienten zuordnen" in text and "09.04.1991" in text
    assert_accessible(person.browser, "patients-de")
    # No button leaves its card.
    for language in ("en", "fr", "de"):
        show(person, daemon, language)
        for button in person.browser.find_elements(By.CSS_SELECTOR, "section button"):
            card = button.find_element(By.XPATH, "ancestor::section")
            inside = button.rect["x"] + button.rect["width"] <= card.rect["x"] + card.rect["width"] - 8
            assert inside, (language, button.text, button.rect, card.rect)
    show(person, daemon, "en")
    leave(person, person.find("form[action='/assign'] button").click)
    look = text_of(person)
    assert "Please look once more" in look
    # It names the letter, and the twin stands beside.
    assert "Laboratory slip" in look and "Durand Zoé" in look and "another patient" in look and "Nantes" in look
    assert_accessible(person.browser, "second-look")
    leave(person, person.find("form[action='/assign'] button").click)
    # The banner that tells the decision has "Undo", and the letter is asked about no more.
    assert "until then you can undo it" in person.find(".decided").text
    assert "All is well" in text_of(person) and not person.sees("form[action='/assign']")
    assert daemon.status()["needs_person"] == 0
    assert_accessible(person.browser, "assigned")
    leave(person, person.find(".decided form[action='/undo'] button").click)
    assert "It is undone" in text_of(person) and person.sees("form[action='/assign']")
    assert not [path for path in (daemon.folder / "inbox").rglob("*.pdf")]
    # What was decided stands on the page, folded: when, which letter, which number, who.
    assert not person.browser.find_element(By.CSS_SELECTOR, "#decisions ~ details table").is_displayed()
    person.find("#decisions ~ details summary").click()
    rows = [row.text for row in person.browser.find_elements(By.CSS_SELECTOR, "#decisions ~ details tbody tr")]
    assert len(rows) == 2 and all("Durand Zoé" in row and "501" in row and "this page, browser" in row for row in rows), rows
    assert "taken back" in rows[0]
    # The banner goes when the letter is filed, also from a page that stays open.
    show(person, daemon, "en")
    leave(person, person.find("form[action='/assign'] button").click)
    leave(person, person.find("form[action='/assign'] button").click)
    daemon.wait_for(lambda status: status["documents"]["reported"] == 1)
    deadline = time.monotonic() + WAIT_SECONDS
    while person.sees(".decided") and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not person.sees(".decided") and "until then you can undo it" not in text_of(person)


def test_a_letter_in_the_wrong_patients_record_is_put_right_after_a_second_look(person, daemon, sandbox):
    with_patients(daemon, ["501;Durand;Zoe;1991-04-09", "502;Durant;Zoé;1991-04-09"])
    uuid = of_patient(sandbox, "Durandt", "Zoé", "1991-04-09")
    daemon.start()
    daemon.wait_for(lambda status: status["needs_person"] == 1)
    assert daemon.run("assign", uuid, "501", "--yes").returncode == 0
    daemon.wait_for(lambda status: status["documents"]["reported"] == 1)
    person.browser.get(daemon.link())
    for language, button in (("fr", "Classé dans le dossier d'un autre patient"), ("de", "Beim falschen Patienten abgelegt?")):
        speak(person.browser, language)
        person.browser.get(f"{daemon.url}/letter/{uuid}")
        assert button in text_of(person)
    speak(person.browser, "en")
    person.browser.get(f"{daemon.url}/letter/{uuid}")
    leave(person, person.find("form[action='/misfiled'] button").click)
    asked = text_of(person)
    assert "filed under the number 501" in asked and "502" in asked and "filed anew" in asked
    assert_accessible(person.browser, "misfiled")
    leave(person, person.find("form[action='/assign']:has(input[name='number'][value='502']) button").click)
    look = text_of(person)
    assert "Please look once more" in look and "filed under the number 501" in look
    assert_accessible(person.browser, "misfiled-second-look")
    leave(person, person.find("form[action='/assign'] button").click)
    assert "is filed anew under the right number" in text_of(person)
    inbox = daemon.folder / "inbox"
    deadline = time.monotonic() + WAIT_SECONDS
    while len(list(inbox.glob("*.pdf"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert sorted(path.name[:3] for path in inbox.glob("*.pdf")) == ["501", "502"]
    # The copy in the wrong record is named as what it is, and a person says when it is gone.
    daemon.wait_for(lambda status: status["documents"]["reported"] == 1)
    person.browser.get(f"{daemon.url}/letter/{uuid}")
    assert "filed for another patient" in text_of(person) and "old version" not in text_of(person)
    leave(person, person.find("form[action='/arrived'] button").click)
    assert not person.sees("form[action='/arrived']")


def test_a_phone_shows_ten_letters_of_each_kind_on_few_screens(person, daemon, sandbox):
    """At 390 pixels, with what failed, needs a person, waits for a folder, is not taken, and was filed."""
    with_patients(daemon, [f"{number};Name{number};Anna;1980-05-{number % 28 + 1:02}" for number in range(100, 140)])
    text = daemon.config.read_text().replace("[state]", 'confirm = "taken"\n[destinations.scan]\ntype = "folder"\npath = "scan"\n'
        '[[routes]]\ntypes = ["prescription"]\nto = ["scan"]\n[[routes]]\ntypes = ["lab_slip", "cone_beam_report"]\nto = ["pms"]\n[state]')
    daemon.config.write_text(text)
    (daemon.folder / "scan").mkdir()
    def ten(kind, first="Anna"):
        return [of_patient(sandbox, f"Name{number}", first, f"1980-05-{number % 28 + 1:02}", kind) for number in range(100, 110)]
    # No rule takes these.
    ten("referral_letter")
    ten("lab_slip", "Berta")
    ten("cone_beam_report")
    ten("prescription")
    daemon.start()
    daemon.wait_for(lambda status: status["documents"]["failed"] == 10 and status["documents"]["reported"] == 10)
    daemon.wait_for(lambda status: status["needs_person"] == 10 and status["to_confirm"] == 10)
    (daemon.folder / "scan").rename(daemon.folder / "gone")
    ten("prescription", "Carla")
    assert daemon.run("poll").returncode == 0
    daemon.wait_for(lambda status: status["pauses"] and status["waiting"] >= 30)
    person.browser.get(daemon.link())
    # A name of a file is shown with its spaces.
    assert person.find("#today ~ table .file")
    of_name = "const name = document.querySelector('#today ~ table .file'); return [name.innerText, name.title]"
    name, place = person.browser.execute_script(of_name)
    assert name.replace("\n", " ") == place.rsplit("/", 1)[1], name
    for language in ("en", "fr", "de"):
        show(person, daemon, language)
        assert_accessible(person.browser, f"ten-{language}")
        size(person.browser, 390)
        height = person.browser.execute_script("return document.documentElement.scrollHeight")
        assert height <= 3000, f"{height} pixels high in {language}"
        # Nothing lies on something else, no word is broken, and the strip says what its colours mean.
        fields = [field.rect for field in person.browser.find_elements(By.CSS_SELECTOR, ".search .field *")]
        sides = [(one["x"], one["x"] + one["width"], one["y"], one["y"] + one["height"]) for one in fields if one["width"]]
        for one in sides:
            others = [two for two in sides if two != one and two[0] < one[1] - 1 and one[0] < two[1] - 1]
            assert not [two for two in others if two[2] < one[3] - 1 and one[2] < two[3] - 1], (language, one, others)
        for word in person.browser.find_elements(By.CSS_SELECTOR, ".tiles span"):
            assert word.get_property("scrollWidth") <= word.get_property("clientWidth"), (language, word.text)
        assert person.sees(".legend") and person.find(".legend").is_displayed()
        size(person.browser, 1280)


DOCS = Path(__file__).parents[2] / "docs"
KEYWORD = b"Description"


def chunks(png):
    """The chunks of a PNG: each with its kind and its data."""
    at = 8
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        yield kind, png[at + 8 : at + 8 + length]
        at += 12 + length


def with_text(png, text):
    """The picture with what it says in a chunk before its end (PNG, "iTXt")."""
    data = KEYWORD + b"\0\0\0\0\0" + text.encode()
    told = struct.pack(">I4s", len(data), b"iTXt") + data + struct.pack(">I", zlib.crc32(b"iTXt" + data))
    end = png.rindex(b"IEND") - 4
    return png[:end] + told + png[end:]


def text_in(png):
    start = KEYWORD + b"\0\0\0\0\0"
    found = [data.removeprefix(start) for kind, data in chunks(png) if kind == b"iTXt" and data.startswith(start)]
    return b"".join(found).decode()


def without_times(text):
    """Lines without what differs from day to day, and in no order: letters are filed side by side."""
    text = re.sub(r"\b[0-9a-f]{8}\b(-[0-9a-f-]{27})?|[0-9a-f]{64}", "UUID", text)
    text = re.sub(r"\d+\.? (Jan|Feb|Mar|Mär|Apr|May|Mai|Jun|Jul|Aug|Sep|Oct|Okt|Nov|Dec|Dez)\w*\.?", "DAY", text)
    return "\n".join(sorted(re.sub(r"\d+", "0", line) for line in text.splitlines()))


def compared(person, name):
    """The picture in docs/ shows what the page says today. SCREENS=write makes it anew."""
    shot = person.browser.execute_cdp_cmd("Page.captureScreenshot", {})
    # Which letters of the same minute are folded away is left to chance.
    person.browser.execute_script("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
    text = without_times(text_of(person))
    if os.environ.get("SCREENS") == "write":
        (DOCS / name).write_bytes(with_text(b64decode(shot["data"]), text))
    told = text_in((DOCS / name).read_bytes())
    assert told == text, f"docs/{name} is of another page: SCREENS=write .ci/browser-and-python -k screens makes it anew"


def test_the_screens_of_the_documentation_show_the_page_as_it_is(person, daemon, sandbox):
    rows = ["Nr;Name;Vorname;Geboren"]
    for number, (last, first) in enumerate((("Durand", "Zoé"), ("Lefèvre", "Anne-Sophie"), ("Martin", "Paul")), 101):
        rows.append(f"{number};{last};{first};1980-05-0{number - 100}")
        for kind in ("prescription", "cone_beam_report", "referral_letter"):
            patient = {"lastName": last, "firstName": first, "dateOfBirth": f"1980-05-0{number - 100}"}
            admin(sandbox, "documents", type=kind, patient=patient, pdf_base64=PDF)
    patient = {"lastName": "Martin", "firstName": "Paule", "dateOfBirth": "1980-05-03"}
    admin(sandbox, "documents", type="lab_slip", patient=patient, pdf_base64=PDF)
    (daemon.folder / "patients.csv").write_text("\n".join(rows) + "\n")
    text = daemon.config.read_text().replace('path = "inbox"', 'path = "inbox"\nfile_name = "{{ patient.number }}_{{ document.type }}.pdf"')
    columns = 'number = "Nr"\nlast_name = "Name"\nfirst_name = "Vorname"\ndate_of_birth = "Geboren"'
    daemon.config.write_text(f'{text}[patients]\nfile = "patients.csv"\n{columns}\n')
    daemon.start()
    daemon.wait_for(lambda status: status["documents"]["reported"] == 9 and status["needs_person"] == 1)
    size(person.browser, 1000, 720)
    person.browser.get(daemon.link())
    show(person, daemon, "en")
    compared(person, "status-page.png")
    rows = person.browser.find_elements(By.CSS_SELECTOR, "#today ~ table tr, #today ~ details tr")
    [row] = [row for row in rows if "Durand Zoé" in row.text and "Prescription" in row.text]
    letter = row.find_element(By.CSS_SELECTOR, "a").get_attribute("href")
    speak(person.browser, "de")
    person.browser.get(letter)
    # The picture has a place that anybody may have.
    inbox = daemon.folder / "inbox"
    shorten = "document.querySelectorAll('code').forEach(code => code.textContent = code.textContent.replace(...arguments))"
    person.browser.execute_script(shorten, str(inbox), "/srv/practice/import")
    compared(person, "letter-page.png")
