/** Related notes, quick recall, the code block, entities, history. */
import { test } from "vitest";
import { expect } from "./support/expect";
import { at, type Desk } from "./support/desk";
import {
  answer,
  envelope,
  event,
  found,
  hit,
  inState,
  indexState,
  searches,
} from "./support/fakes";
import { entity, history, near, overview, related } from "./support/more_fakes";

const view = (desk: Desk, type: string): ReturnType<Desk["page"]["locator"]> =>
  desk.page.locator(`[data-type=${type}]`);

const relatedHits = (desk: Desk): ReturnType<Desk["page"]["locator"]> =>
  desk.page.getByRole("listbox", { name: "Related notes" }).getByRole("option");

test("related notes follow the active note", () =>
  at({ fakes: [related(near)] }, async (desk) => {
    await desk.openNote("Home.md");
    await desk.command("open-related");
    await relatedHits(desk).filter({ hasText: "Near Home.md" }).waitFor();
    await desk.openNote("People/Noor Haddad.md");
    await relatedHits(desk).filter({ hasText: "Near People/Noor Haddad.md" }).waitFor();
    await desk.accessible("[data-type=khiip-related]");
    const asked = desk.gateway.asked("/api/v1/related").map((line) => line.params.get("path"));
    expect(asked).toEqual(["Home.md", "People/Noor Haddad.md"]);
  }));

test("related notes of the real vault, opened and linked", () =>
  at({}, async (desk) => {
    await desk.openNote("Clippings/Quipu.md");
    await desk.page.getByLabel("Editor").focus();
    await desk.page.keyboard.press("Control+Home");
    await desk.command("open-related");
    await relatedHits(desk).first().waitFor();
    const paths = await relatedHits(desk).evaluateAll((all) =>
      all.map((el) => el.getAttribute("data-path")),
    );
    expect(paths).not.toContain("Clippings/Quipu.md");
    await desk.page.getByRole("listbox", { name: "Related notes" }).focus();
    await desk.page.keyboard.press("Alt+Enter");
    await expect.poll(async () => (await desk.seen()).text).toMatch(/^\[\[/);
    await relatedHits(desk).first().click({ button: "right" });
    await desk.page.getByRole("menuitem", { name: "Insert link" }).click();
    await expect.poll(async () => (await desk.seen()).text).toMatch(/^\[\[.*\[\[/s);
    await relatedHits(desk).first().click();
    await expect.poll(async () => (await desk.seen()).path).toBe(paths[0]);
  }));

test("a hidden related view asks for nothing, and no note is no error", () =>
  at({ fakes: [related(near)] }, async (desk) => {
    await desk.command("open-related");
    await desk.page.waitForTimeout(300);
    expect(await desk.page.getByRole("alert").count()).toBe(0);
    await desk.openNote("Home.md");
    await relatedHits(desk).first().waitFor();
    await desk.command("open-search");
    const count = desk.gateway.asked("/api/v1/related").length;
    await desk.openNote("People/Noor Haddad.md");
    await desk.page.waitForTimeout(500);
    expect(desk.gateway.asked("/api/v1/related").length).toBe(count);
  }));

test("quick recall finds, opens by Enter, and is gone by Escape", () =>
  at({}, async (desk) => {
    await desk.openNote("Home.md");
    await desk.command("quick-recall");
    const input = desk.page.locator(".prompt-input");
    await input.pressSequentially("accounting device of coloured strings");
    await desk.page.locator(".suggestion-item", { hasText: /quipu/i }).first().waitFor();
    await desk.accessible(".prompt");
    for (const { params } of desk.gateway.asked("/api/v1/recall")) {
      expect(params.get("mark_accessed")).toBe("false");
    }
    await desk.page.keyboard.press("Enter");
    await expect.poll(async () => (await desk.seen()).path).toBe("Clippings/Quipu.md");
    await expect
      .poll(() => desk.gateway.log.filter((line) => line.method === "POST").length)
      .toBe(1);
    await desk.command("quick-recall");
    await input.waitFor();
    await desk.page.keyboard.press("Escape");
    await expect.poll(() => input.count()).toBe(0);
  }));

test("quick recall asks once for a word typed quickly, and shows hostile titles as text", () =>
  at(
    { fakes: [found(hit(1, { title: "<b>bold</b><img src=x onerror=alert(1)>" }))] },
    async (desk) => {
      await desk.command("quick-recall");
      await desk.page.locator(".prompt-input").pressSequentially("knots", { delay: 20 });
      const item = desk.page.locator(".suggestion-item", { hasText: "<b>bold</b>" });
      await item.waitFor();
      expect(await item.locator("img, b").count()).toBe(0);
      await desk.quiet();
      expect(desk.queries().filter(Boolean)).toEqual(["knots"]);
    },
  ));

test("quick recall says when nobody answers", () =>
  at({}, async (desk) => {
    await desk.gateway.down();
    await desk.command("quick-recall");
    await desk.page.locator(".prompt-input").fill("knots");
    await desk.page
      .locator(".prompt, .notice")
      .filter({ hasText: /not running|offline|cannot be reached/i })
      .first()
      .waitFor();
  }));

test("a code block lists hits that lead to their notes", () =>
  at(
    { overlay: { "Home.md": "# Home\n\n```khiip\naccounting device of coloured strings\n```\n" } },
    async (desk) => {
      await desk.openNote("Home.md", "preview");
      const list = desk.page.getByRole("list", { name: /coloured strings/ });
      const link = list.getByRole("listitem").getByRole("link").first();
      await link.waitFor();
      await desk.accessible(".block-language-khiip");
      const params = desk.gateway.asked("/api/v1/recall")[0]?.params;
      expect(params?.get("mark_accessed")).toBe("false");
      await link.click();
      await expect.poll(async () => (await desk.seen()).path).toBe("Clippings/Quipu.md");
    },
  ));

test("a code block's list is live: it follows the index", () =>
  at({ alone: true, overlay: { "Home.md": "```khiip\nknots\n```\n" } }, async (desk) => {
    const text = desk.house.parts.overlay[".khiip/sidecar.json"] ?? "{}";
    const { vault_id: id } = JSON.parse(text) as { vault_id: string };
    desk.gateway.fake(inState(id, { state: "ready" }));
    let title = "First";
    desk.gateway.fake(searches((ask) => ({ body: envelope(ask, [hit(1, { title })]) })));
    await desk.restart();
    await desk.openNote("Home.md", "preview");
    const block = desk.page.locator(".block-language-khiip");
    await block.getByRole("link", { name: "First" }).waitFor();
    title = "Second";
    desk.gateway.tell(event(indexState({ state: "ready" }, { generation: 2 })));
    await block.getByRole("link", { name: "Second" }).waitFor();
  }));

test("a code block without a query, and one whose server is gone, say so in the note", () =>
  at(
    { overlay: { "Home.md": "```khiip\n\n```\n\nbetween\n\n```khiip\nknots\n```\n" } },
    async (desk) => {
      await desk.gateway.down();
      await desk.openNote("Home.md", "preview");
      const blocks = desk.page.locator(".block-language-khiip");
      await expect.poll(() => blocks.nth(0).textContent()).toMatch(/\w/);
      await expect.poll(() => blocks.nth(1).textContent()).toMatch(/not running|offline/i);
    },
  ));

test("entities by momentum, each leading to a search for it", () =>
  at(
    {
      fakes: [
        overview(
          entity("Wayside", 8.2),
          entity("<i>Odd</i> name", 4.5),
          entity("Liv", 0.3, { kind: "person" }),
        ),
        found(hit(1)),
      ],
    },
    async (desk) => {
      await desk.command("open-entities");
      const items = desk.page.getByRole("list", { name: "Entities" }).getByRole("listitem");
      await items.first().waitFor();
      const names = await items.getByRole("button").allTextContents();
      expect(names[0]).toMatch(/^Wayside/);
      expect(names[1]).toMatch(/^<i>Odd<\/i> name/);
      expect(names).toHaveLength(3);
      await desk.accessible("[data-type=khiip-entities]");
      await items.getByRole("button").nth(1).click();
      await desk.hits.first().waitFor();
      const line = desk.gateway.asked("/api/v1/recall").at(-1);
      const all = line ? [...line.params.values()].join(" ") : "";
      expect(all).toContain("<i>Odd</i> name");
    },
  ));

test("hundreds of entities come in pages, and a filter narrows them", () =>
  at(
    {
      fakes: [
        overview(
          ...Array.from({ length: 230 }, (_, n) => entity(`Thing ${String(n)}`, 9 - n / 40)),
        ),
      ],
    },
    async (desk) => {
      await desk.command("open-entities");
      const items = desk.page.getByRole("list", { name: "Entities" }).getByRole("listitem");
      await items.first().waitFor();
      const patience = Date.now() + 10_000;
      while ((await items.count()) < 230 && Date.now() < patience) {
        const more = view(desk, "khiip-entities").getByRole("button", { name: /more/i });
        if (await more.count()) await more.click();
        await items.last().scrollIntoViewIfNeeded();
        await desk.page.waitForTimeout(100);
      }
      expect(await items.count()).toBe(230);
    },
  ));

test("the real overview is drawn", () =>
  at({}, async (desk) => {
    await desk.command("open-entities");
    const items = desk.page.getByRole("list", { name: "Entities" }).getByRole("listitem");
    await items.first().waitFor();
    expect(await items.count()).toBeGreaterThan(3);
  }));

test("history follows the active note: bars, intents, linked notes", () =>
  at({ fakes: [history()] }, async (desk) => {
    await desk.openNote("Clippings/Quipu.md");
    await desk.command("open-history");
    const chart = desk.page.getByRole("img", { name: /^Edits a day/ });
    await chart.waitFor();
    expect(await chart.evaluate((el) => el.tagName.toLowerCase())).toBe("svg");
    expect(await chart.locator("rect").count()).toBeGreaterThan(10);
    const within = view(desk, "khiip-history");
    const intents = within.getByRole("list", { name: "Intents" }).getByRole("listitem");
    expect(await intents.allTextContents()).toHaveLength(2);
    expect(await intents.nth(1).textContent()).toContain("<b>Markup</b>");
    expect(await within.getByRole("list", { name: "Linked notes" }).textContent()).toContain(
      "Counting with cords",
    );
    await desk.accessible("[data-type=khiip-history]");
    await desk.openNote("Home.md");
    await expect
      .poll(() => desk.gateway.asked("/api/v1/recall").map((line) => line.params.get("path")))
      .toEqual(["Clippings/Quipu.md", "Home.md"]);
  }));

test("a note without a history says so", () =>
  at(
    {
      fakes: [
        history({
          ...{ paths_matched: [], total_edits: 0, first_edit: null, last_edit: null },
          ...{ sessions_involved: 0, daily_breakdown: [], user_intents: [], linked_memories: [] },
          history_state: "empty",
        }),
      ],
    },
    async (desk) => {
      await desk.openNote("Home.md");
      await desk.command("open-history");
      await expect.poll(() => view(desk, "khiip-history").textContent()).toMatch(/no |not /i);
      expect(await desk.page.locator("[data-type=khiip-history] rect").count()).toBe(0);
      await desk.accessible("[data-type=khiip-history]");
    },
  ));

test("the real history of a note in git is drawn", () =>
  at({}, async (desk) => {
    await desk.openNote("Clippings/Quipu.md");
    await desk.command("open-history");
    await desk.page.getByRole("img", { name: /^Edits a day/ }).waitFor();
    expect(await view(desk, "khiip-history").textContent()).toContain("The vault as it was found");
  }));

test("a view whose answer fails says one plain line", () =>
  at(
    {
      fakes: [
        answer("/api/v1/recall", {
          status: 500,
          body: { detail: "The disk is full.", error: "disk_full", hint: null },
        }),
      ],
    },
    async (desk) => {
      await desk.openNote("Home.md");
      for (const [command, type] of [
        ["open-entities", "khiip-entities"],
        ["open-history", "khiip-history"],
      ] as const) {
        await desk.command(command);
        await expect.poll(() => view(desk, type).textContent()).toMatch(/went wrong|disk is full/i);
        await desk.accessible(`[data-type=${type}]`);
      }
    },
  ));
