"""What a submission may use."""

import os
import sys
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of one submission, in seconds and MB.

    ``cell``: for one cell or check. ``total`` and ``memory``: for all its processes with its judge.
    ``processes``: at once. ``file``: of one file that it writes. ``user``: the number of the user
    that runs its code; None: who grades.
    """

    cell: float = 120.0
    total: float = 1800.0
    memory: int = 4096
    processes: int = 64
    file: int = 256
    user: int | None = None


def bind(bounds: Limits) -> None:
    """Bind this process, and all that it starts, to the limits that the system can keep.

    On Linux this process also becomes the parent of every daemon that is started below it, so that
    none escapes.
    """
    if os.name != "posix":
        return
    import resource

    amounts = {resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: bounds.file * 2**20}
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
        amounts[resource.RLIMIT_DATA] = bounds.memory * 2**20
    for which, amount in amounts.items():
        with suppress(ValueError, OSError):  # the limit is lower already
            resource.setrlimit(which, (amount, amount))


def user_number(name: str) -> int:
    """Return the number of the user with this name. Raises ``ValueError`` if there is none, or if
    we are not root.
    """
    if os.name != "posix" or os.geteuid() != 0:
        raise ValueError(f"--user {name}: only root can run code as another user")
    import pwd

    try:
        return pwd.getpwnam(name).pw_uid
    except KeyError:
        raise ValueError(f"--user {name}: there is no such user") from None
