"""Copies and pickles of objects with addresses, large arrays or another library's objects."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R", bound="Remade")


class Remade:
    """Pickles as its constructor's arguments; unpickling calls the constructor.

    For objects that contain addresses of this process, or are cheaper to construct than to store; their caches
    start empty.
    """

    _arguments: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls: type[R], *args: Any, **kwargs: Any) -> R:
        """Store the arguments."""
        made = super().__new__(cls)
        made._arguments = args, kwargs
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the class and the arguments."""
        return _remake, (type(self), *self._arguments)


class Shared(Remade):
    """A copy in the same process is the object itself: it has no state that belongs to one game.

    So 1024 copies of an agent share one transposition table. Such an object must be safe to call from several
    threads.
    """

    def __copy__(self: R) -> R:
        return self

    def __deepcopy__(self: R, memo: dict[int, Any]) -> R:
        return self


def _remake(cls: type[T], args: tuple[Any, ...], kwargs: dict[str, Any]) -> T:
    return cls(*args, **kwargs)
