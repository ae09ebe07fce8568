"""A person with a browser: signs in with a password, allows what a program asks for.

    python browser.py AUTHORIZATION-URL      account and password come from ACCOUNT and PASSWORD

Prints the address to which the browser is sent back.
"""

import html
import os
import re
import sys
import urllib.error
import urllib.parse
import urllib.request


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def fields(page):
    """Returns the number of the request and the spaces of a page."""
    number = re.search(r'name="request" value="(\d+)"', page)
    assert number, page
    return number.group(1), [html.unescape(name) for name in re.findall(r'name="space" value="([^"]+)"', page)]


def allow(address):
    opener = urllib.request.build_opener(NoRedirect)
    origin = "{0.scheme}://{0.netloc}".format(urllib.parse.urlparse(address))
    cookie = ""

    def go(url, form=None):
        nonlocal cookie
        data = urllib.parse.urlencode(form).encode() if form is not None else None
        request = urllib.request.Request(url, data, {"Cookie": cookie} if cookie else {})
        if form is not None:
            request.add_header("Origin", origin)
            request.add_header("Sec-Fetch-Site", "same-origin")
        try:
            answer = opener.open(request, timeout=30)
        except urllib.error.HTTPError as error:
            answer = error
        cookie = (answer.headers.get("Set-Cookie") or cookie).split(";")[0]
        return answer.status, answer.headers.get("Location"), answer.read().decode()

    status, _, page = go(address)
    assert status == 200, page
    number, _ = fields(page)
    form = {"request": number, "account": os.environ["ACCOUNT"], "password": os.environ["PASSWORD"]}
    status, location, page = go(f"{origin}/oauth/sign-in", form)
    assert status == 303, page
    status, _, page = go(origin + location)
    assert status == 200, page
    number, spaces = fields(page)
    form = [("request", number), ("decision", "allow"), ("access", "write")]
    status, location, page = go(f"{origin}/oauth/consent", form + [("space", space) for space in spaces])
    assert status == 303, page
    return location


if __name__ == "__main__":
    print(allow(sys.argv[1]))
