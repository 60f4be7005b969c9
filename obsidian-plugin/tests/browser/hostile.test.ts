/** What notes may hold: markup, other directions, other scripts, nothing at all. */
import { test } from "vitest";
import { expect } from "./support/expect";
import { at } from "./support/desk";
import { overflow } from "./support/overflow";
import { envelope, found, hit, searches } from "./support/fakes";

const IMG = "<img src=x onerror=\"window.hacked='yes'\"><script>window.hacked='yes'</script>";
const RTL = "\u202Egnp.exe\u202C \u2067evil\u2069";

test("markup in titles, authors, folders and passages stays text", () =>
  at(
    {
      fakes: [
        found(
          hit(1, {
            title: IMG,
            author: IMG,
            vault_path: `Notes/${IMG.replaceAll("/", "_")}/x.md`,
            passage: { text: `${IMG} knots`, heading: IMG, line: 1, score: 0.1, ranges: [[0, 9]] },
          }),
        ),
      ],
    },
    async (desk) => {
      await desk.pane();
      await desk.search("knots");
      expect(await desk.hits.first().locator("[data-part=title]").textContent()).toBe(IMG);
      expect(await desk.hits.first().locator("mark").textContent()).toBe(IMG.slice(0, 9));
      expect(
        await desk.page
          .locator("[data-type=khiip-search] img, [data-type=khiip-search] script")
          .count(),
      ).toBe(0);
      await desk.hits.first().hover();
      await desk.hits.first().click({ button: "right" });
      await desk.page.waitForTimeout(200);
      expect(await desk.page.evaluate(() => "hacked" in window)).toBe(false);
    },
  ));

test("direction overrides stay within their own field", () =>
  at({ fakes: [found(hit(1, { title: RTL, author: "\u202Eauthor" }), hit(2))] }, async (desk) => {
    await desk.pane();
    await desk.search("knots");
    for (const part of ["title", "author", "folder"]) {
      const isolated = await desk.hits
        .first()
        .locator(`[data-part=${part}]`)
        .evaluate((el) => {
          const { unicodeBidi, display } = getComputedStyle(el);
          return (
            unicodeBidi.includes("isolate") || unicodeBidi === "plaintext" || display !== "inline"
          );
        });
      expect(isolated, `${part} is isolated`).toBe(true);
    }
    await desk.accessible();
  }));

test("Arabic reads from right to left, Chinese, Japanese and Korean are marked where they match", () =>
  at(
    {
      fakes: [
        found(
          hit(1, {
            title: "الأسطرلاب",
            passage: {
              text: "الأسطرلاب آلة فلكية قديمة",
              heading: null,
              line: 1,
              score: 1,
              ranges: [[0, 9]],
            },
          }),
          hit(2, {
            title: "味噌の仕込み",
            passage: {
              text: "大豆と麹で味噌を仕込む𠮷野",
              heading: null,
              line: 1,
              score: 1,
              ranges: [
                [5, 7],
                [11, 13],
              ],
            },
          }),
        ),
      ],
    },
    async (desk) => {
      await desk.pane();
      await desk.search("味噌");
      const passage = desk.hits.first().locator("[data-part=passage]");
      expect(await passage.evaluate((el) => getComputedStyle(el).direction)).toBe("rtl");
      expect(await desk.hits.nth(0).locator("mark").allTextContents()).toEqual(["الأسطرلاب"]);
      expect(await desk.hits.nth(1).locator("mark").allTextContents()).toEqual(["味噌", "𠮷野"]);
    },
  ));

test("ranges that make no sense mark nothing, and break nothing", () =>
  at(
    {
      fakes: [
        found(
          hit(1, {
            passage: {
              text: "short",
              heading: null,
              line: 1,
              score: 1,
              ranges: [
                [-4, 2],
                [3, 99],
                [2, 1],
                [1, 3],
                [2, 4],
              ],
            },
          }),
        ),
      ],
    },
    async (desk) => {
      await desk.pane();
      await desk.search("short");
      expect(await desk.hits.first().locator("[data-part=passage]").textContent()).toContain(
        "short",
      );
    },
  ));

test("a hit with nothing but a path shows that", () =>
  at(
    {
      fakes: [
        found(
          hit(1, {
            ...{ title: null, author: null, description: null, excerpt: "", passage: null },
            vault_path: "Notes/🐘.md",
          }),
          hit(2, {
            title: "",
            passage: { text: "", heading: null, line: null, score: 0, ranges: [] },
            excerpt: "",
          }),
        ),
      ],
    },
    async (desk) => {
      await desk.pane();
      await desk.search("x");
      expect(await desk.hits.first().textContent()).toContain("🐘");
      for (const text of await desk.hits.allTextContents())
        expect(text).not.toMatch(/null|undefined/);
      await desk.accessible();
    },
  ));

test("very long titles, tags and words stay in the pane", () =>
  at(
    {
      side: 300,
      fakes: [
        found(
          hit(1, {
            title: "Donaudampfschifffahrtsgesellschaft".repeat(9),
            author: "a".repeat(300),
            vault_path: `${"deep/".repeat(40)}note.md`,
            passage: {
              text: "x".repeat(2000),
              heading: "h".repeat(400),
              line: 1,
              score: 1,
              ranges: [[0, 1500]],
            },
          }),
        ),
      ],
    },
    async (desk) => {
      await desk.pane();
      await desk.search("long");
      const sideways = await overflow(desk.page, "[data-type=khiip-search] .view-content");
      expect(sideways).toBeLessThanOrEqual(1);
      await desk.shot("hostile-long-300");
    },
  ));

test("notes in any script are found by their own words", () =>
  at({}, async (desk) => {
    await desk.pane();
    await desk.search("الأسطرلاب");
    expect(await desk.hits.first().getAttribute("data-path")).toBe("Notes/الأسطرلاب.md");
    await desk.search("味噌の仕込み");
    expect(await desk.hits.first().getAttribute("data-path")).toBe("Notes/味噌の仕込み.md");
  }));

test("while an input method composes, Enter and arrows are its own", () =>
  at(
    { fakes: [searches((ask) => ({ body: envelope(ask, [hit(1, { vault_path: "Home.md" })]) }))] },
    async (desk) => {
      await desk.pane();
      await desk.search("miso");
      await desk.box.evaluate((el) => {
        el.dispatchEvent(new CompositionEvent("compositionstart", { bubbles: true }));
        el.dispatchEvent(
          new KeyboardEvent("keydown", {
            key: "Enter",
            bubbles: true,
            cancelable: true,
            isComposing: true,
          }),
        );
      });
      await desk.page.waitForTimeout(300);
      expect((await desk.seen()).path).toBeNull();
    },
  ));
