"""Old names of modules, kept for one release: each still imports, with a DeprecationWarning that gives the new name."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_TABLE: dict[str, tuple[str, ...]] = {}
"""Old module -> new modules: the first replaces it, the others hold what was split off."""


class _Stand(ModuleType):
    """A module under its old name; everything in it is that of the new modules."""

    def __getattr__(self, name: str) -> Any:
        return _look_up(self.__name__, name)

    def __dir__(self) -> list[str]:
        return sorted({name for target in _TABLE[self.__name__] for name in dir(importlib.import_module(target))})


class _Finder(MetaPathFinder, Loader):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of an old name; None for every other."""
        return ModuleSpec(fullname, self, is_package=True) if fullname in _TABLE else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module that stands for the new one, with its list of public names."""
        place = importlib.import_module(_TABLE[spec.name][0])
        module = _Stand(spec.name, place.__doc__)
        # A star import reads names from __all__.
        names = getattr(place, "__all__", None) or [name for name in vars(place) if not name.startswith("_")]
        module.__dict__["__all__"] = list(names)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Warn; there is nothing to execute."""
        name = module.__name__
        warnings.warn(f"the module {name} is now {_TABLE[name][0]}", DeprecationWarning, stacklevel=2)


def _look_up(old: str, name: str) -> Any:
    """Return an attribute of an old module; AttributeError if no new module has it."""
    if not (name.startswith("__") and name.endswith("__")):
        for target in _TABLE[old]:
            module = importlib.import_module(target)
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module {old!r} has no attribute {name!r}")


def moved_modules(table: Mapping[str, str | tuple[str, ...]]) -> None:
    """Let old names of modules be imported: old name -> new name, or several new names."""
    _TABLE.update({old: (new,) if isinstance(new, str) else new for old, new in table.items()})
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())


def moved_name(package: str, module: str, name: str) -> Any:
    """Return, with a warning, an attribute of the module that a package replaced.

    Args:
        package: the package, whose name was that of the old module.
        module: the module that now holds its content.
        name: the attribute.

    Raises:
        AttributeError: the module has no such attribute, or the package has a submodule of this name.

    """
    submodule = f"{package}.{name}"
    if not name.startswith("_") and importlib.util.find_spec(submodule) is None:
        place = importlib.import_module(module)
        if hasattr(place, name):
            warnings.warn(f"{submodule} is now {module}.{name}", DeprecationWarning, stacklevel=3)
            return getattr(place, name)
    raise AttributeError(f"module {package!r} has no attribute {name!r}")
