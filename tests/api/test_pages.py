"""What browsers get: pages by Accept, the files that they load, and headers that bind them."""

import gzip
import html
import re
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urljoin

import pytest

from api.problems.catalogue import CATALOGUE
from api.web.pages import assets, guide, rendering
from api.web.schemas.service import ProblemKindAnswer
from tests.support.api_client import Client, seated
from tests.support.http_client import Response
from tests.support.paths import ROOT

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8"
BY_ACCEPT = ["/", "/problems", "/problems/busy"]
GUIDE = sorted(
    f"/guide/{path.removesuffix('.md').removesuffix('README')}"
    for path in guide.paths()
    if path.endswith(".md")
)
GUIDE_PICTURES = sorted(f"/guide/{path}" for path in guide.paths() if path.endswith(".svg"))
PAGES = [*BY_ACCEPT, "/docs", "/play/", *GUIDE]
ASSETS = [
    *(f"/assets/{name}" for name in (*assets.OWN, *assets.SWAGGER_UI)),
    *(f"/play/{name}" for name in sorted(assets.play_files())),
    *GUIDE_PICTURES,
]


def see(stranger: Client, path: str, **headers: str) -> Response:
    """An answer for people, of which the document says nothing."""
    with stranger.unchecked():
        return stranger.request("GET", path, headers={"Accept": BROWSER, **headers})


def links(page: str) -> list[str]:
    return re.findall(r'(?:href|src|srcset)="([^"]*)"', page)


def directives(response: Response) -> dict[str, list[str]]:
    policy = response.headers["Content-Security-Policy"]
    return {name: sources for name, *sources in map(str.split, policy.split(";"))}


# --- Page or JSON --------------------------------------------------------------------------


@pytest.mark.parametrize("path", BY_ACCEPT)
@pytest.mark.parametrize(
    "accept", [BROWSER, "text/html", "text/*", "text/html, application/json;q=0.9", "TEXT/HTML"]
)
def test_who_prefers_html_gets_a_page(stranger: Client, path: str, accept: str) -> None:
    page = see(stranger, path, Accept=accept)
    assert page.status_code == 200
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert page.headers["Vary"] == "Accept, Accept-Encoding"
    assert page.text.startswith("<!doctype html>")


@pytest.mark.parametrize("path", BY_ACCEPT)
@pytest.mark.parametrize(
    "accept",
    [
        None,
        "",
        "*/*",
        "application/json",
        "application/json, text/html",
        "text/html, application/json",
        "text/html;q=0.1, */*",
        "text/html;q=0",
        "image/png",
        "nonsense",
    ],
)
def test_everybody_else_gets_json(stranger: Client, path: str, accept: str | None) -> None:
    # None: no such header at all.
    answer = stranger.request("GET", path, headers={"Accept": accept})  # type: ignore[dict-item]
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Vary"] == "Accept, Accept-Encoding"


def test_the_service_says_where_its_parts_are(stranger: Client) -> None:
    home = stranger.get("/")
    assert home.pop("name") == "Ludothèque"
    assert home.pop("version") == stranger.get("/openapi.json")["info"]["version"]
    for path in home.values():
        with stranger.unchecked():
            assert stranger.request("GET", path).status_code == 200, path


def test_all_problems_are_listed_as_each_is_explained(stranger: Client) -> None:
    items = stranger.get("/problems")["items"]
    assert [item["code"] for item in items] == list(CATALOGUE)
    for item in items:
        assert item == stranger.get(f"/problems/{item['code']}")


@pytest.mark.parametrize("code", CATALOGUE)
def test_a_problem_has_a_page_that_explains_it(stranger: Client, code: str) -> None:
    page = html.unescape(see(stranger, f"/problems/{code}").text)
    kind = CATALOGUE[code]
    for part in (code, kind.title, kind.meaning, kind.advice, HTTPStatus(kind.status).phrase):
        assert part in page
    assert f'"./problems/{code}"' in see(stranger, "/problems").text


def test_problems_are_explained_in_sentences() -> None:
    for code, kind in CATALOGUE.items():
        assert not kind.title.endswith("."), code
        for text in (kind.meaning, kind.advice):
            assert re.fullmatch(r"[A-Z].*\.", text), code


def test_an_unknown_problem_is_a_problem_for_browsers_too(stranger: Client) -> None:
    page = see(stranger, "/problems/<script>alert(1)</script>")
    assert page.status_code == 404
    assert page.headers["Content-Type"] == "application/problem+json"


# --- Pages ---------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES)
def test_every_link_of_a_page_leads_somewhere(stranger: Client, path: str) -> None:
    text = see(stranger, path).text
    # A visitor may follow a link to another host, but a page loads nothing from there.
    assert not re.search(r'<(?!a )[^>]*"https?:', text)
    found = [link for link in links(text) if not link.startswith("https://")]
    assert found
    for link in found:
        assert not link.startswith("/"), f"{link} is wrong below a prefix"
        assert see(stranger, urljoin(path, link).partition("#")[0]).status_code == 200, link


@pytest.mark.parametrize("path", PAGES)
def test_a_page_says_its_language_and_title_and_follows_the_scheme(
    stranger: Client, path: str
) -> None:
    page = see(stranger, path).text
    assert '<html lang="en">' in page
    assert re.search(r"<title>[^<]*Ludothèque</title>", page)
    assert page.count("<main") == 1
    assert '<meta name="color-scheme" content="light dark">' in page


@pytest.mark.parametrize("path", [*BY_ACCEPT, *GUIDE])
def test_a_page_of_text_has_one_heading_and_may_run_nothing(stranger: Client, path: str) -> None:
    page = see(stranger, path)
    assert len(re.findall(r"<h1\b", page.text)) == 1
    assert "<script" not in page.text
    assert "script-src" not in directives(page)
    assert directives(page)["default-src"] == ["'none'"]


def test_the_reference_may_load_from_its_own_server_alone(stranger: Client) -> None:
    allowed = directives(see(stranger, "/docs"))
    assert allowed.pop("img-src") == ["'self'", "data:"]
    for name in ("script-src", "style-src", "connect-src"):
        assert allowed.pop(name) == ["'self'"]
    assert set(allowed) == {"default-src", "base-uri", "form-action", "frame-ancestors"}
    assert all(sources == ["'none'"] for sources in allowed.values())


@pytest.mark.parametrize("name", ["", "index.html", "main.js", "en.json"])
def test_the_table_in_the_browser_may_load_from_its_own_server_alone(
    stranger: Client, name: str
) -> None:
    allowed = directives(see(stranger, f"/play/{name}"))
    for kind in ("script-src", "style-src", "connect-src", "img-src"):
        assert allowed.pop(kind) == ["'self'"]
    assert set(allowed) == {"default-src", "base-uri", "form-action", "frame-ancestors"}
    assert all(sources == ["'none'"] for sources in allowed.values())


@pytest.mark.parametrize("folder", ["play", "guide"])
def test_the_address_without_a_slash_leads_to_the_folder_also_below_a_prefix(
    stranger: Client, folder: str
) -> None:
    with stranger.unchecked():
        answer = stranger.request("GET", f"/{folder}")
    assert (answer.status_code, answer.headers["Location"]) == (308, f"{folder}/")


@pytest.mark.parametrize("path", PAGES)
def test_no_page_has_inline_scripts_or_styles(stranger: Client, path: str) -> None:
    page = see(stranger, path).text
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", page)
    assert all(re.search(r"\ssrc=", tag) for tag in re.findall(r"<script[^>]*>", page))


@pytest.mark.parametrize("name", ["table.webp", "table-dark.webp"])
def test_a_picture_of_the_table_is_small(name: str) -> None:
    picture = assets.find(name)
    assert picture
    assert picture.content_type == "image/webp"
    assert len(picture.content.plain) < 150_000


def test_what_is_put_into_a_page_stays_text() -> None:
    hostile = ProblemKindAnswer("a", 409, "<b>&\"'", "<script>alert(1)</script>", "<i>")
    template = rendering._templates.get_template("problem.html")
    page = template.render(root="../", problem=hostile, phrases={409: "Conflict"})
    assert "&lt;b&gt;&amp;" in page
    assert not re.search(r"<(script|b|i)>", page)


# --- The guide -----------------------------------------------------------------------------


def test_the_guide_has_the_documents_of_the_repository() -> None:
    docs = ROOT / "docs"
    files = {str(path.relative_to(docs)) for path in docs.rglob("*") if path.is_file()}
    assert guide.paths() == files


@pytest.mark.parametrize("path", ["/", "/docs", "/problems"])
def test_other_pages_link_to_the_guide(stranger: Client, path: str) -> None:
    assert "./guide/" in links(see(stranger, path).text)


@pytest.mark.parametrize("path", GUIDE)
def test_a_link_into_a_document_names_one_of_its_headings(stranger: Client, path: str) -> None:
    for link in links(see(stranger, path).text):
        target, _, anchor = urljoin(path, link).partition("#")
        if anchor:
            assert f' id="{anchor}"' in see(stranger, target).text, link


@pytest.mark.parametrize("path", GUIDE)
def test_a_document_is_sent_once_and_then_confirmed(stranger: Client, path: str) -> None:
    plain = see(stranger, path, **{"Accept-Encoding": "identity"})
    packed = see(stranger, path, **{"Accept-Encoding": "gzip"})
    assert plain.content == gzip.decompress(packed.content)
    for answer in (plain, packed):
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        assert answer.headers["Content-Language"] == "en"
        assert answer.headers["Cache-Control"] == "public, no-cache"
        assert answer.headers["Vary"] == "Accept-Encoding"
        again = see(stranger, path, **{"If-None-Match": answer.headers["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
        is_safe(again)


@pytest.mark.parametrize("path", [GUIDE[0], GUIDE_PICTURES[0]])
def test_the_head_of_a_document_is_that_of_the_whole(stranger: Client, path: str) -> None:
    whole = see(stranger, path)
    with stranger.unchecked():
        head = stranger.request("HEAD", path, headers={"Accept": BROWSER})
    assert (head.status_code, head.content) == (200, b"")
    for name in ("Content-Type", "Content-Length", "ETag", "Content-Security-Policy"):
        assert head.headers[name] == whole.headers[name], name


@pytest.mark.parametrize(
    "name",
    [
        "none",
        "clients.md",
        "clients/",
        "README",
        "README.md",
        "rules",
        "rules/",
        "rules/none",
        "growth",
        "../README.md",
        "..%2FREADME",
        "%2Fetc%2Fpasswd",
        "rules%2Fparade.md",
        "rules//parade",
    ],
)
def test_there_is_nothing_else_in_the_guide(stranger: Client, name: str) -> None:
    with stranger.unchecked():
        stranger.refused("not_found", "GET", f"/guide/{name}")


def test_html_in_a_document_stays_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = "# <b>A</b>\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1)) <i onclick=x>\n"
    (tmp_path / "hostile.md").write_text(hostile)
    monkeypatch.setattr(guide, "_folder", lambda: tmp_path)
    page = guide._document.__wrapped__("hostile.md").plain.decode()
    assert not re.search(r"<(script|b|i)\b|href=.javascript", page)
    assert "&lt;script&gt;" in page


# --- What pages load -----------------------------------------------------------------------


@pytest.mark.parametrize("path", ASSETS)
def test_an_asset_comes_compressed_or_not_and_is_not_sent_twice(
    stranger: Client, path: str
) -> None:
    plain = see(stranger, path, **{"Accept-Encoding": "identity"})
    packed = see(stranger, path, **{"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert plain.content == gzip.decompress(packed.content)
    assert plain.headers["ETag"] == packed.headers["ETag"]
    assert plain.headers["ETag"].startswith("W/")
    for answer in (plain, packed):
        assert answer.headers["Content-Type"] == assets.TYPES[path.rpartition(".")[2]]
        assert answer.headers["Vary"] == "Accept-Encoding"
        known = {
            "If-None-Match": answer.headers["ETag"],
            "Accept-Encoding": answer.headers.get("Content-Encoding", "identity"),
        }
        again = see(stranger, path, **known)
        assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "name",
    [
        "",
        "none.css",
        "docs.html",
        "LICENSE",
        "..%2F..%2Fkinds.py",
        "%2Fetc%2Fpasswd",
    ],
)
@pytest.mark.parametrize("folder", ["assets", "play"])
def test_no_other_file_can_be_had(stranger: Client, folder: str, name: str) -> None:
    if (folder, name) == ("play", ""):
        return  # the page itself
    with stranger.unchecked():
        stranger.refused("not_found", "GET", f"/{folder}/{name}")


# --- Every answer --------------------------------------------------------------------------


def is_safe(response: Response) -> None:
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert response.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    policy = directives(response)
    assert policy["default-src"] == ["'none'"]
    assert policy["frame-ancestors"] == ["'none'"]
    assert not re.search(r"[0-9]", response.headers.get("Server", ""))


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        *[("GET", path, 200) for path in PAGES],
        *[("GET", path, 200) for path in ASSETS],
        ("GET", "/play", 308),
        ("GET", "/guide", 308),
        ("GET", "/guide/none", 404),
        ("GET", "/livez", 200),
        ("GET", "/v1/rulesets", 200),
        ("GET", "/openapi.yaml", 200),
        ("HEAD", "/v1/games", 200),
        ("OPTIONS", "/v1/games", 200),
        ("GET", "/v1/me", 401),
        ("GET", "/nowhere", 404),
        ("PUT", "/v1/games", 405),
        ("POST", "/v1/players", 400),
        ("GET", "/v1/games?limit=0", 422),
    ],
)
def test_every_answer_tells_browsers_to_be_careful(
    stranger: Client, method: str, path: str, status: int
) -> None:
    with stranger.unchecked():
        answer = stranger.request(method, path, headers={"Accept": BROWSER})
    assert answer.status_code == status
    is_safe(answer)


def test_what_has_not_changed_and_what_streams_is_safe_as_well(ada: Client, bob: Client) -> None:
    path = f"/v1/games/{seated([ada, bob])['id']}"
    known = {"If-None-Match": ada.request("GET", path).headers["ETag"]}
    unchanged = ada.request("GET", path, headers=known)
    assert unchanged.status_code == 304
    is_safe(unchanged)
    with ada.open("GET", f"{path}/stream") as opened:
        assert opened.headers["Content-Type"].startswith("text/event-stream")
        is_safe(opened)


def test_a_data_answer_may_load_nothing_as_a_page(stranger: Client) -> None:
    answer = stranger.request("GET", "/v1/rulesets")
    assert directives(answer) == {"default-src": ["'none'"], "frame-ancestors": ["'none'"]}
