"""The forms of a page, filled in and sent as a browser does it."""

from html.parser import HTMLParser
from urllib.parse import urljoin


class Form:
    """One form: where it goes, what is in it, and its buttons by id."""

    def __init__(self, page_address, attributes):
        self.address = urljoin(page_address, attributes.get("action") or page_address)
        self.method = attributes.get("method", "get").lower()
        self.fields = []
        self.buttons = {}

    def send(self, session, button, **filled):
        """Sends it with that button; members of `filled` replace what the page put in."""
        assert self.method == "post", self.method
        fields = [(name, value) for name, value in self.fields if name not in filled]
        name, value = self.buttons[button]
        pressed = [(name, value)] if name else []
        return session.post(self.address, data=[*fields, *filled.items(), *pressed], allow_redirects=False, timeout=20)


class _Reader(HTMLParser):
    def __init__(self, page_address):
        super().__init__()
        self.page_address = page_address
        self.forms = []
        self.form = None

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "form":
            self.form = Form(self.page_address, attributes)
            self.forms.append(self.form)
        elif self.form and tag == "input" and "disabled" not in attributes and "name" in attributes:
            if attributes.get("type") not in ("checkbox", "radio") or "checked" in attributes:
                self.form.fields.append((attributes["name"], attributes.get("value") or ""))
        elif self.form and tag == "button" and "id" in attributes:
            self.form.buttons[attributes["id"]] = (attributes.get("name"), attributes.get("value") or "")

    def handle_endtag(self, tag):
        if tag == "form":
            self.form = None


def form_with(response, button):
    """The form of this page that has this button."""
    reader = _Reader(response.url)
    reader.feed(response.text)
    [form] = [form for form in reader.forms if button in form.buttons]
    return form
