"""Export files: for their owner only, and complete or not there."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.transfer.private_file import private_file


@pytest.fixture(autouse=True)
def generous_umask() -> Iterator[None]:
    before = os.umask(0o000)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_the_owner_can_read_it_whatever_was_there_before(tmp_path: Path) -> None:
    path = tmp_path / "export"
    for text in (b"first", b"second"):
        with private_file(path) as file:
            file.write(text)
        assert path.read_bytes() == text
        assert mode(path) == 0o600
        path.chmod(0o666)
    assert [each.name for each in tmp_path.iterdir()] == ["export"]


def test_nobody_else_can_read_it_while_it_is_written(tmp_path: Path) -> None:
    with private_file(tmp_path / "export"):
        assert [mode(each) for each in tmp_path.iterdir()] == [0o600]


def test_a_failure_leaves_the_earlier_file(tmp_path: Path) -> None:
    path = tmp_path / "export"
    path.write_bytes(b"earlier")

    def fail() -> None:
        with private_file(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_bytes() == b"earlier"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "export"
    link.symlink_to("there/export")
    with private_file(link) as file:
        file.write(b"text")
    assert link.is_symlink()
    assert (tmp_path / "there" / "export").read_bytes() == b"text"


def test_a_device_is_written_to_and_not_replaced() -> None:
    with private_file(Path("/dev/null")) as file:
        file.write(b"text")
    assert Path("/dev/null").is_char_device()


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError), private_file(tmp_path):
        pass
