"""The coupled cases of the tutorial."""

from copart.cli import main
from copart.mesh import read_mesh
from copart.mesh.generated.cases import write_cases


def test_the_cases_of_the_tutorial(tmp_path):
    cells = write_cases(tmp_path)
    fluid, solid = (read_mesh(tmp_path / "flap" / name) for name in ("fluid.su2", "solid.su2"))
    assert (fluid.ncells, solid.ncells) == (cells["flap/fluid.su2"], cells["flap/solid.su2"]) == (12416, 960)
    # 24 edges up either side of the flap and 8 over its top; twice as many and more on the flap itself
    assert len(fluid.facet_groups["wet"]) == 2 * 24 + 8
    assert len(solid.facet_groups["wet"]) == 2 * 60 + 16
    air = read_mesh(tmp_path / "plate" / "constant" / "air")
    assert air.ncells == cells["plate:air"] == 48 * 24 * 14
    assert len(air.facet_groups["air_to_metal"]) == 48 * 14
    # every face but those of the patches is between two cells
    assert (6 * air.ncells - sum(len(f) for f in air.facet_groups.values())) % 2 == 0


def test_cases_on_the_command_line(tmp_path, capsys):
    assert main(["mesh", "cases", "-o", str(tmp_path / "new" / "folder")]) == 0
    assert "flap/fluid.su2: 12416 cells" in capsys.readouterr().out
    mark = tmp_path / "new/folder/plate/system/controlDict"
    mark.write_text("mine")
    assert main(["mesh", "cases", "-o", str(tmp_path / "new" / "folder")]) == 2
    assert "is there already" in capsys.readouterr().err
    assert mark.read_text() == "mine"
    (tmp_path / "file").write_text("")
    assert main(["mesh", "cases", "-o", str(tmp_path / "file")]) == 2
    assert "cannot be written" in capsys.readouterr().err
