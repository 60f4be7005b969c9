/** Entities, history and related notes, in the forms that the service promises. */
import type { Ask, Fake } from "../server/gateway";
import { envelope, hit, isSearch, type Json } from "./fakes";

/** One entity of the overview. */
export function entity(name: string, momentum: number, change: Json = {}): Json {
  return {
    name,
    kind: "project",
    memory_count: 12,
    goal_count: 1,
    context_count: 2,
    emotion_count: 0,
    implementation_count: 4,
    caveat_count: 3,
    learning_count: 2,
    pinned_count: 1,
    momentum_score: momentum,
    momentum_band: momentum >= 7 ? "surging" : momentum >= 4 ? "active" : "quiet",
    last_access: "2026-06-30T12:00:00Z",
    ...change,
  };
}

function isBare(ask: Ask): boolean {
  return ask.path === "/api/v1/recall" && !isSearch(ask) && !ask.params.has("path");
}

/** The overview, in pages. */
export function overview(...entities: Json[]): Fake {
  return (ask) => {
    if (!isBare(ask)) return undefined;
    const offset = Number(ask.params.get("offset") ?? 0);
    const limit = Number(ask.params.get("limit") ?? 10);
    const page = entities.slice(offset, offset + limit);
    const has_more = offset + limit < entities.length;
    return { body: { entities: page, total: entities.length, has_more } };
  };
}

/** The history of whatever path is asked for. */
export function history(change: Json = {}): Fake {
  return (ask) => {
    const path = ask.params.get("path");
    if (ask.path !== "/api/v1/recall" || path === null) return undefined;
    const days = Array.from({ length: 40 }, (_, day) => ({
      day: new Date(Date.UTC(2026, 4, 1 + day)).toISOString().slice(0, 10),
      operation: day % 7 === 0 ? "create" : "modify",
      edits: (day * 7) % 5,
    }));
    return {
      body: {
        paths_matched: [{ path, edits: 41 }],
        total_edits: 41,
        first_edit: "2026-05-01T09:00:00Z",
        last_edit: "2026-06-09T17:30:00Z",
        sessions_involved: 9,
        daily_breakdown: days,
        user_intents: [
          { intent: "Say how the cords were read", when: "2026-06-09T17:30:00Z", occurrences: 2 },
          { intent: "<b>Markup</b> in a subject", when: "2026-05-20T10:00:00Z", occurrences: 1 },
        ],
        linked_memories: [
          {
            id: "01FAKE1",
            entity: "Quipu",
            title: "Counting with cords",
            preview: "Knots on cords.",
          },
        ],
        history_state: "git",
        ...change,
      },
    };
  };
}

/** Notes near the one that is asked about. */
export function related(make: (path: string) => Json[]): Fake {
  return (ask) => {
    if (ask.path !== "/api/v1/related") return undefined;
    return { body: envelope(ask, make(ask.params.get("path") ?? ask.params.get("id") ?? "")) };
  };
}

/** A note near `path`, named for it. */
export function near(path: string): Json[] {
  return [hit(1, { title: `Near ${path}`, vault_path: "Projects/Wayside.md" }), hit(2)];
}

/** The models: the one that answers, and one on its way or none. */
export function meta(embedder: Json, coming: Json | null = null): Fake {
  return (ask) => {
    if (ask.path !== "/api/v1/meta") return undefined;
    const config = { host: "127.0.0.1", port: 8478, vault_path: "/vaults/Sample" };
    const body = { version: "0.0.0", schema_version: 1, config, extractors: [] };
    return { body: { ...body, embedder: { ...embedder, coming } } };
  };
}
