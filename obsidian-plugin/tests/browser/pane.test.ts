/** The pane: live results, keys, opening, links, previews, drags and menus, on the real sidecar. */
import { test } from "vitest";
import { expect } from "./support/expect";
import { at } from "./support/desk";
import { envelope, found, hit, searches, slow } from "./support/fakes";

const QUIPU = "Clippings/Quipu.md";

test("opens by its command and its ribbon icon, once, with the focus in the box", () =>
  at({}, async (desk) => {
    await desk.command("open-search");
    await expect.poll(() => desk.box.evaluate((el) => el === document.activeElement)).toBe(true);
    const icon = desk.page.locator(".side-dock-ribbon-action");
    expect(await icon.getAttribute("aria-label")).toMatch(/^(Khiip|Search your notes)/);
    await icon.click();
    await desk.command("open-search");
    expect(await desk.page.locator("[data-type=khiip-search]").count()).toBe(1);
  }));

test("finds while one types, and looking records no access", () =>
  at({}, async (desk) => {
    await desk.pane();
    await desk.search("accounting device of coloured strings");
    expect(await desk.hits.first().getAttribute("data-path")).toBe(QUIPU);
    const lines = desk.gateway.asked("/api/v1/recall");
    for (const { params } of lines) expect(params.get("mark_accessed")).toBe("false");
    expect(desk.gateway.log.filter((line) => line.method === "POST")).toEqual([]);
    await desk.accessible();
  }));

test("a hit shows title, source, author, date, folder, why, and its passage", () =>
  at({}, async (desk) => {
    await desk.pane();
    await desk.search("accounting device of coloured strings");
    const first = desk.hits.first();
    const part = async (name: string): Promise<string> =>
      ((await first.locator(`[data-part=${name}]`).textContent()) ?? "").trim();
    expect(await part("title")).not.toBe("");
    expect(await part("source")).not.toBe("");
    expect(await part("date")).not.toBe("");
    expect(await part("folder")).toContain("Clippings");
    expect(await part("why")).not.toBe("");
    expect((await part("passage")).length).toBeGreaterThan(20);
    expect(await first.locator("svg").count()).toBeGreaterThan(0);
    const name = await first.evaluate((el) => el.getAttribute("aria-label") ?? el.textContent);
    expect(name.trim().startsWith(await part("title"))).toBe(true);
  }));

test("words that were found are marked, where Unicode takes two units too", () =>
  at(
    {
      fakes: [
        searches((ask) => {
          const text = "🐘🐘 an elephant 🐘 walks";
          const passage = {
            text,
            heading: null,
            line: 2,
            score: 0.9,
            ranges: [
              [3, 14],
              [17, 22],
            ],
          };
          return { body: envelope(ask, [hit(1, { passage })]) };
        }),
      ],
    },
    async (desk) => {
      await desk.pane();
      await desk.search("elephant");
      expect(await desk.hits.first().locator("mark").allTextContents()).toEqual([
        "an elephant",
        "walks",
      ]);
    },
  ));

test("waits for a pause, asks one thing at a time, and draws the newest answer alone", () =>
  at(
    {
      fakes: [slow({ a: 1800, abc: 50 }, (query) => [hit(1, { title: `Answer to ${query}` })])],
    },
    async (desk) => {
      await desk.pane();
      const seen: string[] = [];
      const watch = setInterval(() => {
        void desk.hits
          .first()
          .textContent({ timeout: 20 })
          .then((text) => seen.push(text ?? ""))
          .catch(() => null);
      }, 40);
      await desk.box.pressSequentially("a");
      await desk.page.waitForTimeout(400);
      await desk.box.pressSequentially("b", { delay: 0 });
      await desk.page.waitForTimeout(250);
      await desk.box.pressSequentially("c", { delay: 0 });
      await desk.page.getByText("Answer to abc").waitFor();
      await desk.page.waitForTimeout(900);
      clearInterval(watch);
      expect(await desk.hits.first().textContent()).toContain("Answer to abc");
      expect(seen.filter((text) => /Answer to a(?!bc)/.test(text))).toEqual([]);
      expect(desk.gateway.mostAtOnce("/api/v1/recall")).toBe(1);
      expect(desk.queries()).toEqual(["a", "abc"]);
    },
  ));

test("quick typing is one search, and typing is never held up", () =>
  at({ fakes: [slow({}, (query) => [hit(1, { title: query })])] }, async (desk) => {
    await desk.pane();
    await desk.box.pressSequentially("knots on cords", { delay: 30 });
    expect(await desk.box.inputValue()).toBe("knots on cords");
    await desk.hits.first().waitFor();
    expect(desk.queries()).toEqual(["knots on cords"]);
  }));

test("an emptied box empties the list at once, and no late answer fills it", () =>
  at({ fakes: [slow({ slow: 700 }, (query) => [hit(1, { title: query })])] }, async (desk) => {
    await desk.pane();
    await desk.search("quick");
    await desk.box.fill("slow");
    await desk.page.waitForTimeout(350);
    await desk.box.fill("");
    await expect.poll(() => desk.hits.count(), { timeout: 300, interval: 30 }).toBe(0);
    await desk.page.waitForTimeout(900);
    expect(await desk.hits.count()).toBe(0);
  }));

test("a query that finds nothing says so", () =>
  at({ fakes: [searches((ask) => ({ body: envelope(ask, []) }))] }, async (desk) => {
    await desk.pane();
    await desk.box.fill("nothing like this");
    await desk.page
      .getByRole("status")
      .filter({ hasText: /no notes/i })
      .first()
      .waitFor();
    await desk.accessible();
  }));

test("arrows move, Enter opens at the passage's line and records the access", () =>
  at({}, async (desk) => {
    await desk.pane();
    await desk.search("lighthouse beam");
    expect(await desk.chosen.count()).toBe(1);
    const first = await desk.chosen.getAttribute("data-path");
    await desk.page.keyboard.press("ArrowDown");
    expect(await desk.chosen.getAttribute("data-path")).not.toBe(first);
    await desk.page.keyboard.press("ArrowUp");
    expect(await desk.chosen.getAttribute("data-path")).toBe(first);
    const active = await desk.box.getAttribute("aria-activedescendant");
    expect(active).toBe(await desk.chosen.getAttribute("id"));
    expect(await desk.box.evaluate((el) => el === document.activeElement)).toBe(true);

    await desk.page.keyboard.press("Enter");
    await expect.poll(async () => (await desk.seen()).path).toBe(first);
    await expect
      .poll(() => desk.gateway.log.filter(isAccess).map((line) => line.status))
      .toEqual([204]);
    expect((await desk.seen()).tabs).toBe(1);
  }));

function isAccess(line: { method: string; path: string }): boolean {
  return line.method === "POST" && /^\/api\/v1\/captures\/[^/]+\/access$/.test(line.path);
}

test("opening jumps to the line, and to the heading where no line is known", () =>
  at(
    {
      fakes: [
        searches((ask) => {
          const byLine = ask.params.get("query") === "line";
          const place = byLine ? { line: 12, heading: null } : { line: null, heading: "Design" };
          const passage = { text: "Somewhere in it.", score: 0.5, ranges: [], ...place };
          const vault_path = byLine ? QUIPU : "Notes/Headings.md";
          return { body: envelope(ask, [hit(1, { passage, vault_path })]) };
        }),
      ],
      overlay: { "Notes/Headings.md": "# Headings\n\nWords.\n\n## Design\n\nMore words.\n" },
    },
    async (desk) => {
      await desk.pane();
      await desk.search("line");
      await desk.page.keyboard.press("Enter");
      await expect.poll(async () => (await desk.seen()).line).toBe(11);
      await desk.search("heading");
      await desk.page.keyboard.press("Enter");
      await expect.poll(async () => (await desk.seen()).path).toBe("Notes/Headings.md");
      await expect.poll(async () => (await desk.seen()).line).toBe(4);
    },
  ));

test("Ctrl+Enter opens in a new tab, a click in this one, a middle click in a new one", () =>
  at({}, async (desk) => {
    await desk.openNote("Home.md");
    await desk.pane();
    await desk.search("lighthouse beam");
    await desk.page.keyboard.press("Control+Enter");
    await expect.poll(async () => (await desk.seen()).tabs).toBe(2);
    const second = await desk.hits.nth(1).getAttribute("data-path");
    await desk.hits.nth(1).click();
    await expect.poll(async () => (await desk.seen()).path).toBe(second);
    expect((await desk.seen()).tabs).toBe(2);
    await desk.hits.nth(0).click({ button: "middle" });
    await expect.poll(async () => (await desk.seen()).tabs).toBe(3);
  }));

test("Alt+Enter inserts a link at the cursor of the note that was edited last", () =>
  at({}, async (desk) => {
    await desk.openNote("Home.md");
    const editor = desk.page.getByLabel("Editor");
    await editor.focus();
    await desk.page.keyboard.press("Control+Home");
    await desk.pane();
    await desk.search("accounting device of coloured strings");
    await desk.page.keyboard.press("Alt+Enter");
    await expect.poll(async () => (await desk.seen()).text).toMatch(/^\[\[Quipu/);
    expect((await desk.seen()).path).toBe("Home.md");
  }));

test("Alt+Enter with no note open says what to do", () =>
  at({}, async (desk) => {
    await desk.pane();
    await desk.search("accounting device of coloured strings");
    await desk.page.keyboard.press("Alt+Enter");
    await desk.page
      .locator(".notice, [role=alert], [role=status]")
      .filter({ hasText: /open/i })
      .first()
      .waitFor();
  }));

test("resting the mouse shows Obsidian's page preview", () =>
  at({}, async (desk) => {
    await desk.pane();
    await desk.search("accounting device of coloured strings");
    await desk.hits.first().hover();
    if (!(await desk.page.locator(".hover-popover").count())) {
      await desk.page.keyboard.down("Control"); // with the key, where the source asks for it
      await desk.hits.nth(1).hover();
      await desk.hits.first().hover();
      await desk.page.keyboard.up("Control");
    }
    await desk.page.locator(".hover-popover", { hasText: "Quipu" }).waitFor();
  }));

test("the page preview finds a note whose name holds # too", () =>
  at(
    {
      fakes: [found(hit(1, { vault_path: "A #1 [x].md" }))],
      overlay: { "A #1 [x].md": "# One\n\nAn odd name.\n", "A.md": "# Another\n" },
    },
    async (desk) => {
      await desk.pane();
      await desk.search("odd");
      await desk.page.keyboard.down("Control");
      await desk.hits.first().hover();
      await desk.page.locator(".hover-popover", { hasText: "An odd name." }).waitFor();
      await desk.page.keyboard.up("Control");
      await desk.page.keyboard.press("Enter");
      await expect.poll(async () => (await desk.seen()).path).toBe("A #1 [x].md");
    },
  ));

test("the lowest hit, when it is chosen, stands above the status bar", () =>
  at({ fakes: [found(...Array.from({ length: 15 }, (_, n) => hit(n)))] }, async (desk) => {
    await desk.pane();
    await desk.search("many");
    for (let step = 0; step < 15; step++) await desk.page.keyboard.press("ArrowDown");
    const bottom = await desk.chosen.evaluate((el) => el.getBoundingClientRect().bottom);
    expect(await desk.chosen.getAttribute("data-path")).toBe("Notes/Hit 14.md");
    const bar = desk.page.locator(".status-bar");
    expect(bottom).toBeLessThanOrEqual(await bar.evaluate((el) => el.getBoundingClientRect().top));
  }));

test("dragging a hit into a note makes a link", () =>
  at({}, async (desk) => {
    await desk.openNote("Home.md");
    await desk.pane();
    await desk.search("accounting device of coloured strings");
    await desk.hits.first().dragTo(desk.page.getByLabel("Editor"));
    await expect.poll(async () => (await desk.seen()).text).toContain("[[Quipu");
  }));

test("a right click has the file's menu", () =>
  at({}, async (desk) => {
    await desk.pane();
    await desk.search("accounting device of coloured strings");
    await desk.hits.first().click({ button: "right" });
    await desk.page.getByRole("menuitem", { name: "Reveal file in navigation" }).waitFor();
    await desk.page.getByRole("menuitem", { name: /new tab/i }).click();
    await expect.poll(async () => (await desk.seen()).path).toBe(QUIPU);
  }));

test("a note whose name holds # and [ opens by its path, and nothing is made by its name", () =>
  at(
    {
      fakes: [
        searches((ask) => ({ body: envelope(ask, [hit(1, { vault_path: "A #1 [x].md" })]) })),
      ],
    },
    async (desk) => {
      await desk.pane();
      await desk.search("odd name");
      await desk.page.keyboard.press("Enter");
      // It is not in the vault: that is said, and no note is made of its name.
      await desk.page
        .locator(".notice, [role=alert]")
        .filter({ hasText: /vault/i })
        .first()
        .waitFor();
      expect((await desk.seen()).made).toEqual([]);
    },
  ));

test("the last search comes back after a restart, and data.json is not written for it", () =>
  at({}, async (desk) => {
    await desk.pane();
    await desk.search("accounting device of coloured strings");
    await desk.restart();
    await desk.box.waitFor();
    expect(await desk.box.inputValue()).toBe("accounting device of coloured strings");
    await desk.hits.first().waitFor();
    expect(await desk.hits.first().getAttribute("data-path")).toBe(QUIPU);
    expect(desk.house.saved).toEqual([]);
  }));

test("what a plugin registers is gone when it is switched off", () =>
  at({}, async (desk) => {
    const before = (await desk.seen()).listeners;
    await desk.pane();
    await desk.search("lighthouse beam");
    await desk.page.evaluate(() => {
      window.desk.unload();
    });
    expect(await desk.page.locator(".plugin-khiip, .side-dock-ribbon-action").count()).toBe(0);
    expect((await desk.seen()).listeners).toBeLessThanOrEqual(before);
    const count = desk.gateway.log.length;
    await desk.page.waitForTimeout(600);
    expect(desk.gateway.log.length).toBe(count);
  }));
