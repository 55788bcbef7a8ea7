"""Take files out of a tar archive that nobody vouches for."""

import shutil
import tarfile
import zlib
from collections.abc import Collection
from pathlib import Path, PurePosixPath, PureWindowsPath

from fedlab_core.data.disk.files import DatasetCorrupt


def unpack(archive: Path, folder: Path, names: Collection[str]) -> None:
    """Write the members of ``archive`` whose last path component is one of ``names`` into ``folder``.

    Each is written under that bare name, so nothing can land elsewhere. ``DatasetCorrupt`` refuses the archive all the
    same at the first member with an absolute path, with ``..`` in its path, or that is neither a regular file nor a
    folder (a link could lead a later member astray); it is raised for a damaged archive, too.
    """
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for member in tar:
                _check_safe(archive, member)
                name = PurePosixPath(member.name).name
                stream = tar.extractfile(member) if name in names else None
                if stream is not None:
                    with stream, (folder / name).open("xb") as file:
                        shutil.copyfileobj(stream, file)
    except (tarfile.TarError, EOFError, zlib.error, FileExistsError) as error:
        raise DatasetCorrupt(f"{archive}: cannot be unpacked ({error})") from error


def _check_safe(archive: Path, member: tarfile.TarInfo) -> None:
    path = PureWindowsPath(member.name)  # takes both / and \ for separators
    if path.drive or path.root or ".." in path.parts:
        raise DatasetCorrupt(f"{archive}: refused, because its member {member.name!r} leads out of the folder")
    if not (member.isfile() or member.isdir()):
        raise DatasetCorrupt(f"{archive}: refused, because its member {member.name!r} is a link or a device")
