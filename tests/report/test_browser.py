"""The page in a real browser: no complaint on its console, and it does what it should there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess

import numpy as np
import pytest

import copart
from tests.report.test_pictures import CASES

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium is installed")

QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--hide-scrollbars"]

#: What the page looks like to its own scripts, before and after a part is pointed at.
PROBE = """
<script>
window.addEventListener("load", () => {
  const visible = (s) => [...document.querySelectorAll(s)].filter((e) => e.getClientRects().length);
  const panels = () => [...new Set(visible(".panel").map((e) => e.dataset.scheme))];
  const out = { panels: panels(), wide: document.documentElement.scrollWidth - window.innerWidth };
  document.querySelector('input[value="naive"]').click();
  out.chosen = panels();
  const part = document.querySelector('.panel[data-scheme="naive"] [data-part="a1"]');
  part.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
  const lit = [...document.querySelectorAll(".lit")];
  out.lit = lit.length;
  out.others = lit.filter((e) => e.dataset.part !== "a1" && e.dataset.other !== "a1").length;
  out.elsewhere = lit.filter((e) => e.closest("[data-scheme]").dataset.scheme !== "naive").length;
  document.body.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
  out.after = document.querySelectorAll(".lit, .dim").length;
  out.pictures = [...document.querySelectorAll("svg")].filter((s) => s.getBoundingClientRect().height > 20).length;
  const pre = document.createElement("pre");
  pre.id = "probe";
  pre.textContent = JSON.stringify(out);
  document.body.append(pre);
});
</script></body>"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    a, b = CASES["cubes"]()
    made = copart.compare(a, b, parts=(4, 3), coupled=(2, 2), seeds=1, names=("a", "b"), interedges="touch",
                          schemes=["naive", "aware", "projrepart"])
    return made.report(tmp_path_factory.mktemp("page") / "page.html")


def browse(path, folder, *options):
    """Run the browser without a window; returns what it prints and what it logs."""
    assert BROWSER is not None
    run = subprocess.run([BROWSER, *QUIET, f"--user-data-dir={folder / 'profile'}", "--enable-logging=stderr", *options,
                          path.as_uri()], capture_output=True, text=True, timeout=120,
                         env={**os.environ, "HOME": str(folder)}, check=True)
    return run.stdout, run.stderr


def test_the_console_stays_empty_and_all_sections_are_there(page, tmp_path):
    dom, log = browse(page, tmp_path, "--dump-dom")
    assert "CONSOLE" not in log, [line for line in log.splitlines() if "CONSOLE" in line]
    for key in ("words", "figures", "meshes", "interface", "matrices", "load", "messages"):
        assert f'<section id="{key}">' in dom
    # the page's own script has run: panels of the other schemes are hidden
    hidden = re.findall(r'<div class="panel" data-scheme="(\w+)" hidden="">', dom)
    assert sorted(hidden) == sorted(["naive", "aware"] * 4)


def test_an_error_on_the_console_would_be_seen(page, tmp_path):
    broken = tmp_path / "broken.html"
    broken.write_text(page.read_text("utf-8").replace("</body>", "<script>missing()</script></body>"), "utf-8")
    assert "CONSOLE" in browse(broken, tmp_path, "--dump-dom")[1]


def test_schemes_can_be_chosen_and_parts_pointed_at_on_a_phone(page, tmp_path):
    probed = tmp_path / "probed.html"
    probed.write_text(page.read_text("utf-8").replace("</body>", PROBE), "utf-8")
    dom, log = browse(probed, tmp_path, "--dump-dom", "--window-size=500,900")
    assert "CONSOLE" not in log
    seen = json.loads(re.search(r'<pre id="probe">(.*?)</pre>', dom)[1])
    assert seen["panels"] == ["projrepart"]
    assert seen["chosen"] == ["naive"]
    assert seen["wide"] <= 0, "the page is wider than the screen"
    # the part on both pictures of its mesh, on the interface if it is there, in its bars and its row
    assert seen["lit"] >= 3
    assert seen["others"] == seen["elsewhere"] == seen["after"] == 0
    assert seen["pictures"] >= 7 + 3 + 4 + 3


@pytest.mark.parametrize(("scheme", "background"), [("1", (255, 255, 255)), ("0", (18, 23, 28))])
def test_light_and_dark(page, tmp_path, scheme, background):
    from matplotlib.image import imread

    shot = tmp_path / "shot.png"
    browse(page, tmp_path, f"--blink-settings=preferredColorScheme={scheme}", "--window-size=1200,3000",
           f"--screenshot={shot}")
    image = (imread(shot)[..., :3] * 255).round().astype(int)
    assert tuple(image[5, 5]) == background
    # there is writing and there are pictures
    assert len(np.unique(image.reshape(-1, 3) @ [65536, 256, 1])) > 100
