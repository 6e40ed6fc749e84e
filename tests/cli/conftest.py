import pytest

from board_agents.cli import main


@pytest.fixture
def run(capsys):
    """Run the command line in this process; returns (exit code, stdout, stderr)."""

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call
