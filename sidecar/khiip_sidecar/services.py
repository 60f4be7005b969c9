"""What systemd and launchd are told to serve a vault from login on; pure but for `run`."""

from __future__ import annotations

import hashlib
import os
import plistlib
import re
import shutil
import subprocess
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from khiip_indexer.errors import UsageError

# Trying again does not help against wrong usage, a missing index, another writer, a taken port.
HOPELESS_EXITS = (2, 4, 5, 6)
TOOL_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Service:
    """One vault to be served: `words` is the whole command line, absolute paths in it."""

    vault: Path
    words: Sequence[str]
    environment: Mapping[str, str]

    @property
    def slug(self) -> str:
        """The vault's name in letters that fit everywhere, and what tells it from namesakes."""
        folded = unicodedata.normalize("NFKD", self.vault.name).encode("ascii", "ignore").decode()
        name = re.sub(r"[^a-z0-9]+", "-", folded.lower()).strip("-")[:40].strip("-")
        mark = hashlib.sha256(os.fsencode(self.vault)).hexdigest()[:8]
        return f"{name}-{mark}" if name else mark


@dataclass(frozen=True, slots=True)
class Manager:
    """How one system is asked: a file, and the commands that have it start, stop and tell.

    `before` may fail: it takes away an older version that need not be there.
    """

    path: Path
    content: bytes
    before: Sequence[Sequence[str]]
    start: Sequence[Sequence[str]]
    stop: Sequence[Sequence[str]]
    after_removal: Sequence[Sequence[str]]
    ask: Sequence[str]
    logs: str


def systemd(service: Service, config: Path) -> Manager:
    """A unit of the user's own systemd; `config` is the user's XDG config folder."""
    name = f"khiip-{service.slug}.service"
    control = ("systemctl", "--user")
    reload = (*control, "daemon-reload")
    return Manager(
        path=config / "systemd" / "user" / name,
        content=unit(service).encode(),
        before=(),
        start=(reload, (*control, "enable", name), (*control, "restart", name)),
        stop=((*control, "disable", "--now", name),),
        after_removal=(reload,),
        ask=(*control, "is-active", name),
        logs=f"journalctl --user -u {name}",
    )


def launchd(service: Service, home: Path, uid: int) -> Manager:
    """A launch agent of the user."""
    label = f"khiip.{service.slug}"
    path = home / "Library" / "LaunchAgents" / f"{label}.plist"
    log = home / "Library" / "Logs" / f"khiip-{service.slug}.log"
    gone = ("launchctl", "bootout", f"gui/{uid}/{label}")
    return Manager(
        path=path,
        content=plist(service, label, log),
        before=(gone,),
        start=(("launchctl", "bootstrap", f"gui/{uid}", str(path)),),
        stop=(gone,),
        after_removal=(),
        ask=("launchctl", "print", f"gui/{uid}/{label}"),
        logs=str(log),
    )


def unit(service: Service) -> str:
    """The text of a systemd unit.

    The hardening is what a unit of a user's own may have on every system: no new rights, the
    system's files read-only, and only the sockets that are used.
    """
    _refuse_odd(service)
    program, *rest = _acceptable(service.words)
    command = " ".join([_quoted(program), *(_quoted(word).replace("$", "$$") for word in rest)])
    lines = [
        "[Unit]",
        f"Description=Khiip recall for {service.vault.name.replace('%', '%%')}",
        "",
        "[Service]",
        "Type=exec",
        f"ExecStart={command}",
        *(
            f"Environment={_quoted(f'{name}={value}')}"
            for name, value in service.environment.items()
        ),
        "Restart=on-failure",
        "RestartSec=5",
        f"RestartPreventExitStatus={' '.join(map(str, HOPELESS_EXITS))}",
        "TimeoutStopSec=10",
        "UMask=0077",
        "NoNewPrivileges=yes",
        "ProtectSystem=full",
        "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6",
        "RestrictRealtime=yes",
        "RestrictSUIDSGID=yes",
        "LockPersonality=yes",
        "SystemCallArchitectures=native",
        "",
        "[Install]",
        "WantedBy=default.target",
    ]
    return "\n".join(lines) + "\n"


def plist(service: Service, label: str, log: Path) -> bytes:
    """The property list of a launch agent; launchd starts it again unless it ended well."""
    _refuse_odd(service)
    return plistlib.dumps(
        {
            "Label": label,
            "ProgramArguments": list(service.words),
            "EnvironmentVariables": dict(service.environment),
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": 30,
            "ProcessType": "Background",
            "StandardErrorPath": str(log),
            "Umask": 0o077,
        },
        sort_keys=False,
    )


def _acceptable(words: Sequence[str]) -> Sequence[str]:
    """Systemd refuses a program with quotes or backslashes in its path, however they are written.

    As an argument they do no harm, so that a shell becomes such a program.
    """
    if not any(char in words[0] for char in "'\"\\"):
        return words
    return ["/bin/sh", "-c", 'exec "$0" "$@"', *words]


def _quoted(word: str) -> str:
    """One word by systemd.syntax(7): quotes and backslashes escaped, no specifiers."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def _refuse_odd(service: Service) -> None:
    for word in (*service.words, *service.environment.values()):
        if any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in word):
            raise UsageError(
                "A path with control characters, or one that is not UTF-8, fits in no service.",
                hint="Rename the folder, or reach it by a symbolic link.",
            )


def run(words: Sequence[str]) -> tuple[int, str] | None:
    """The exit code of a tool and the first line it said; None when it is not on this machine."""
    tool = shutil.which(words[0])
    if tool is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603 -- a fixed program with names of ours
            [tool, *words[1:]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TOOL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 1, str(error)
    said = (done.stderr.strip() or done.stdout.strip()).decode("utf-8", "replace")
    return done.returncode, said.partition("\n")[0]
