import { describe, expect, test } from "vitest";
import { asFault, fault, faultOfAnswer } from "../../src/errors";
import { barsOf, chartLabel, historyFrom, summary } from "../../src/search/bars";
import { relativeDate, roughSeconds } from "../../src/search/dates";
import {
  degradedLabel,
  fileName,
  folderOf,
  notesLabel,
  reasonLabels,
} from "../../src/search/labels";
import { floorLine } from "../../src/settings/floor";
import { longLabel, shortLabel, type SidecarState } from "../../src/sidecar/state";
import { isNews, isProgress, statusLine, type Outcome } from "../../src/ui/search/status";

const counts = { notes: 7, problems: 0, generation: 1 };
const ready: SidecarState = { kind: "ready", counts, reason: null };
const indexing: SidecarState = { kind: "indexing", counts, percent: 40, secondsLeft: 120 };
const found: Outcome = { kind: "hits", total: 7, shown: 7, degraded: null, stale: false };

describe("the state in words", () => {
  test.each([
    [ready, "ready"],
    [indexing, "indexing 40%"],
    [{ ...indexing, percent: null }, "indexing"],
    [{ kind: "warming", counts } as const, "warming"],
    [{ ...ready, counts: { ...counts, problems: 1 } }, "1 problem"],
    [{ ...ready, counts: { ...counts, problems: 3 } }, "3 problems"],
    [{ kind: "fault", fault: fault("offline") } as const, "offline"],
    [{ kind: "fault", fault: fault("other_vault") } as const, "another vault"],
    [{ kind: "fault", fault: fault("unauthorized") } as const, "no key"],
  ])("%#", (state, label) => {
    expect(shortLabel(state)).toBe(label);
  });

  test("the time that is left is rough", () => {
    expect(longLabel(indexing)).toBe("Indexing 40%, about 2 min left");
    expect([roughSeconds(0.2), roughSeconds(45), roughSeconds(90)]).toEqual([
      "1 s",
      "45 s",
      "2 min",
    ]);
  });
});

describe("the line of the pane", () => {
  test("says how many, and what there is to say beside", () => {
    expect(statusLine({ kind: "none" }, ready)).toBe("");
    expect(statusLine(found, ready)).toBe("7 notes");
    expect(statusLine({ ...found, total: 1400, shown: 20 }, ready)).toBe("1,400 notes, best first");
    expect(statusLine({ ...found, total: 0, shown: 0 }, ready)).toBe("No notes found");
    expect(statusLine({ ...found, stale: true }, ready)).toBe("7 notes · some changed since");
    expect(statusLine(found, indexing)).toBe("7 notes · Indexing 40%, about 2 min left");
  });

  test("a fault comes before all", () => {
    const down: SidecarState = { kind: "fault", fault: fault("offline") };
    expect(statusLine(found, down)).toMatch(/not running/u);
    expect(statusLine({ kind: "fault", fault: fault("garbled") }, ready)).toMatch(
      /not understood/u,
    );
  });

  test("looks again when somebody answers again, and when all is read", () => {
    const down: SidecarState = { kind: "fault", fault: fault("offline") };
    const refused: Outcome = { kind: "fault", fault: fault("refused") };
    const unread: Outcome = { kind: "fault", fault: fault("indexing") };
    const more: SidecarState = { ...indexing, counts: { ...counts, generation: 2 } };
    expect(isNews(down, ready, found)).toBe(true);
    expect(isNews(indexing, ready, found)).toBe(true);
    expect(isNews(indexing, more, unread)).toBe(true);
    expect(isNews(indexing, more, refused)).toBe(false);
    expect(isNews(indexing, { ...indexing, percent: 50 }, unread)).toBe(false);
    expect(isNews(ready, down, found)).toBe(false);
  });

  test("progress is no news, a count is", () => {
    expect(isProgress("Indexing 40%", "Indexing 41%, about 2 min left")).toBe(true);
    expect(isProgress("7 notes · Indexing 40%", "7 notes · Indexing 50%")).toBe(true);
    expect(isProgress("7 notes", "8 notes")).toBe(false);
    expect(isProgress("", "Indexing 40%")).toBe(false);
  });
});

describe("faults", () => {
  const body = { detail: "The disk is full.", error: "disk_full", hint: "Make room." };

  test.each([
    [401, null, "unauthorized"],
    [503, { ...body, error: "index_warming" }, "indexing"],
    [503, body, "server"],
    [422, body, "refused"],
    [501, body, "refused"],
    [500, null, "server"],
    [404, null, "garbled"],
    [302, null, "garbled"],
  ])("%i is %s", (status, said, kind) => {
    expect(faultOfAnswer(status, said).kind).toBe(kind);
  });

  test("the service's own sentence and hint are shown", () => {
    expect(faultOfAnswer(422, body)).toMatchObject({ message: body.detail, help: body.hint });
  });

  test("says what cannot be done just now as it is, and calls only the rest a fault of Khiip", () => {
    const away = {
      detail: "The vault is away.",
      error: "vault_unavailable",
      hint: "Is it mounted?",
    };
    expect(faultOfAnswer(503, away)).toMatchObject({ message: away.detail, help: away.hint });
    const broken = { detail: "KeyError.", error: "internal_error", hint: null };
    expect(faultOfAnswer(500, broken).message).toBe("Something went wrong in Khiip: KeyError.");
  });

  test("whatever is thrown is one", () => {
    expect(asFault(fault("slow")).kind).toBe("slow");
    expect(asFault(new SyntaxError("x")).kind).toBe("garbled");
    expect(asFault("text").help).toBe("text");
  });
});

describe("history", () => {
  const day = (text: string, edits: number) => ({ day: text, operation: "modified", edits });

  test("every day between is a bar, the last one to the right", () => {
    const { step, bars } = barsOf([
      day("2026-01-04", 2),
      day("2026-01-01", 1),
      day("2026-01-04", 1),
    ]);
    expect(step).toBe(1);
    expect(bars.map((bar) => bar.edits)).toEqual([1, 0, 0, 3]);
    expect(bars[0]?.label).toBe("2026-01-01");
  });

  test("a long history has wider bars, and no edit is lost", () => {
    const days = Array.from({ length: 300 }, (_, index) =>
      day(new Date(index * 86_400_000 * 3).toISOString().slice(0, 10), 1),
    );
    const { step, bars } = barsOf(days);
    expect(step).toBe(30);
    expect(bars.length).toBeLessThanOrEqual(60);
    expect(bars.reduce((total, bar) => total + bar.edits, 0)).toBe(300);
  });

  test("none, and days that are none, give no bars", () => {
    expect(barsOf([]).bars).toEqual([]);
    expect(barsOf([day("someday", 1)]).bars).toEqual([]);
  });

  test("it is told in words too", () => {
    const history = {
      ...{ paths_matched: [], daily_breakdown: [], user_intents: [], linked_memories: [] },
      ...{ total_edits: 3, sessions_involved: 2, history_state: "git" },
      ...{ first_edit: "2026-01-01T10:00:00Z", last_edit: "2026-01-04T10:00:00Z" },
    };
    expect(chartLabel(history, 1)).toBe("Edits a day: 3 edits from 2026-01-01 to 2026-01-04");
    expect(summary(history)).toBe("3 edits in 2 sessions");
    expect(summary({ ...history, total_edits: 0 })).toBe("No edits are known yet.");
    expect(historyFrom("git_unavailable: not a repository")).toContain("not a repository");
  });
});

describe("small words", () => {
  const now = Date.parse("2026-06-30T12:00:00Z");

  test.each([
    ["2026-06-30T11:59:50Z", "now"],
    ["2026-06-30T09:00:00Z", "3 hours ago"],
    ["2026-06-29T11:00:00Z", "yesterday"],
    ["2026-03-30T12:00:00Z", "3 months ago"],
    ["2024-06-01T00:00:00Z", "2 years ago"],
    ["2026-07-02T12:00:00Z", "in 2 days"],
    ["no date", ""],
  ])("%s is %j", (date, label) => {
    expect(relativeDate(date, now)).toBe(label);
  });

  test("reasons are told best first, codes of later versions are left out", () => {
    expect(reasonLabels(["semantic_match", "telepathy", "verbatim"])).toEqual([
      "verbatim",
      "meaning",
    ]);
    expect(reasonLabels(["content_match_fts", "content_match_dual"])).toEqual(["words"]);
    expect(degradedLabel("warming,no_embedder")).toContain(";");
    expect(degradedLabel(null)).toBeNull();
  });

  test("what the model's service is about has words of its own", () => {
    const codes = ["unreachable", "refused", "gone", "failed"].map((end) => `embedder_${end}`);
    const said = [...codes, "no_key", "consent_needed"].map((code) => degradedLabel(code));
    expect(new Set(said).size).toBe(6);
    for (const words of said) expect(words).toMatch(/^by words only: .*the model's service/u);
  });

  test("counts and paths", () => {
    expect([notesLabel(1), notesLabel(1400)]).toEqual(["1 note", "1,400 notes"]);
    expect([folderOf("a/b/c.md"), folderOf("c.md"), fileName("a/A #1 [x].md")]).toEqual([
      "a/b",
      "",
      "A #1 [x]",
    ]);
  });

  test("a hit exactly at the minimum stays", () => {
    expect(floorLine([0.5, 0.3, 0.2], 0.3, "knots")).toContain("At 0.30, 2 of 3");
    expect(floorLine([0.5], null, "knots")).toContain("all of 1");
    expect(floorLine([], 0.3, "knots")).toContain("Nothing is found");
    expect(floorLine(null, null, "")).toContain("No hit is left out");
  });
});
