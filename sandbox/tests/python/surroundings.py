"""What the tests share: sandboxes, and the browser."""

import shutil

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from sandbox_program import Sandbox

# One page needs no more than its own origin: every other name is unknown to this browser.
CHROMIUM_OPTIONS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--window-size=1000,900",
    "--lang=en",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


@pytest.fixture
def start_sandbox():
    """Starts sandboxes with options of the program; they end with the test."""
    running = []

    def start(*options):
        running.append(Sandbox(*options))
        return running[-1]

    yield start
    codes = [sandbox.stop() for sandbox in running]
    assert codes == [0] * len(codes), "a sandbox did not end well"


@pytest.fixture
def browser(tmp_path, request):
    """Chromium without a window. When the test fails, a picture of what it showed is kept."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for option in [*CHROMIUM_OPTIONS, f"--user-data-dir={tmp_path / 'profile'}"]:
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    yield driver
    report = getattr(request.node, "report_of_call", None)
    if report is None or report.failed:
        picture = tmp_path / "at-the-end.png"
        driver.save_screenshot(str(picture))
        print(f"the browser was at {driver.current_url}, see {picture}")
    driver.quit()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Lets the fixture above know how the test ended."""
    outcome = yield
    report = outcome.get_result()
    if report.when == "call":
        item.report_of_call = report
