"""Tables of times: metrics by any of their names, files, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from copart.errors import FormatError
from copart.formats.times_file import read_times


def table(tmp_path, text: str):
    path = tmp_path / "times.csv"
    path.write_text(text)
    return path


def test_metrics_by_any_of_their_names(tmp_path):
    found = read_times(table(tmp_path, "# a remark\nRun, Seconds, weighted_hops, th\n\na,1.5,3,4\nb,2e1,5,6\n"))
    assert found.seconds.tolist() == [1.5, 20]
    assert {name: values.tolist() for name, values in found.metrics.items()} == {"WH": [3, 5], "TH": [4, 6]}
    assert (found.case, found.files, found.lines) == (None, [], [4, 5])


def test_files_and_cases(tmp_path):
    found = read_times(table(tmp_path, "case,time,tasks,part,machine,mapping\nx,1,g,,m,a\ny,2,g,p,m,b\n"))
    assert found.case == ["x", "y"]
    assert found.files == [{"tasks": "g", "part": "", "machine": "m", "mapping": "a"},
                           {"tasks": "g", "part": "p", "machine": "m", "mapping": "b"}]
    assert not found.metrics
    assert np.array_equal(found.seconds, [1, 2])


@pytest.mark.parametrize(("text", "line", "said"), [
    ("", None, "is empty; needs a heading such as seconds,TH,WH,MC"),
    ("seconds,TH\n", 1, "has a heading only"),
    ("seconds,hops\n1,2\n", 1, "column 'hops' is not known; next to seconds, run and case there may be TH, WH"),
    ("seconds,weighted_hop\n1,2\n", 1, "did you mean weighted_hops?"),
    ("TH,WH\n1,2\n", 1, "has no column seconds"),
    ("seconds,time,WH\n1,2,3\n", 1, "has seconds in two columns"),
    ("seconds,WH,weighted_hops\n1,2,3\n", 1, "has WH in two columns"),
    ("seconds,run\n1,2\n", 1, "has no column with a metric"),
    ("seconds,TH,mapping\n1,2,3\n", 1, r"has both metrics \(TH\) and files \(mapping\)"),
    ("seconds,mapping,tasks\n1,2,3\n", 1, "has mapping but no machine; metrics are computed from all of tasks"),
    ("seconds,part\n1,2\n", 1, "has part but no tasks and no machine and no mapping"),
    ("seconds,TH\n1,2\n1,2,3\n", 3, "needs 2 entries, has 3"),
    ("seconds,TH\n1,two\n", 2, "TH: needs a number of at least 0, has 'two'"),
    ("seconds,total_hops\n1,\n", 2, "TH: needs a number of at least 0, has ''"),
    ("seconds,TH\n1,2\nnan,2\n", 3, "seconds: needs a number of at least 0, has 'nan'"),
    ("time,TH\n-1,2\n", 2, "time: needs a number of at least 0, has '-1'"),
    ("seconds,TH\n1,inf\n", 2, "TH: needs a number of at least 0, has 'inf'"),
    ("seconds,case,TH\n1,,2\n", 2, "case: is empty"),
    ("seconds,tasks,machine,mapping\n1,a,b,\n", 2, "mapping: is empty"),
])
def test_ill_formed_tables(tmp_path, text, line, said):
    with pytest.raises(FormatError, match=said) as caught:
        read_times(table(tmp_path, text))
    assert f"{tmp_path / 'times.csv'}{'' if line is None else f':{line}'}:" in str(caught.value)
