"""What people look at: tables of figures, pictures of parts, and the page that holds all of it.

The page (:mod:`.coupled`, :mod:`.repartition`) is made with numpy alone, so that it
needs nothing that copart does not; only pictures by themselves (:mod:`.pictures`)
need matplotlib.
"""

from .tables import (
    COMPARISON_COLUMNS,
    Table,
    comparison_table,
    component_table,
    halo_html,
    halo_table,
    paid_html,
    paid_table,
    pair_table,
    scheme_table,
    step_table,
)

__all__ = ["COMPARISON_COLUMNS", "Table", "comparison_table", "component_table", "halo_html", "halo_table",
           "paid_html", "paid_table", "pair_table", "scheme_table", "step_table"]
