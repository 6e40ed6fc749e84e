"""Cache-line-aligned arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def aligned(shape: tuple[int, ...], kind: type[np.generic] = np.uint64, unit: int = 64) -> NDArray[Any]:
    """Return an array of zeros whose address is a multiple of `unit` bytes, by default a cache line."""
    room = int(np.prod(shape)) * np.dtype(kind).itemsize
    octets = np.zeros(room + unit, np.uint8)
    start = -octets.ctypes.data % unit
    return octets[start : start + room].view(kind).reshape(shape)
