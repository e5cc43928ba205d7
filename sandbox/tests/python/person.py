"""Someone before the browser, at the sandbox's authorization page."""

from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from sandbox_program import EMAIL, PASSWORD

WAIT_SECONDS = 20


class Person:
    """Someone before the browser."""

    def __init__(self, browser):
        self.browser = browser

    def until(self, condition):
        return WebDriverWait(self.browser, WAIT_SECONDS).until(lambda _: condition())

    def find(self, selector):
        return self.until(lambda: next(iter(self.browser.find_elements(By.CSS_SELECTOR, selector)), None))

    def sees(self, selector):
        return bool(self.browser.find_elements(By.CSS_SELECTOR, selector))

    def sign_in(self, password=PASSWORD, email=EMAIL):
        for name, text in (("email", email), ("password", password)):
            field = self.find(f"input[name={name}]")
            field.clear()
            field.send_keys(text)
        self.press("sign-in")

    def press(self, button):
        """Presses it, and waits until another page is there."""
        element = self.find(f"#{button}")
        self.browser.execute_script("window.thisPage = true")
        element.click()
        self.until(lambda: self.browser.execute_script("return !window.thisPage && document.readyState == 'complete'"))

    def scope(self, name):
        return self.find(f"input[type=checkbox][name=scope][value='{name}']")
