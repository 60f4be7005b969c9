/** Filters, match and order, saved searches, paging. */
import { test } from "vitest";
import { expect } from "./support/expect";
import { at, type Desk } from "./support/desk";
import { found, hit, many } from "./support/fakes";
import { entity, overview } from "./support/more_fakes";

function last(desk: Desk): URLSearchParams {
  const lines = desk.gateway.asked("/api/v1/recall");
  const line = lines[lines.length - 1];
  if (!line) throw new Error("nothing was asked for");
  return line.params;
}

/** The filter as it reached the service: a parameter, or an operator in the query text. */
function asked(desk: Desk, parameter: string, operator: string): string[] {
  const params = last(desk);
  const query = params.get("query") ?? params.get("q") ?? "";
  const inText = query.split(/\s+/).filter((word) => word.replace(/^-/, "").startsWith(operator));
  return [...params.getAll(parameter), ...inText];
}

const chips = (desk: Desk): ReturnType<Desk["page"]["getByRole"]> =>
  desk.page.getByRole("group", { name: "Filters" }).getByRole("button");

test("a filter typed in the box becomes a chip, narrows, and goes away by a click", () =>
  at({}, async (desk) => {
    await desk.pane();
    await desk.search("knots");
    await desk.box.fill("");
    await desk.box.pressSequentially("source:reddit rope knots");
    await expect.poll(() => chips(desk).filter({ hasText: "source:reddit" }).count()).toBe(1);
    await desk.quiet();
    expect(asked(desk, "source", "source:").join()).toContain("reddit");
    await desk.accessible();
    await chips(desk).filter({ hasText: "source:reddit" }).click();
    await desk.quiet();
    expect(asked(desk, "source", "source:")).toEqual([]);
    expect(await chips(desk).filter({ hasText: "source:reddit" }).count()).toBe(0);
  }));

test("a negative filter leaves out, and a time reaches the service", () =>
  at({ fakes: [found(hit(1))] }, async (desk) => {
    await desk.pane();
    await desk.box.pressSequentially("-tag:draft since:2026-01 folder:Clippings knots");
    await desk.hits.first().waitFor();
    await desk.quiet();
    expect(asked(desk, "tag", "tag:").join()).toMatch(/^-(tag:)?draft$/);
    expect(asked(desk, "since", "since:").join()).toContain("2026-01");
    expect(asked(desk, "folder", "folder:").join()).toContain("Clippings");
    expect(await chips(desk).filter({ hasText: "-tag:draft" }).count()).toBe(1);
  }));

test("filters alone are a search", () =>
  at({}, async (desk) => {
    await desk.pane();
    await desk.box.pressSequentially("source:reddit ");
    await desk.hits.first().waitFor();
    const sources = await desk.hits.locator("[data-part=source]").allTextContents();
    expect(sources.length).toBeGreaterThan(0);
    for (const source of sources) expect(source.toLowerCase()).toContain("reddit");
  }));

test("values are suggested while a filter is typed, by keys and by the mouse", () =>
  at({}, async (desk) => {
    await desk.pane();
    await desk.box.pressSequentially("source:");
    const list = desk.page.getByRole("listbox", { name: "Suggestions" });
    await list.waitFor();
    expect((await list.getByRole("option").allTextContents()).join()).toContain("reddit");
    await desk.accessible();
    await desk.box.pressSequentially("wi");
    await expect.poll(() => list.getByRole("option").count()).toBe(1);
    await desk.page.keyboard.press("Enter");
    await expect.poll(() => chips(desk).filter({ hasText: "source:wiki" }).count()).toBe(1);
    await desk.box.pressSequentially("folder:");
    await list.getByRole("option").filter({ hasText: "Clippings" }).first().click();
    await expect.poll(() => chips(desk).filter({ hasText: "Clippings" }).count()).toBe(1);
    await desk.box.pressSequentially("-");
    await list.waitFor();
    await desk.page.keyboard.press("Escape");
    await expect.poll(() => list.isVisible()).toBe(false);
    expect(await desk.box.inputValue()).toContain("-");
  }));

test("when the suggestions are gone, the chosen hit is what a screen reader is pointed at", () =>
  at({ fakes: [found(hit(1))] }, async (desk) => {
    await desk.pane();
    await desk.search("knots");
    await desk.box.pressSequentially(" source:");
    const list = desk.page.getByRole("listbox", { name: "Suggestions" });
    await list.waitFor();
    const active = (): Promise<string | null> => desk.box.getAttribute("aria-activedescendant");
    expect(await active()).not.toBe(await desk.chosen.getAttribute("id"));
    await desk.page.keyboard.press("Escape");
    expect(await list.isVisible()).toBe(false);
    expect(await active()).toBe(await desk.chosen.getAttribute("id"));
  }));

test("any of many entities is suggested, once all are known", () =>
  at(
    {
      fakes: [overview(...Array.from({ length: 450 }, (_, n) => entity(`Thing ${n}`, 9 - n / 60)))],
    },
    async (desk) => {
      await desk.pane();
      await desk.box.fill("entity:441");
      const list = desk.page.getByRole("listbox", { name: "Suggestions" });
      await list.getByRole("option").filter({ hasText: "Thing 441" }).click();
      await expect.poll(() => chips(desk).filter({ hasText: "Thing 441" }).count()).toBe(1);
    },
  ));

test("a quotation is a chip beside few words, and a part of what a sentence says", () =>
  at({ fakes: [found(hit(1))] }, async (desk) => {
    await desk.pane();
    await desk.box.pressSequentially('"knots on cords" ');
    await expect.poll(() => chips(desk).filter({ hasText: "knots on cords" }).count()).toBe(1);
    await desk.box.pressSequentially("what are they and who made them for whom and why");
    await expect.poll(() => chips(desk).count()).toBe(0);
    await desk.quiet();
    expect(last(desk).get("query")).toMatch(/^"knots on cords" what are they/);
    await desk.box.fill("");
    await desk.box.pressSequentially('phrase:"knots on cords" [status:done] rope');
    await expect.poll(() => chips(desk).count()).toBe(2);
    await desk.quiet();
    expect(last(desk).get("query")).toBe('phrase:"knots on cords" rope');
    expect(last(desk).get("property")).toBe("status:done");
    await chips(desk).filter({ hasText: "knots" }).click();
    await desk.quiet();
    expect(last(desk).get("query")).toBe("rope");
    await desk.box.fill('rope "knots on cords"');
    await chips(desk).filter({ hasText: "knots" }).click();
    await expect.poll(() => desk.box.inputValue()).toBe("rope");
  }));

test("times and phrases narrow the real vault as the chips say", () =>
  at({}, async (desk) => {
    await desk.pane();
    await desk.box.pressSequentially('since:1990 phrase:"accounting device" ');
    await expect.poll(() => desk.hits.first().getAttribute("data-path")).toContain("Quipu");
    await desk.quiet();
    const all = await desk.hits.count();
    await desk.box.pressSequentially("-path:Quipu ");
    await desk.quiet();
    expect(await desk.hits.count()).toBeLessThan(all);
  }));

test("match and order are switches that the service is told", () =>
  at({}, async (desk) => {
    await desk.pane();
    await desk.search("lighthouse");
    expect(last(desk).get("match")).toBe("hybrid");
    expect(last(desk).get("rank")).toBe("relevance");
    const match = desk.page.getByRole("radiogroup", { name: "Match" });
    expect(await match.getByRole("radio", { name: "Both" }).isChecked()).toBe(true);
    await match.getByText("Words").click();
    await desk.quiet();
    expect(last(desk).get("match")).toBe("lexical");
    await match.getByText("Meaning").click();
    await desk.quiet();
    expect(last(desk).get("match")).toBe("semantic");
    const order = desk.page.getByRole("radiogroup", { name: "Order" });
    await order.getByText("What matters now").click();
    await desk.quiet();
    expect(last(desk).get("rank")).toBe("composite");
    await desk.hits.first().waitFor();
    expect(desk.house.saved).toEqual([]);
  }));

test("the switches are worked by keys", () =>
  at({ fakes: [found(hit(1))] }, async (desk) => {
    await desk.pane();
    await desk.search("lighthouse");
    const match = desk.page.getByRole("radiogroup", { name: "Match" });
    const both = match.getByRole("radio", { name: "Both" });
    await both.focus();
    await desk.page.keyboard.press("ArrowLeft");
    await desk.quiet();
    expect(last(desk).get("match")).toBe("lexical");
    expect(await match.getByRole("radio", { name: "Words" }).isChecked()).toBe(true);
  }));

test("a saved search comes back with its filters after a restart", () =>
  at({ fakes: [found(hit(1))] }, async (desk) => {
    await desk.pane();
    await desk.box.pressSequentially("source:web sailing ");
    await desk.hits.first().waitFor();
    await desk.command("save-search");
    await expect.poll(() => JSON.stringify(desk.house.saved)).toContain("sailing");
    expect(desk.house.saved.length).toBe(1);
    await desk.restart();
    await desk.pane();
    await desk.box.fill("something else");
    await desk.page.getByRole("button", { name: "Saved searches" }).click();
    await desk.page.getByRole("menuitem").filter({ hasText: "sailing" }).click();
    await expect.poll(() => desk.box.inputValue()).toMatch(/sailing/);
    await expect.poll(() => chips(desk).filter({ hasText: "source:web" }).count()).toBe(1);
    expect(desk.house.saved.length).toBe(1);
  }));

test("a thousand hits come by scrolling, each once, and keys still work", () =>
  at({ fakes: [many(1000)] }, async (desk) => {
    await desk.pane();
    await desk.search("everything");
    await desk.hits.first().hover();
    const paths = new Set<string>();
    const patience = Date.now() + 20_000;
    while (paths.size < 1000 && Date.now() < patience) {
      const seen = await desk.hits.evaluateAll((all) =>
        all.map((el) => el.getAttribute("data-path")),
      );
      for (const path of seen) paths.add(path ?? "");
      await desk.page.mouse.wheel(0, 6000);
      await desk.page.waitForTimeout(40);
    }
    expect(paths.size).toBe(1000);
    const offsets = desk.gateway.asked("/api/v1/recall").map((line) => line.params.get("offset"));
    expect(new Set(offsets).size).toBe(offsets.length);
    expect(desk.gateway.mostAtOnce("/api/v1/recall")).toBe(1);
    await desk.box.focus();
    await desk.page.keyboard.press("ArrowDown");
    await desk.chosen.waitFor();
  }));

test("the arrow at the end of the list brings the next page", () =>
  at({ fakes: [many(45)] }, async (desk) => {
    await desk.pane();
    await desk.search("everything");
    for (let step = 0; step < 44; step++) {
      await desk.page.keyboard.press("ArrowDown");
      await desk.page.waitForTimeout(25);
    }
    await expect.poll(() => desk.chosen.getAttribute("data-path")).toBe("Notes/Hit 44.md");
  }));

test("a new query begins again at the top", () =>
  at({ fakes: [many(200)] }, async (desk) => {
    await desk.pane();
    await desk.search("everything");
    await desk.hits.last().scrollIntoViewIfNeeded();
    await desk.quiet();
    await desk.search("something");
    await expect(desk.hits.first().isVisible()).resolves.toBe(true);
    const top = await desk.hits.first().evaluate((el) => el.getBoundingClientRect().top);
    expect(top).toBeGreaterThan(0);
    expect(await desk.chosen.getAttribute("data-path")).toBe("Notes/Hit 0.md");
  }));
