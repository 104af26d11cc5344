"""The page: well-formed, self-contained, its figures those of the metrics, its pictures what they claim."""

from __future__ import annotations

import base64
import io
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import copart
from copart.cli import main
from copart.coupling import Interedges
from copart.errors import ConfigError
from copart.mesh import cube, cylinder, tube
from copart.metrics.columns import COMPONENT_COLUMNS, PAIR_COLUMNS, step_time
from copart.report.charts import histogram_edges
from copart.report.coupled import coupled_page, page_of
from copart.report.drawing import borders, numbers, outlines, palette, png
from copart.report.page import need_page, write_page
from copart.report.repartition import repartition_page
from tests.report.test_pictures import CASES

from ..helpers import grid

VOID = {"meta", "input", "br", "hr", "img", "link"}
SECTIONS = ["words", "figures", "meshes", "interface", "matrices", "load", "messages"]


class Page(HTMLParser):
    """Checks that every tag is closed where it should be, and collects what tests ask for."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text, self.tables = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice: {names}"
        self.tags.append((tag, dict(attrs), tuple(self.open)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs), tuple(self.open)))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> closes something else, at {self.getpos()}"

    def handle_data(self, data):
        if {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data
        if not {"script", "style"} & set(self.open):
            self.text.append(data)

    def all(self, tag):
        return [attrs for t, attrs, _ in self.tags if t == tag]


def compared(case="cubes", **more):
    a, b = CASES[case]()
    return copart.compare(a, b, parts=(4, 3), coupled=(2, 2), seeds=2, names=("a & b", "<b>"), interedges="touch",
                          **{"schemes": ["naive", "aware", "projrepart"], **more})


@pytest.fixture(scope="module")
def made():
    return compared()


@pytest.fixture(scope="module")
def page(made):
    return page_of(made)


# ---- the page as a document
@pytest.mark.parametrize("case", CASES)
def test_pages_are_well_formed_and_complete(case):
    found = Page(page_of(compared(case)))
    assert [s["id"] for s in found.all("section")] == SECTIONS
    assert [a["href"] for a in found.all("a")] == [f"#{s}" for s in SECTIONS]
    assert len(found.all("h1")) == len(found.all("main")) == 1
    assert found.all("html")[0]["lang"] == "en"
    # everything is named for those who cannot see it
    pictures = found.all("svg")
    assert all(s["role"] == "img" and s["aria-label"] for s in pictures)
    ids = [attrs["id"] for _, attrs, _ in found.tags if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_the_page_needs_nothing_from_elsewhere(page):
    found = Page(page)
    for tag, attrs, _ in found.tags:
        for name in ("src", "href", "xlink:href", "action", "data", "srcset", "poster"):
            value = attrs.get(name, "#")
            assert value.startswith(("#", "data:image/png;base64,")), f"<{tag} {name}={value[:60]!r}>"
    assert not {"link", "iframe", "img", "object", "embed", "base"} & {tag for tag, _, _ in found.tags}
    assert not re.search(r"(?:https?:)?//[\w.-]+\.\w|@import|url\(|@font-face|\bfetch\(|XMLHttpRequest|import\(", page)


def test_what_scrolls_takes_the_keyboard_and_the_choice_is_in_a_landmark(page):
    found = Page(page)
    scroll = [attrs for attrs in found.all("div") if attrs.get("class") in ("scroll", "wider")]
    assert {attrs["class"] for attrs in scroll} == {"scroll", "wider"}
    for attrs in scroll:
        assert (attrs["tabindex"], attrs["role"]) == ("0", "group")
        assert attrs["aria-label"]
    # a landmark of one kind has a name of its own
    assert [attrs["aria-label"] for _, attrs, _ in found.tags if attrs.get("role") == "region"] == ["what is shown"]
    before, after = page.split("<fieldset", 1)
    assert before.rindex('role="region"') > before.rindex("</header>")
    assert after.index("</fieldset>") < after.index("<main>")


def test_one_of_a_thing_is_no_plural():
    a, b = cube("hexa", 1, name="a"), cube("hexa", 1, offset=(1, 0, 0), name="b")
    said = "".join(Page(page_of(copart.plan(a, b, parts=(1, 1)))).text)
    assert "message from a to b" in said
    assert not re.search(r"(?<![\d,.])1\s*(messages|values|cells|parts|edges)\b", said)


def test_names_are_escaped(made, page):
    found = Page(page)
    assert found.all("h1")
    assert "a & b and <b>, coupled" in found.text
    assert "<b>, coupled" not in page
    assert not [tag for tag, _, inside in found.tags if tag == "b" and {"h1", "h3", "summary", "td"} & set(inside)]


def test_every_heading_of_a_table_has_its_meaning_on_hover_and_below(page):
    found = Page(page)
    heads = [attrs for tag, attrs, inside in found.tags if tag == "th" and "thead" in inside]
    assert heads
    assert all(attrs["title"] for attrs in heads)
    terms, meanings = len(found.all("dt")), len(found.all("dd"))
    assert terms == meanings == len(heads)
    below = "".join(found.text)
    assert all(attrs["title"] in below for attrs in heads)


def test_figures_are_those_of_the_metrics(made, page):
    tables = Page(page).tables
    schemes, paid, halos, components, pairs, step = tables[:6]
    for row, shown in zip(made.rows(), schemes[1:], strict=True):
        assert shown[0] == row["scheme"]
        assert shown[1:5] == [f"{100 * row[k]:.2f}" for k in ("ub_a", "ub_b", "ub_cpl_a", "ub_cpl_b")]
        assert shown[5:11] == [f"{row[k]:.0f}" for k in ("cut_a", "cut_b", "cut_cpl_a", "cut_cpl_b", "totV")] + [
            f"{row['totZ']:.1f}"]
    metrics = next(r.metrics for r in made.runs if r.scheme == made.schemes[-1])
    for c, shown in zip(metrics.components.values(), components[1:], strict=True):
        assert shown == [f"{100 * getattr(c, k.key):.2f}" if "%" in k.title else str(getattr(c, k.key))
                         for k in COMPONENT_COLUMNS]
    assert pairs[1][1:] == [str(getattr(metrics.pair, k.key)) for k in PAIR_COLUMNS[1:]]
    figures = metrics.step
    times = [figures.T_step, figures.regular, figures.T_cpl]
    assert step[1] == [*(step_time(t) for t in times), f"{100 * figures.waits:.2f}", str(metrics.maxV),
                       str(metrics.maxZ)]
    for row, shown in zip(made.rows(), paid[1:], strict=True):
        assert shown[0] == row["scheme"]
        assert shown[-4:-1] == [step_time(row[k]) for k in ("T_step", "T_reg", "T_cpl")]
    for row, shown in zip(made.rows(), halos[1:], strict=True):
        assert shown[0] == row["scheme"]
        assert [float(x) for x in shown[1:]] == pytest.approx(
            [row[f"{key}_{x}"] for key in ("MSV", "TM", "MSM") for x in "ab"], abs=0.5)
    # the tables of every part hold all of the load
    every = [t for t in tables if t[0][0] == "part"]
    assert len(every) == 2 * len(made.schemes)
    totals = [g.total_weight for g in made.problem.components.values()]
    assert [sum(int(row[2]) for row in t[1:]) for t in every] == totals * len(made.schemes)


def test_matrices_have_an_entry_a_message(made, page):
    for i, scheme in enumerate(made.schemes):
        pair = copart.evaluate(made.problem, made.copartitions[scheme]).pair
        matrix = re.findall(r'<svg class="chart matrix".*?</svg>', page, re.S)[i]
        told = re.findall(r"part (\d+) of a &amp; b sends ([\d,]+) values? to part (\d+) of &lt;b&gt;", matrix)
        dense = np.zeros(pair.matrix.shape, int)
        for p, size, q in told:
            dense[int(p), int(q)] = int(size.replace(",", ""))
        assert len(told) == pair.totZ
        assert (dense == pair.matrix.toarray()).all()


def test_schemes_can_be_chosen(made, page):
    found = Page(page)
    radios = [attrs for attrs in found.all("input") if attrs["type"] == "radio"]
    assert [r["value"] for r in radios] == list(made.schemes)
    assert ["checked" in r for r in radios] == [False, False, True]
    panels = [attrs["data-scheme"] for attrs in found.all("div") if attrs.get("class") == "panel"]
    assert sorted(panels) == sorted(list(made.schemes) * 4)


def test_a_plan_has_no_choice_and_graphs_have_no_pictures():
    side = np.arange(10)
    relation = Interedges.from_pairs(100, 100, 90 + side, side)
    plan = copart.plan(grid(10, 10), grid(10, 10), parts=(4, 4), interedges=relation)
    found = Page(page_of(plan))
    assert not found.all("input")
    assert [s["id"] for s in found.all("section")] == ["words", "figures", "matrices", "load", "messages"]
    assert not found.all("image")


def test_nothing_coupled_is_said():
    graph = grid(4, 4)
    problem = copart.CoupledProblem.of_two(graph, graph, Interedges.from_pairs(16, 16, [], []))
    part = np.arange(16) // 8
    html = coupled_page(problem, {}, {"x": copart.CoPartition({"a": part, "b": part}, {"a": 2, "b": 2})}, {})
    found = Page(html)
    assert any("Nothing goes between a and b" in text for text in found.text)
    assert "messages" not in [s["id"] for s in found.all("section")]


def test_three_components_are_shown_pair_by_pair():
    rows = Interedges.from_pairs(16, 16, range(12, 16), range(4))
    graphs = {name: grid(4, 4) for name in "abc"}
    problem = copart.CoupledProblem(graphs, {("a", "b"): rows, ("b", "c"): rows})
    part = np.arange(16) // 4
    made = copart.CoPartition(dict.fromkeys("abc", part), dict.fromkeys("abc", 4))
    found = Page(coupled_page(problem, {}, {"x": made}, {"eps": 0.05}))
    assert [row[0] for row in found.tables[1]] == ["pair", "a - b", "b - c"]
    assert [s["class"] for s in found.all("svg")].count("chart matrix") == 2
    assert {attrs["data-part"][0] for _, attrs, _ in found.tags if "data-part" in attrs} == {"a", "b", "c"}


def test_meshes_that_share_a_volume_have_no_surface_to_show():
    plan = copart.plan(cube("hexa", 4), cube("hexa", 3, offset=(0.5, 0, 0)), parts=(3, 2), interedges="overlap")
    html = page_of(plan)
    assert "share a volume and not a surface" in html
    assert len(Page(html).all("image")) == 4


# ---- repartitioning
def test_the_page_of_a_repartitioning(tmp_path):
    mesh = cube("hexa", 6)
    graph = copart.mesh.dual_graph(mesh)
    old, new = np.arange(216, dtype=np.int32) // 54, np.arange(216, dtype=np.int32) // 36
    moves = copart.metrics.migration_matrix(old, new, 4, 6)
    figures = {"method": "mxn", "former_parts": 4, "parts": 6, "ub": 0.0, "cut": 180, "pieces": 6, "seconds": 0.1,
               "migration_volume": copart.metrics.migration_volume(moves),
               "migration_messages": copart.metrics.migration_messages(moves)}
    html = repartition_page(graph, old, new, 4, 6, figures, mesh, eps=0.05, name="block")
    found = Page(html)
    assert [s["id"] for s in found.all("section")] == ["words", "figures", "meshes", "migration", "load", "messages"]
    assert found.tables[0][1][:3] == ["mxn", "4", "6"]
    moved = re.findall(r"([\d,]+) go from former part (\d+) to part (\d+)", html)
    stay = re.findall(r"([\d,]+) stay in part", html)
    assert len(moved) == figures["migration_messages"]
    assert sum(int(n) for n, _, _ in moved) == figures["migration_volume"]
    assert sum(int(n) for n in stay) == 216 - figures["migration_volume"]


# ---- pictures
def test_png_is_read_back_equal():
    from matplotlib.image import imread

    pixels = np.random.default_rng(1).integers(0, len(palette()), (33, 50)).astype(np.uint8)
    image = (imread(io.BytesIO(png(pixels, palette()))) * 255).round().astype(np.uint8)
    assert (image[..., 3] == np.where(pixels == 0, 0, 255)).all()
    assert (image[pixels > 0, :3] == palette()[pixels[pixels > 0]]).all()


def filled(paths, shape):
    """Paint rectilinear SVG paths by counting the vertical sides to the left of each pixel."""
    out = np.full(shape, -1)
    for part, path in paths.items():
        crossings = np.zeros((shape[0], shape[1] + 1), int)
        for loop in path.split("z")[:-1]:
            x, y = map(int, re.match(r"M(-?\d+) (-?\d+)", loop).groups())
            corner = y
            for kind, length in [*re.findall(r"([hv])(-?\d+)", loop), ("end", "0")]:
                if kind == "h":
                    x += int(length)
                else:
                    # the side that closes the loop is not written
                    to = y + int(length) if kind == "v" else corner
                    low, high = sorted((y, to))
                    crossings[low:high, x] += 1
                    y = to
        out[np.cumsum(crossings, axis=1)[:, :-1] % 2 == 1] = part
    return out


@pytest.mark.parametrize("seed", range(4))
def test_outlines_enclose_their_parts(seed):
    # blobs with holes and corners that touch
    small = np.random.default_rng(seed).integers(-1, 3, (9, 12))
    seen = np.kron(small, np.ones((2 * (1 + seed % 2),) * 2, int)).astype(np.int32)
    assert (filled(outlines(seen), seen[::2, ::2].shape) == seen[::2, ::2]).all()


def test_borders_lie_between_parts_only():
    seen = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [-1, -1, 2, 2]], np.int32)
    assert (borders(seen) == [[0, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]]).all()
    assert not borders(np.zeros((3, 3), np.int32)).any()


def test_numbers_stand_inside_their_parts():
    seen = np.full((120, 200), -1, np.int32)
    seen[10:110, 10:90], seen[10:110, 90:190], seen[50:54, 20:24] = 3, 7, 5
    found = re.findall(r'<text x="(\d+)" y="(\d+)">(\d+)</text>', numbers(seen))
    placed = {int(p): (int(x), int(y)) for x, y, p in found}
    assert set(placed) == {3, 7}  # 5 is too small
    for p, (x, y) in placed.items():
        assert seen[2 * y, 2 * x] == p


def test_histogram_bins_hold_all_sizes():
    sizes = [np.array([1, 5, 213]), np.array([240, 3])]
    edges = histogram_edges(sizes)
    assert edges[0] == 0
    assert edges[-1] > 240
    assert (edges % 1 == 0).all()
    assert sum(np.histogram(s, edges)[0].sum() for s in sizes) == 5
    assert histogram_edges([np.array([1])]).tolist() == [0, 1, 2]


# ---- writing
def test_pages_are_checked_before_the_work(tmp_path):
    with pytest.raises(ConfigError, match=r"ends in \.html"):
        need_page(tmp_path / "report.pdf")
    (tmp_path / "x.html").mkdir()
    with pytest.raises(ConfigError, match="is a folder"):
        need_page(tmp_path / "x.html")
    assert write_page(tmp_path / "new" / "p.html", "<p>").read_text() == "<p>"
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["p.html"]


def test_commands_write_pages(tmp_path, capsys):
    copart.mesh.write_mesh(tmp_path / "a.vtu", tube(0.5, 0.6, 2.0, (2, 12, 4), name="a"))
    copart.mesh.write_mesh(tmp_path / "b.vtu", cylinder(0.5, 2.0, (6, 4), name="b"))
    pair = [str(tmp_path / "a.vtu"), str(tmp_path / "b.vtu"), "--parts", "3", "2"]
    assert main(["plan", *pair, "-o", str(tmp_path / "out"), "--report"]) == 0
    assert main(["compare", *pair, "--seeds", "1", "--report", str(tmp_path / "c.html")]) == 0
    assert main(["part", str(tmp_path / "a.vtu"), "3", "-o", str(tmp_path / "a.part.3")]) == 0
    assert main(["repart", str(tmp_path / "a.vtu"), str(tmp_path / "a.part.3"), "4", "-o", str(tmp_path / "n.part.4"),
                 "--report", str(tmp_path / "r.html")]) == 0
    assert f"wrote {tmp_path / 'r.html'}" in capsys.readouterr().out
    for name in ("out/report.html", "c.html", "r.html"):
        found = Page((tmp_path / name).read_text("utf-8"))
        assert {"meshes", "load"} <= {s["id"] for s in found.all("section")}
    assert main(["compare", *pair, "--report", str(tmp_path / "c.txt")]) == 2
    assert "ends in .html" in capsys.readouterr().err


def test_pictures_hold_the_colours_of_their_parts(page):
    from matplotlib.image import imread

    images = re.findall(r'<image href="data:image/png;base64,([^"]+)" width="([\d.]+)" height="([\d.]+)"', page)
    assert len(images) == 3 * (2 * 2 + 3)
    code = np.array([65536, 256, 1])
    known = set((palette() @ code).tolist())
    for data, width, height in images:
        image = (imread(io.BytesIO(base64.b64decode(data))) * 255).round().astype(int)
        assert image.shape[:2] == (round(2 * float(height)), round(2 * float(width)))
        there = image[..., 3] > 0
        assert set(np.unique(image[there, :3] @ code).tolist()) <= known
        # the last of an interface has borders only, the others are filled
        assert 0 < there.mean() < 1
    assert sum(len(data) > 4000 for data, _, _ in images) >= 3 * (2 * 2 + 2)
