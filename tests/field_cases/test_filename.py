"""Names of notes, however odd, are the notes' identity."""

from __future__ import annotations

from field_cases.conftest import MakeCase

ODD = ["🐘.md", "[.md", "….md", "a.md", "a b.md", "a-b.md"]


def test_a_name_without_letters_or_digits_stops_nothing(make_case: MakeCase) -> None:
    """B14"""
    case = make_case({name: f"note number {n}" for n, name in enumerate(ODD)})
    case.ok("reindex")
    assert sorted(row["vault_path"] for row in case.json("list")) == sorted(ODD)


def test_no_two_names_become_one_identity_and_paths_come_back_unchanged(
    make_case: MakeCase,
) -> None:
    """B14"""
    case = make_case({name: f"subject{n}" for n, name in enumerate(ODD)})
    case.ok("reindex")
    assert len({row["id"] for row in case.json("list")}) == len(ODD)
    with case.http() as client:
        for n, name in enumerate(ODD):
            first = client.get("/api/v1/recall", params={"q": f"subject{n}", "view": "lean"})
            assert first.json()["results"][0]["vault_path"] == name
    for name in ODD:
        assert case.capture(name)["vault_path"] == name
