"""The command line as a program of its own."""

PROGRAM = """
import signal, sys
# A test run in the background of a shell hands down that Ctrl-C is ignored; a person's terminal does not.
signal.signal(signal.SIGINT, signal.default_int_handler)
from board_agents.cli import main
sys.exit(main())
"""
