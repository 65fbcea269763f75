"""Pictures of the table in the browser, taken from a running service.

    python -m tests.browser.screenshots FOLDER

writes the lobby, a table of each ruleset and a result, light and dark, on a desktop and a phone.
`--keep` writes the two pictures of a table that the README and the start page show.
"""

import argparse
import base64
import tempfile
from pathlib import Path
from typing import Any

from tests.browser.browser import Browser
from tests.browser.scenes import DESKTOP, PHONE, SCHEMES, Scenes
from tests.support.paths import ROOT
from tests.support.service import UNLIMITED, serving

KEPT = ROOT / "api" / "web" / "pages" / "static"
KEPT_SIZE = {"width": 1080, "height": 700, "scale": 1.5}
SCREENS = {"desktop": DESKTOP, "phone": PHONE}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Take pictures of the table in the browser.")
    parser.add_argument("folder", type=Path, nargs="?", help="where to write all of them")
    parser.add_argument("--keep", action="store_true", help="write those of README and start page")
    parser.add_argument("--language", choices=("en", "fr"), default="en")
    parser.add_argument("--full", action="store_true", help="with all seats taken, not only four")
    parser.add_argument("--whole", action="store_true", help="whole pages, not only a screen")
    arguments = parser.parse_args(argv)
    with (
        tempfile.TemporaryDirectory() as directory,
        serving(directory, **UNLIMITED) as service,
    ):
        browser = Browser(Path(directory) / "profile", "--hide-scrollbars")
        try:
            camera = Camera(browser, arguments.whole)
            if arguments.keep:
                keep(camera, Scenes(browser, service.url))
            if arguments.folder:
                scenes = Scenes(browser, service.url, arguments.language)
                take_all(camera, scenes, arguments.folder, arguments.full)
        finally:
            browser.close()


class Camera:
    """Takes pictures of what a browser shows."""

    def __init__(self, browser: Browser, is_whole: bool) -> None:
        self.browser = browser
        self.is_whole = is_whole

    def take(self, path: Path) -> None:
        how: dict[str, Any] = {"format": path.suffix[1:], "captureBeyondViewport": self.is_whole}
        if path.suffix == ".webp":
            how["quality"] = 80
        if self.is_whole:
            size = self.browser.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})
            how["clip"] = {**size["cssContentSize"], "scale": 1}
        taken = self.browser.driver.execute_cdp_cmd("Page.captureScreenshot", how)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(taken["data"]))
        print(path)


def take_all(camera: Camera, scenes: Scenes, folder: Path, is_full: bool) -> None:
    rulesets = scenes.rulesets

    def take(name: str) -> None:
        for screen, size in SCREENS.items():
            for scheme in SCHEMES:
                scenes.look(scheme, **size)
                camera.take(folder / f"{name}-{screen}-{scheme}.png")

    scenes.show_lobby()
    take("lobby")
    for ruleset in rulesets:
        scenes.show_table(ruleset, scenes.most_seats(ruleset) if is_full else 4, 3)
        scenes.focus_the_most_telling_part()
        take(ruleset)
    scenes.show_result("parade", 6 if is_full else 4)
    take("result")


def keep(camera: Camera, scenes: Scenes) -> None:
    scenes.look(SCHEMES[0], **KEPT_SIZE)
    marked = 0
    while not 2 <= marked <= 4:  # deals are random
        scenes.show_table("parade", 4, 8)
        marked = scenes.focus_the_most_telling_part()
    for scheme, name in zip(SCHEMES, ("table.webp", "table-dark.webp"), strict=True):
        scenes.look(scheme, **KEPT_SIZE)
        camera.take(KEPT / name)


if __name__ == "__main__":
    main()
