/** Settings: what they hold, what they write, and where the key goes. */
import { inject, test } from "vitest";
import { expect } from "./support/expect";
import { at, Desk } from "./support/desk";
import { answer, found, health, hit } from "./support/fakes";
import { meta } from "./support/more_fakes";
import type { Line } from "./server/gateway";

const withKey = (lines: Line[]): Line[] => lines.filter((line) => line.headers.authorization);

test("nothing is written by opening everything", () =>
  at({}, async (desk) => {
    await desk.pane();
    await desk.search("lighthouse");
    for (const id of ["open-related", "open-entities", "open-history", "open-problems"])
      await desk.command(id);
    await desk.settings();
    await desk.page.waitForTimeout(300);
    await desk.page.keyboard.press("Escape");
    await desk.restart();
    expect(desk.house.saved).toEqual([]);
  }));

test("a changed setting is written once, and used at once", () =>
  at({ fakes: [found(hit(1))] }, async (desk) => {
    await desk.settings();
    await desk.setting("Match").locator("select").selectOption("lexical");
    await expect.poll(() => desk.house.saved.length).toBe(1);
    await desk.accessible(".vertical-tab-content");
    await desk.page.keyboard.press("Escape");
    await desk.pane();
    await desk.search("knots");
    expect(desk.gateway.asked("/api/v1/recall").at(-1)?.params.get("match")).toBe("lexical");
  }));

test("what is typed letter by letter is not written letter by letter", () =>
  at({}, async (desk) => {
    await desk.settings();
    const address = desk.setting("Address").locator("input");
    await address.pressSequentially("http://127.0.0.1:9999", { delay: 15 });
    await address.blur();
    await expect.poll(() => JSON.stringify(desk.house.saved.at(-1))).toContain("9999");
    expect(desk.house.saved.length).toBeLessThanOrEqual(2);
  }));

test("the key in this machine's config is found by itself", () =>
  at({}, async (desk) => {
    await desk.pane();
    await desk.search("lighthouse");
    const key = `Bearer ${inject("shared").key}`;
    const lines = withKey(desk.gateway.log);
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line.headers.authorization).toBe(key);
    expect(JSON.stringify(desk.house.saved)).not.toContain(inject("shared").key);
  }));

async function searchesWithThePastedKey(desk: Desk): Promise<void> {
  await desk.pane();
  await desk.box.fill("knots");
  await expect
    .poll(() => desk.gateway.asked("/api/v1/recall").at(-1)?.headers.authorization, {
      timeout: 8000,
    })
    .toBe("Bearer khiip_pasted_key");
  expect(JSON.stringify(desk.house.saved)).not.toContain("khiip_pasted_key");
}

test("a pasted key is used in its place, kept out of data.json", () =>
  at({ fakes: [found(hit(1))] }, async (desk) => {
    await desk.settings();
    const key = desk.setting("Key").locator("input");
    await key.fill("khiip_pasted_key");
    await key.blur();
    await desk.page.keyboard.press("Escape");
    await searchesWithThePastedKey(desk);
  }));

test("a key that was just pasted is kept when Obsidian ends in the same moment", () =>
  at({ fakes: [found(hit(1))], noSecrets: true }, async (desk) => {
    await desk.settings();
    const key = desk.setting("Key").locator("input");
    await key.focus();
    await desk.page.evaluate(() => navigator.clipboard.writeText("khiip_pasted_key"));
    await desk.page.keyboard.press("Control+V");
    await desk.page.reload(); // nothing is closed or unloaded properly
    await desk.page.locator("body[data-started]").waitFor();
    await desk.settings();
    expect(await desk.setting("Key").locator("input").inputValue()).toBe("khiip_pasted_key");
  }));

test("facts in the settings are small, and not headings", () =>
  at({}, async (desk) => {
    await desk.settings();
    const said = desk.setting("Model").locator(".setting-item-control span");
    await expect.poll(() => said.textContent()).toMatch(/dimensions/);
    const size = await said.evaluate((el) => parseFloat(getComputedStyle(el).fontSize));
    const name = desk.setting("Model").locator(".setting-item-name");
    expect(size).toBeLessThan(
      await name.evaluate((el) => parseFloat(getComputedStyle(el).fontSize)),
    );
  }));

test("a model on its way is shown with its progress until it answers", () =>
  at({}, async (desk) => {
    let stage = 0;
    const old = { model: "all-MiniLM-L6-v2", dimension: 384 };
    const coming = { model: "e5-small", dimension: 768, done: 423, total: 1677 };
    const stages = [
      meta(old, coming),
      meta(old, { ...coming, done: 1300 }),
      meta({ model: "e5-small", dimension: 768 }),
    ];
    desk.gateway.fake((ask) => stages[stage]?.(ask));
    await desk.settings();
    const row = desk.setting("Model");
    const bar = row.getByRole("progressbar", { name: "Model on its way" });
    await bar.waitFor();
    expect(await bar.evaluate((el: HTMLProgressElement) => el.value)).toBe(25);
    expect(await row.textContent()).toContain("all-MiniLM-L6-v2, 384 dimensions");
    expect(await row.textContent()).toContain("e5-small, 768 dimensions. 423 of 1,677 texts");
    await desk.accessible(".vertical-tab-content");
    stage = 1;
    await expect.poll(() => row.textContent(), { timeout: 6000 }).toContain("1,300 of 1,677");
    stage = 2;
    await expect.poll(() => bar.isVisible(), { timeout: 6000 }).toBe(false);
    expect(await row.textContent()).toContain("e5-small, 768 dimensions (Khiip");
  }));

test("nobody is asked for the model once the settings are closed", () =>
  at({}, async (desk) => {
    const coming = { model: "e5-small", dimension: 768, done: 0, total: 0 };
    desk.gateway.fake(meta({ model: "none", dimension: 0 }, coming));
    await desk.settings();
    await desk.page.getByRole("progressbar", { name: "Model on its way" }).waitFor();
    expect(await desk.setting("Model").textContent()).toContain("None: notes are found by");
    await desk.page.keyboard.press("Escape");
    const before = desk.gateway.asked("/api/v1/meta").length;
    await desk.page.waitForTimeout(2500);
    expect(desk.gateway.asked("/api/v1/meta")).toHaveLength(before);
  }));

test("an Obsidian without a secret store keeps the key on this device, out of data.json", () =>
  at({ fakes: [found(hit(1))], noSecrets: true }, async (desk) => {
    await desk.settings();
    const key = desk.setting("Key").locator("input");
    await key.fill("khiip_pasted_key");
    await desk.page.keyboard.press("Escape"); // what was typed last is kept when the page goes
    await desk.restart();
    await searchesWithThePastedKey(desk);
  }));

test("the key that was found is not sent to an address elsewhere", () =>
  at({ data: { address: "http://sidecar.example:8478" } }, async (desk) => {
    await desk.pane();
    await desk.box.fill("knots");
    await desk.page.waitForTimeout(1500);
    const elsewhere = desk.house.requested.filter(({ url }) => url.includes("sidecar.example"));
    for (const ask of elsewhere) {
      expect(JSON.stringify(ask.headers ?? {})).not.toContain(inject("shared").key);
    }
    expect(JSON.stringify(elsewhere)).not.toContain(inject("shared").key);
  }));

test("excluded files are those of Obsidian's own setting", () =>
  at({}, async (desk) => {
    await desk.settings();
    expect(await desk.setting("Excluded files").textContent()).toContain("Private/");
  }));

test("the minimum score has a live preview, and is used", () =>
  at({}, async (desk) => {
    await desk.pane();
    await desk.search("lighthouse beam");
    await desk.settings();
    const slider = desk.setting("Minimum score").locator("input[type=range]");
    const preview = desk.page.getByRole("status", { name: "Preview" });
    await preview.waitFor();
    const before = await preview.textContent();
    await slider.evaluate((el: HTMLInputElement) => {
      el.value = el.max;
      el.dispatchEvent(new Event("input", { bubbles: true }));
      el.dispatchEvent(new Event("change", { bubbles: true }));
    });
    await expect.poll(() => preview.textContent(), { timeout: 6000 }).not.toBe(before);
    await desk.page.keyboard.press("Escape");
    await desk.box.fill("");
    await desk.box.fill("lighthouse");
    await expect
      .poll(() => desk.gateway.asked("/api/v1/recall").at(-1)?.params.get("min_score"))
      .not.toBeNull();
  }));

test("on a phone: a remote address, no programs, and it is said", () =>
  at(
    {
      mobile: true,
      width: 390,
      height: 780,
      overlay: { ".khiip/sidecar.json": null },
      alone: true,
      fakes: [answer("/health", { body: health("b".repeat(32)) })],
    },
    async (desk) => {
      await desk.settings();
      expect(await desk.setting("Path to khiipd").count()).toBe(0);
      expect(await desk.setting("Address").count()).toBe(1);
      await desk.accessible(".vertical-tab-content");
      await desk.page.keyboard.press("Escape");
      await desk.pane();
      await expect
        .poll(() => desk.page.locator("[data-type=khiip-search]").textContent())
        .toMatch(/computer|desktop|address/i);
      const ran = await desk.page.evaluate(() => window.desk.run("khiip:start-sidecar"));
      expect(ran).toBe(false);
      await desk.shot("phone-first-steps");
    },
  ));

test("on a phone it searches a remote sidecar with the key that was pasted", async () => {
  const shared = inject("shared");
  const desk = await Desk.open({
    mobile: true,
    secrets: { "khiip-key": shared.key },
    width: 390,
    side: 390,
  });
  await desk.pane();
  await desk.search("lighthouse beam");
  await desk.accessible();
  await desk.shot("phone-results");
  await desk.close();
});
