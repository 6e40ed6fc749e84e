"""Files are written whole, in their own place, and nothing else is replaced."""

import os
import stat
import subprocess
import sys
import threading

import pytest

from board_agents.lowlevel.atomic_files import begins_with, read_bytes, write_whole

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="devices, links and modes of POSIX")


def write(path, text="new", **arguments):
    return write_whole(path, lambda part: part.write_text(text), **arguments)


def test_a_file_is_replaced_and_nothing_else_stays(tmp_path):
    path = tmp_path / "a.txt"
    for text in ("one", "two"):
        assert write(path, text) == 3
        assert path.read_text() == text
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "other").mkdir()
    target, link = tmp_path / "other" / "target", tmp_path / "link"
    link.symlink_to("other/target")
    for text in ("made through the link", "replaced through the link"):
        write(link, text)
        assert link.is_symlink()
        assert target.read_text() == text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "other"]
    assert list((tmp_path / "other").iterdir()) == [target]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o666])
def test_permissions_are_kept(tmp_path, mode):
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(mode)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_follows_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write(tmp_path / "a")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everything")
def test_a_write_protected_file_is_left_alone(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match=r"'.*/a'"):
        write(path)
    assert path.read_text() == "old"


def test_a_pipe_is_written_and_stays_a_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    found = []
    reader = threading.Thread(target=lambda: found.append(path.read_text()))
    reader.start()
    write(path, "through the pipe")
    reader.join(10)
    assert found == ["through the pipe"]
    assert stat.S_ISFIFO(path.stat().st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_devices_are_written_and_stay_devices(tmp_path):
    link = tmp_path / "null"
    link.symlink_to("/dev/null")
    write(link)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    with pytest.raises(OSError, match=r"No space left on device: '.*/full'"):
        write(full)
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full", "null"]


@pytest.mark.skipif(not os.path.islink("/dev/stdout"), reason="a link of Linux to the open descriptor")
def test_standard_output_into_a_file_is_written_where_the_shell_opened_it(tmp_path):
    program = (
        "from board_agents.lowlevel.atomic_files import write_whole\n"
        "write_whole('/dev/stdout', lambda part: part.write_text('new'))"
    )
    target = tmp_path / "out"
    with target.open("wb") as file:
        subprocess.run([sys.executable, "-c", program], stdout=file, check=True, timeout=60)
        assert os.fstat(file.fileno()).st_ino == target.stat().st_ino
    assert target.read_text() == "new"


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(IsADirectoryError, match=str(tmp_path)):
        write(tmp_path)


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "a"
    write(path, "old")

    def fail(part):
        part.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(path, fail)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_long_name_can_be_written(tmp_path):
    path = tmp_path / ("x" * 251 + ".txt")
    write(path)
    assert path.read_text() == "new"


def test_a_file_of_another_kind_is_left_alone(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"a picture")
    with pytest.raises(FileExistsError, match="not a file of this kind"):
        write(path, ours=begins_with(b"ours 1", b"ours 2"))
    assert path.read_bytes() == b"a picture"
    for content in (b"", b"ours 1, whatever", b"ours 2"):
        path.write_bytes(content)
        write(path, "new", ours=begins_with(b"ours 1", b"ours 2"))
        assert path.read_text() == "new"


def test_reading_ends(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"x" * 100)
    assert read_bytes(path) == b"x" * 100
    assert read_bytes(path, most=100) == b"x" * 100
    with pytest.raises(OSError, match=r"larger than 99 bytes: '.*/a'"):
        read_bytes(path, most=99)
    with pytest.raises(IsADirectoryError):
        read_bytes(tmp_path)
    if os.path.exists("/dev/zero"):
        with pytest.raises(OSError, match="is a device"):
            read_bytes("/dev/zero")


def test_what_killed_writers_left_is_removed_and_what_others_write_stays(tmp_path):
    ours, others = tmp_path / "part-1-0123abcd.txt", tmp_path / "part-1-mine.txt"
    ours.write_text("cut")
    others.write_text("another program's")

    def slow(part):
        write(tmp_path / "second.txt")  # a writer that comes meanwhile
        return part.write_text("new")

    write_whole(tmp_path / "first.txt", slow)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.txt", "part-1-mine.txt", "second.txt"]
    assert (tmp_path / "first.txt").read_text() == "new"


def test_a_killed_writer_leaves_nothing_for_good(tmp_path):
    program = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom board_agents.lowlevel.atomic_files import write_whole\n"
        "write_whole(Path(sys.argv[1]), lambda part: (part.write_text('x'), os.kill(os.getpid(), signal.SIGKILL)))"
    )
    assert subprocess.run([sys.executable, "-c", program, tmp_path / "a.txt"], check=False).returncode == -9
    assert len(list(tmp_path.iterdir())) == 1
    write(tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == [tmp_path / "a.txt"]
