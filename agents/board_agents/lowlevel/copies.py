"""Copies and pickles of objects that hold addresses, large tables or another library's objects."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R", bound="Remade")


class Remade:
    """Pickles as its constructor's arguments, and is made again from them where the pickle is loaded.

    For objects whose insides are addresses of this process, or are cheaper to make than to store: what is only a cache
    begins empty.
    """

    _arguments: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls: type[R], *args: Any, **kwargs: Any) -> R:
        """Remember the arguments."""
        made = super().__new__(cls)
        made._arguments = args, kwargs
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Name the class and the arguments."""
        return _remake, (type(self), *self._arguments)


class Shared(Remade):
    """In one process a copy is the object itself: all it holds is true or working space, nothing belongs to a game.

    So 1024 copies of an agent share one table instead of filling 1024. Such an object must allow calls from several
    threads.
    """

    def __copy__(self: R) -> R:
        return self

    def __deepcopy__(self: R, memo: dict[int, Any]) -> R:
        return self


def _remake(cls: type[T], args: tuple[Any, ...], kwargs: dict[str, Any]) -> T:
    return cls(*args, **kwargs)
