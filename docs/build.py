"""Build the documentation site (extra `docs`); every warning is an error.

python docs/build.py                     into build/site
python docs/build.py --serve             and serve it on http://127.0.0.1:8000 until Ctrl-C
python docs/build.py --execute           run the notebooks too and show what they print
python docs/build.py --name 0.2 --versions 0.2 0.1    into build/site/0.2, with a switch between the two
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import subprocess
import sys
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

DOCS = Path(__file__).resolve().parent
HOST = "127.0.0.1"


def build(target: Path, *, execute: bool, name: str | None, versions: list[str]) -> int:
    """Run Sphinx; returns its exit status."""
    switch = [[version, f"../{version}/"] for version in versions]
    environment = {
        **os.environ,
        "BOARD_ENVS_NOTEBOOKS": "force" if execute else "off",
        "BOARD_ENVS_DOCS_VERSIONS": json.dumps(switch),
    }
    # -E reads every page again: pages that Sphinx has kept from another build warn of nothing.
    if name is not None:
        environment["BOARD_ENVS_DOCS_NAME"] = name
    arguments = [
        "-W",
        "--keep-going",
        "-q",
        "-E",
        "-b",
        "html",
        "-d",
        str(target.parent / f".{target.name}-doctrees"),
        str(DOCS),
        str(target),
    ]
    return subprocess.run([sys.executable, "-m", "sphinx", *arguments], env=environment, check=False).returncode


def serve(folder: Path, port: int) -> None:
    """Serve a folder on the loopback interface until Ctrl-C."""
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer((HOST, port), handler) as server:
        print(f"http://{HOST}:{server.server_address[1]}/", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print(file=sys.stderr)


def main(arguments: list[str] | None = None) -> int:
    """Build, and perhaps serve."""
    parser = argparse.ArgumentParser(description="Build the documentation site.")
    parser.add_argument("--out", type=Path, default=DOCS.parent / "build" / "site", help="folder of the site")
    parser.add_argument("--execute", action="store_true", help="run the notebooks and show their output")
    parser.add_argument("--name", help="of this version: the site goes into a folder of that name below --out")
    parser.add_argument(
        "--versions", nargs="+", default=[], metavar="NAME", help="versions in the switch, newest first"
    )
    parser.add_argument("--serve", action="store_true", help=f"serve the site on {HOST}")
    parser.add_argument("--port", type=int, default=8000, help="for --serve; 0 takes any free port")
    options = parser.parse_args(arguments)
    if options.name and options.name not in (options.versions or [options.name]):
        parser.error(f"--name {options.name} is not among --versions {' '.join(options.versions)}")
    target = options.out.resolve() / options.name if options.name else options.out.resolve()
    status = build(target, execute=options.execute, name=options.name, versions=options.versions)
    if status == 0:
        print(target / "index.html")
        if options.serve:
            serve(target, options.port)
    return status


if __name__ == "__main__":
    sys.exit(main())
