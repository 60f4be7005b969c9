"""What this user may not read or write is said, and the rest goes on."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cli.conftest import Khiipd
from support import FakeEmbedder, make_vault, write_note
from unprivileged import give_away, run_unprivileged

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="permissions of POSIX")

NOTES = {
    "a.md": "alpha words\n",
    "f/b.md": "beta words\n",
    "f/c.md": "gamma words\n",
    "f/g/d.md": "delta words\n",
}


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Unprivileged:
    """A vault of somebody whom permissions stop, and what `khiipd` says to them."""

    khiipd: Khiipd
    vault: Path

    def run(self, *args: str) -> Said:
        def work() -> list[object]:
            result = self.khiipd.run(*args)
            return [result.exit_code, result.stdout, result.stderr]

        return Said(*run_unprivileged(work))

    def problems(self) -> dict[str, str | None]:
        """Hints by the path of what is wrong."""
        said = json.loads(self.run("status", "--json").out)
        return {each["path"]: each["hint"] for each in said["problems"]}

    def paths(self) -> set[str]:
        rows = json.loads(self.run("list", "--json").out)
        return {row["vault_path"] for row in rows}

    def first(self, query: str) -> str:
        answer = json.loads(self.run("recall", query, "--limit", "1", "--json").out)
        path: str = answer["results"][0]["vault_path"]
        return path


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> Iterator[Unprivileged]:
    """Indexed once; below a folder that everybody may enter, unlike the usual one for tests."""
    top = Path(tempfile.mkdtemp(prefix="khiip-test-"))
    try:
        top.chmod(0o755)
        settings = make_vault(top / "vault", NOTES)
        monkeypatch.setenv("KHIIP_HOME", str(settings.homes.config))
        monkeypatch.delenv("KHIIP_VAULT", raising=False)
        embedder = FakeEmbedder()
        monkeypatch.setattr("khiip_indexer.embedder.MiniLM", lambda *_, **__: embedder)
        khiipd = Khiipd(settings, embedder)
        # Here, so that what is imported late and what is tried once is done before.
        for args in (["reindex"], ["recall", "alpha"], ["status"], ["list", "--json"]):
            khiipd.ok(*args)
        give_away(top)
        yield Unprivileged(khiipd, settings.vault)
    finally:
        for folder in (settings.vault, *settings.vault.rglob("*")):
            if folder.is_dir():
                folder.chmod(0o755)
        shutil.rmtree(top)


def test_a_note_that_may_not_be_read_is_a_problem_and_stays_as_it_was(house: Unprivileged) -> None:
    (house.vault / "a.md").chmod(0)
    write_note(house.vault, "new.md", "never read so far\n").chmod(0)
    write_note(house.vault, "f/b.md", "beta and omega words\n")
    said = house.run("reindex")
    assert said.code == 3
    assert "a.md: The note a.md cannot be read: Permission denied." in said.err
    hints = house.problems()
    assert hints.keys() == {"a.md", "new.md"}
    assert all("permissions" in str(hint) for hint in hints.values())
    assert house.first("alpha") == "a.md"
    assert house.first("omega") == "f/b.md"
    assert json.loads(house.run("recall", "alpha", "--json").out)["stale"] is True
    assert "1 unreadable" in house.run("status").out
    refetched = house.run("refetch", "a.md", "--re-extract")
    assert refetched.code == 1
    assert "cannot be read" in refetched.err
    for name in ("a.md", "new.md"):
        (house.vault / name).chmod(0o644)
        if os.geteuid() == 0:
            os.chown(house.vault / name, 65534, 65534)
    assert house.run("reindex").code == 0
    assert house.problems() == {}
    assert house.first("never read") == "new.md"


@pytest.mark.parametrize(
    ("mode", "told"),
    [(0o000, {"f"}), (0o111, {"f"}), (0o444, {"f/b.md", "f/c.md", "f/g"})],
    ids=["closed", "not to be listed", "not to be entered"],
)
def test_what_is_in_a_closed_folder_stays_found(
    house: Unprivileged, mode: int, told: set[str]
) -> None:
    (house.vault / "f").chmod(mode)
    write_note(house.vault, "e.md", "epsilon words\n")
    said = house.run("reindex")
    assert said.code == 3
    assert "Permission denied" in said.err
    hints = house.problems()
    assert hints.keys() == told
    assert all("permissions" in str(hint) for hint in hints.values())
    assert house.paths() == {*NOTES, "e.md"}
    assert house.first("beta") == "f/b.md"
    assert house.first("epsilon") == "e.md"
    (house.vault / "f").chmod(0o755)
    assert house.run("reindex").code == 0
    assert house.problems() == {}
    assert house.paths() == {*NOTES, "e.md"}


def test_a_vault_that_may_not_be_written_says_where_else_the_index_can_be(
    house: Unprivileged,
) -> None:
    shutil.rmtree(house.vault / ".khiip")
    house.vault.chmod(0o555)
    said = house.run("reindex")
    assert said.code == 1
    assert "may not be written" in said.err
    assert "--state-dir" in said.err
    assert house.run("recall", "alpha").code == 4
    elsewhere = str(house.vault.parent / "vault-home" / "state")
    for args in (["reindex"], ["recall", "alpha"], ["status"]):
        assert house.run("--state-dir", elsewhere, *args).code == 0


def test_an_index_that_may_not_be_written_still_answers(house: Unprivileged) -> None:
    write_note(house.vault, "e.md", "epsilon words\n")
    state = house.vault / ".khiip"
    for file in state.iterdir():
        file.chmod(0o444)
    state.chmod(0o555)
    said = house.run("reindex")
    assert said.code == 1
    assert f"The index folder {state} may not be written." in said.err
    assert house.first("alpha") == "a.md"
    assert house.run("reindex", "--check").code == 1
    assert house.run("status").code == 0
    assert house.run("recall", "alpha").code == 0


@pytest.mark.parametrize("closed", [".khiip", ".khiip/cache.sqlite"])
def test_an_index_that_may_not_be_read_says_so(house: Unprivileged, closed: str) -> None:
    place = house.vault / closed
    mode = place.stat().st_mode
    place.chmod(0)
    for args in (["recall", "alpha"], ["list"], ["status"], ["reindex", "--check"]):
        said = house.run(*args)
        assert said.code == 1
        assert f"{place} may not be read." in said.err
        assert "Give yourself access" in said.err
    said = house.run("reindex")
    assert said.code == 1
    assert f"The index folder {house.vault / '.khiip'} may not be written." in said.err
    place.chmod(mode)
    assert house.run("reindex").code == 0
    assert house.first("alpha") == "a.md"
