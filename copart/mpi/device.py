"""Fields in the memory of a GPU: packed there and handed to MPI as they are.

What is known of an array is its ``__cuda_array_interface__``, which mpi4py passes on to an MPI that was built for it,
and its ``__array_namespace__`` (the array API standard, as in CuPy).  Tried with arrays that only look as if they were
on a device: no GPU was at hand.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ConfigError
from .fields import Layout

#: What can be made of values on a device: no arithmetic is done there.
MAPPINGS = ("nearest", "raw")


def on_device(values: Any) -> bool:
    """Whether an array is in the memory of a GPU."""
    return hasattr(values, "__cuda_array_interface__")


class DeviceField(NamedTuple):
    """One field on a device, with what a transfer needs of a layout."""

    layout: Layout
    namespace: Any

    @classmethod
    def of(cls, mapping: str, values: Any, count: int | None) -> DeviceField:
        """From the array of a sender, with `count` rows, or what a receiver says to expect.

        Raises
        ------
        ConfigError
            The mapping needs arithmetic, or the array has another shape.
        """
        if mapping not in MAPPINGS:
            raise ConfigError(f"mapping: of values on a device must be one of {', '.join(MAPPINGS)}, got {mapping!r}; "
                              f"copy them to the host for others")
        if not hasattr(values, "__array_namespace__"):
            raise ConfigError(f"values: an array on a device needs __array_namespace__, {type(values).__name__} has "
                              f"none")
        shape = tuple(values.shape)
        if len(shape) not in (1, 2) or (count is not None and shape[0] != count) or 0 in shape[1:]:
            raise ConfigError(f"values: needs shape ({'n' if count is None else count},) or (..., ncomp), has {shape}")
        dtype = np.dtype(str(values.dtype).rpartition(".")[2])
        return cls(Layout(mapping, ((dtype.str, shape[1:]),)), values.__array_namespace__())

    def empty(self, count: int) -> Any:
        """An array on the device for so many cells."""
        (dtype, shape), = self.layout.fields
        return self.namespace.empty((count, *shape), dtype=getattr(self.namespace, np.dtype(dtype).name))

    def packed(self, fields: Any, index: NDArray[np.int64]) -> Any:
        """The entries `index` of a field; complete before MPI reads it."""
        out = self.namespace.take(fields[0], self.namespace.asarray(index), axis=0)
        cuda = getattr(self.namespace, "cuda", None)
        if cuda is not None:
            cuda.get_current_stream().synchronize()
        return out

    def unpacked(self, came: Any) -> list[Any]:
        """The field as it came."""
        return [came]

    def rows(self, came: Any, index: NDArray[np.int64]) -> Any:
        """Some rows of it."""
        return self.namespace.take(came, self.namespace.asarray(index), axis=0)


__all__ = ["MAPPINGS", "DeviceField", "on_device"]
