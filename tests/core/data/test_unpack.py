"""Archives from strangers."""

import io
import tarfile
from pathlib import Path

import pytest

from fedlab_core.data.disk.files import DatasetCorrupt
from fedlab_core.data.disk.unpack import unpack
from tests.core.data.small_sets import tar_gz, tree


def archive(tmp_path: Path, *members: tarfile.TarInfo) -> Path:
    """A tar file with a harmless member ``good.bin``, then ``members``, each with three bytes if it is a file."""
    path = tmp_path / "given.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for info in (tarfile.TarInfo("set/good.bin"), *members):
            info.size = 3 if info.isfile() else 0
            tar.addfile(info, io.BytesIO(b"bad" if info.isfile() else b""))
    return path


def info(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type = kind
    member.linkname = link
    return member


@pytest.mark.parametrize(
    "member",
    [
        info("../evil.bin"),
        info("set/../../evil.bin"),
        info("/evil.bin"),
        info("C:/evil.bin"),
        info("C:evil.bin"),
        info("..\\evil.bin"),
        info("evil.bin", tarfile.SYMTYPE, "/etc/passwd"),
        info("evil.bin", tarfile.LNKTYPE, "../outside"),
        info("evil.bin", tarfile.CHRTYPE),
        info("evil.bin", tarfile.FIFOTYPE),
        info("..", tarfile.DIRTYPE),
    ],
    ids=lambda member: f"{member.name}-{member.type.decode()}",
)
def test_a_member_that_could_lead_outside_is_refused(tmp_path: Path, member: tarfile.TarInfo) -> None:
    given = archive(tmp_path, member)
    folder = tmp_path / "inner" / "folder"
    folder.mkdir(parents=True)
    with pytest.raises(DatasetCorrupt, match="refused, because its member"):
        unpack(given, folder, ["good.bin", "evil.bin"])
    assert set(tree(tmp_path)) <= {"given.tar.gz", "inner", "inner/folder", "inner/folder/good.bin"}


def test_only_wanted_members_are_written_under_their_bare_names(tmp_path: Path) -> None:
    given = tmp_path / "given.tar.gz"
    given.write_bytes(tar_gz({"a.bin": b"a", "b.bin": b"bb", "notes.txt": b"no"}, prefix="deep/er/"))
    folder = tmp_path / "folder"
    folder.mkdir()
    unpack(given, folder, ["a.bin", "b.bin"])
    assert tree(folder) == {"a.bin": b"a", "b.bin": b"bb"}


def test_a_truncated_archive_is_corrupt(tmp_path: Path) -> None:
    given = tmp_path / "given.tar.gz"
    given.write_bytes(tar_gz({"a.bin": bytes(range(256)) * 100})[:-60])
    with pytest.raises(DatasetCorrupt, match="cannot be unpacked"):
        unpack(given, tmp_path, ["a.bin"])


def test_what_is_no_archive_is_corrupt(tmp_path: Path) -> None:
    given = tmp_path / "given.tar.gz"
    given.write_bytes(b"<html>please log in</html>")
    with pytest.raises(DatasetCorrupt, match="cannot be unpacked"):
        unpack(given, tmp_path, ["a.bin"])


def test_two_members_of_one_name_are_refused(tmp_path: Path) -> None:
    given = archive(tmp_path, info("elsewhere/good.bin"))
    with pytest.raises(DatasetCorrupt, match="cannot be unpacked"):
        unpack(given, tmp_path, ["good.bin"])
