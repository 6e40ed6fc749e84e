"""Sphinx: the documentation site; `docs/build.py` builds it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

import board_envs

DOCS = Path(__file__).resolve().parent

project = "board_envs"
author = "the board_envs developers"
version = release = board_envs.__version__
html_title = f"board_envs {version}"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["**/README.md"]
nb_custom_formats = {".nb.py": ["jupytext.reads", {"fmt": "py:percent"}]}
nb_execution_mode = os.environ.get("BOARD_ENVS_NOTEBOOKS", "off")
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]

# Docstrings write code between single backticks.
default_role = "code"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_use_ivar = True

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
templates_path = ["_templates"]
html_show_sphinx = False
html_copy_source = False
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "versions.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
# [[name, folder beside this one], ...]; the list is shown if it has two entries or more.
html_context = {
    "site_versions": json.loads(os.environ.get("BOARD_ENVS_DOCS_VERSIONS", "[]")),
    "site_name": os.environ.get("BOARD_ENVS_DOCS_NAME", version),
}


class OutsideLinks(SphinxPostTransform):
    """Links to folders and pages of the repository beside docs, which the site does not hold, become plain text."""

    default_priority = 5  # before MyST resolves links, and warns of those it cannot

    def run(self, **kwargs: Any) -> None:
        """Replace such links by their text."""
        for node in list(self.document.findall(addnodes.pending_xref)):
            if node.get("reftype") == "myst":
                folder = DOCS if node["refdomain"] == "doc" else (DOCS / node["refdoc"]).parent
                target = (folder / node["reftarget"].split("#")[0]).resolve()
                there = target.exists() or target.with_suffix(".md").exists()
                if there and not target.is_relative_to(DOCS):
                    node.replace_self(node.children)


def setup(app: Sphinx) -> None:
    """Register what this file adds to Sphinx."""
    app.add_post_transform(OutsideLinks)
