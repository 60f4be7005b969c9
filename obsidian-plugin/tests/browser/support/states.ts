/** Every state that the plugin can be seen in, and how it comes about. */
import type { Fake } from "../server/gateway";
import type { Desk, DeskParts } from "./desk";
import { envelope, found, health, hit, inState, searches } from "./fakes";
import { entity, history, meta, overview } from "./more_fakes";

const SEARCH = "[data-type=khiip-search]";

export interface Look {
  name: string;
  within: string;
  fakes?: Fake[];
  parts?: Partial<DeskParts>;
  show: (desk: Desk) => Promise<void>;
}

const MIXED = [
  hit(1, {
    title: "Counting with cords: the quipu",
    source: "web",
    author: "Ines Falk",
    vault_path: "Clippings/Counting with cords.md",
    passage: {
      text: "Knots on cords kept the accounts of an empire. The place of a knot says tens or hundreds, and its colour says of what.",
      heading: "How to read one",
      line: 12,
      score: 0.81,
      ranges: [
        [0, 14],
        [62, 66],
      ],
    },
    match_reasons: ["semantic_match", "content_match_fts"],
  }),
  hit(2, {
    title: "Which knot for a hammock?",
    source: "reddit",
    author: "u/slackline",
    vault_path: "Clippings/thread.md",
    passage: {
      text: "I keep slipping with a bowline; the knot has to hold a grown man all night.",
      heading: null,
      line: 3,
      score: 0.6,
      ranges: [[36, 40]],
    },
  }),
  hit(3, {
    title: "枕草子を読む",
    source: "note",
    author: null,
    vault_path: "Notes/枕草子を読む.md",
    recorded_at: "2026-11-29T08:00:00Z",
  }),
  hit(4, {
    title: "الأسطرلاب",
    source: "note",
    author: null,
    vault_path: "Notes/الأسطرلاب.md",
    passage: {
      text: "الأسطرلاب آلة فلكية قديمة تقيس ارتفاع النجوم",
      heading: null,
      line: 1,
      score: 0.4,
      ranges: [[0, 9]],
    },
  }),
  hit(5, {
    title: "Five knots in ten minutes",
    source: "youtube",
    author: "Ropework",
    vault_path: "captures/youtube/five knots.md",
  }),
  hit(6, {
    title: "Something is tunnelling into the bin",
    source: "x",
    author: "@ilse_meridian",
    vault_path: "Clippings/Tweets/bin.md",
  }),
  hit(7, {
    title: "Attention is all you need",
    source: "pdf",
    author: "Vaswani et al.",
    vault_path: "Literature/Attention is all you need.md",
  }),
  hit(8, {
    title: "Method of loci",
    source: "wiki",
    author: null,
    vault_path: "Clippings/Method of loci.md",
  }),
];

async function pane(desk: Desk): Promise<void> {
  await desk.pane();
}

async function typed(desk: Desk): Promise<void> {
  await desk.pane();
  await desk.search("knots on cords");
}

async function ask(desk: Desk): Promise<void> {
  await desk.pane();
  await desk.box.fill("knots on cords");
  await desk.quiet();
}

export const LOOKS: Look[] = [
  { name: "empty", within: SEARCH, show: pane },
  { name: "results", within: SEARCH, fakes: [found(...MIXED)], show: typed },
  {
    name: "filters",
    within: SEARCH,
    fakes: [found(...MIXED)],
    show: async (desk) => {
      await desk.pane();
      await desk.box.pressSequentially(
        "source:web -tag:draft since:2026-01 folder:Clippings knots ta",
      );
      await desk.quiet();
    },
  },
  { name: "real", within: SEARCH, show: typed },
  {
    name: "nothing",
    within: SEARCH,
    fakes: [searches((a) => ({ body: envelope(a, []) }))],
    show: ask,
  },
  {
    name: "offline",
    within: SEARCH,
    show: async (desk) => {
      await desk.pane();
      await desk.gateway.down();
      await ask(desk);
    },
  },
  {
    name: "unauthorised",
    within: SEARCH,
    fakes: [
      searches(() => ({
        status: 401,
        body: { detail: "The key is not the right one.", error: "unauthorized", hint: null },
      })),
    ],
    show: ask,
  },
  {
    name: "another-vault",
    within: SEARCH,
    fakes: [(a) => (a.path === "/health" ? { body: health("f".repeat(32)) } : undefined)],
    show: ask,
  },
  { name: "whose-sidecar", within: SEARCH, parts: { unannounced: true }, show: ask },
  {
    name: "server-error",
    within: SEARCH,
    fakes: [
      searches(() => ({
        status: 500,
        body: {
          detail: "The index is damaged.",
          error: "index_damaged",
          hint: "Run khiipd doctor.",
        },
      })),
    ],
    show: ask,
  },
  {
    name: "first-run",
    within: SEARCH,
    parts: {
      overlay: { ".khiip/sidecar.json": null },
      alone: true,
      data: { address: "http://127.0.0.1:9" },
      env: { PATH: "", HOME: "/nowhere" },
    },
    show: async (desk) => {
      await desk.pane();
      await desk.page.getByRole("region", { name: "Get started" }).waitFor();
    },
  },
  {
    name: "indexing",
    within: SEARCH,
    show: async (desk) => {
      const text = desk.house.parts.overlay[".khiip/sidecar.json"] ?? "{}";
      const { vault_id } = JSON.parse(text) as { vault_id: string };
      desk.gateway.fake(
        inState(vault_id, { state: "indexing", done: 40, total: 100, seconds_left: 80 }),
      );
      desk.gateway.fake(found(...MIXED.slice(0, 2)));
      await desk.restart();
      await typed(desk);
    },
  },
  {
    name: "related",
    within: "[data-type=khiip-related]",
    show: async (desk) => {
      await desk.openNote("Clippings/Quipu.md");
      await desk.command("open-related");
      await desk.page
        .getByRole("listbox", { name: "Related notes" })
        .getByRole("option")
        .first()
        .waitFor();
    },
  },
  {
    name: "entities",
    within: "[data-type=khiip-entities]",
    fakes: [
      overview(
        entity("Wayside", 8.2),
        entity("Noor Haddad", 5.1, { kind: "person", memory_count: 7 }),
        entity("Brightwater Maps", 3.3, { kind: "company" }),
        entity("A very long name of a project that will not fit into a narrow side pane", 1.6),
        entity("活字", 0.2, { kind: "concept", momentum_band: "dormant", memory_count: 1 }),
      ),
    ],
    show: async (desk) => {
      await desk.command("open-entities");
      await desk.page.getByRole("list", { name: "Entities" }).waitFor();
    },
  },
  {
    name: "history",
    within: "[data-type=khiip-history]",
    fakes: [history()],
    show: async (desk) => {
      await desk.openNote("Clippings/Quipu.md");
      await desk.command("open-history");
      await desk.page.getByRole("img", { name: /^Edits a day/ }).waitFor();
    },
  },
  {
    name: "quick-recall",
    within: ".prompt",
    fakes: [found(...MIXED)],
    show: async (desk) => {
      await desk.command("quick-recall");
      await desk.page.locator(".prompt-input").fill("knots on cords");
      await desk.page.locator(".suggestion-item", { hasText: "Counting" }).first().waitFor();
    },
  },
  {
    name: "code-block",
    within: ".block-language-khiip",
    fakes: [found(...MIXED)],
    parts: {
      overlay: { "Home.md": "# Home\n\nNotes about rope:\n\n```khiip\nknots on cords\n```\n" },
    },
    show: async (desk) => {
      await desk.openNote("Home.md", "preview");
      await desk.page.locator(".block-language-khiip").getByRole("link").first().waitFor();
    },
  },
  {
    name: "problems",
    within: "[data-type=khiip-problems], .modal",
    show: async (desk) => {
      const text = desk.house.parts.overlay[".khiip/sidecar.json"] ?? "{}";
      const { vault_id } = JSON.parse(text) as { vault_id: string };
      const one = {
        path: "People/Noor Haddad.md",
        line: 4,
        code: "yaml",
        reason: "The frontmatter is not YAML.",
        hint: "Put quotes around the value.",
      };
      const problems = [
        one,
        { ...one, path: "Home.md", line: null, reason: "Two notes have this id.", hint: null },
      ];
      desk.gateway.fake(
        inState(vault_id, { state: "ready", problems, last_report: { problems } }, { problems: 2 }),
      );
      await desk.restart();
      await desk.command("open-problems");
      await desk.page.getByRole("list", { name: "Problems" }).waitFor();
    },
  },
  {
    name: "settings",
    within: ".vertical-tab-content",
    show: async (desk) => {
      await desk.settings();
      await desk.page.waitForTimeout(500);
    },
  },
  {
    name: "settings-model-on-its-way",
    within: ".vertical-tab-content",
    fakes: [
      meta(
        { model: "all-MiniLM-L6-v2", dimension: 384 },
        { model: "multilingual-e5-small", dimension: 384, done: 423, total: 1677 },
      ),
    ],
    show: async (desk) => {
      await desk.settings();
      await desk.page.getByRole("progressbar", { name: "Model on its way" }).waitFor();
    },
  },
];
