/** The harness itself: a small plugin of a few lines meets what it expects, and faults are seen. */
import { test } from "vitest";
import { expect } from "./support/expect";
import { at, Desk } from "./support/desk";
import { axeProblems } from "./support/axe";
import { health } from "./support/fakes";

const PLUGIN = `
const { Plugin, ItemView, SuggestModal, Setting, PluginSettingTab, Notice, requestUrl, TFile } = require("obsidian");
class Pane extends ItemView {
  getViewType() { return "khiip-search"; }
  getDisplayText() { return "Pane"; }
  getState() { return { text: this.text ?? "" }; }
  async setState(state) { this.text = state.text; }
  async onOpen() {
    this.contentEl.createEl("input", { type: "search", attr: { "aria-label": "Search your notes" } });
    this.contentEl.createDiv({ cls: "out", text: "nothing" });
  }
}
class Ask extends SuggestModal {
  getSuggestions(query) { return ["one", "two", "three"].filter((word) => word.includes(query)); }
  renderSuggestion(value, el) { el.createDiv({ text: value }); }
  onChooseSuggestion(value) { new Notice("chose " + value); }
}
class Tab extends PluginSettingTab {
  display() {
    this.containerEl.empty();
    new Setting(this.containerEl).setName("Address").addText((text) =>
      text.onChange((value) => this.plugin.saveData({ address: value })));
  }
}
exports.default = class extends Plugin {
  onload() {
    this.registerView("khiip-search", (leaf) => new Pane(leaf));
    this.addSettingTab(new Tab(this.app, this));
    this.addCommand({ id: "open-search", name: "Open", callback: () => this.open() });
    this.addCommand({ id: "ask", name: "Ask", hotkeys: [{ modifiers: ["Mod"], key: "j" }],
      callback: () => new Ask(this.app).open() });
    this.addCommand({ id: "fail", name: "Fail", callback: () => { Promise.reject(new Error("nobody saw it")); } });
    this.addCommand({ id: "unknown", name: "Unknown", callback: () => require("obsidian").NoSuchThing });
    this.registerMarkdownCodeBlockProcessor("khiip", (source, el) => { el.createEl("b", { text: source }); });
  }
  async open() {
    const leaf = this.app.workspace.getRightLeaf(false);
    await leaf.setViewState({ type: "khiip-search", state: { text: "kept" }, active: true });
    await this.app.workspace.revealLeaf(leaf);
    const file = JSON.parse(await this.app.vault.adapter.read(".khiip/sidecar.json"));
    const answer = await requestUrl({ url: file.url + "/health" });
    leaf.view.contentEl.querySelector(".out").setText(answer.json.vault_id);
  }
};`;

const FAKES = [
  (ask: { path: string }) =>
    ask.path === "/health" ? { delay: 20, body: health("the-vault") } : undefined,
];

test("a plugin finds its leaf, its answer, its keys and its settings", () =>
  at({ main: PLUGIN, fakes: FAKES }, async (desk) => {
    await desk.pane();
    await desk.page.getByText("the-vault").waitFor();
    await desk.accessible();

    await desk.page.keyboard.press("Control+j");
    await desk.page.keyboard.press("ArrowDown");
    await desk.page.keyboard.press("Enter");
    await desk.page.locator(".notice", { hasText: "chose two" }).waitFor();

    await desk.settings();
    await desk.setting("Address").locator("input").fill("x");
    await expect.poll(() => desk.house.saved).toEqual([{ address: "x" }]);
    await desk.accessible(".vertical-tab-content");
  }));

test("the layout and the views' state come back after a restart", () =>
  at({ main: PLUGIN, fakes: FAKES }, async (desk) => {
    await desk.pane();
    await desk.openNote("Home.md");
    await desk.restart();
    await desk.box.waitFor();
    expect((await desk.seen()).path).toBe("Home.md");
  }));

test("a code block is drawn by its plugin in reading view", () =>
  at({ main: PLUGIN, overlay: { "Home.md": "# Home\n\n```khiip\nknots\n```\n" } }, async (desk) => {
    await desk.openNote("Home.md", "preview");
    expect(await desk.page.locator(".block-language-khiip b").textContent()).toBe("knots");
  }));

test("a rejection that nobody saw, and a name that Obsidian has not, are faults", async () => {
  const desk = await Desk.open({ main: PLUGIN });
  await desk.command("fail");
  await expect.poll(() => desk.faults.join()).toContain("nobody saw it");
  desk.faults.length = 0;
  await desk.page.evaluate(() => {
    setTimeout(() => window.desk.run("khiip:unknown"));
  });
  await expect
    .poll(() => desk.faults.join())
    .toContain("the stand-in for Obsidian has no NoSuchThing");
  desk.faults.length = 0;
  await desk.close();
});

test("axe minds a box without a name", () =>
  at(
    { main: PLUGIN.replace('"aria-label": "Search your notes"', '"data-x": "y"') },
    async (desk) => {
      await desk.command("open-search");
      await expect
        .poll(() => axeProblems(desk.page, ".view-content").then((found) => found.length))
        .toBeGreaterThan(0);
    },
  ));

test("the gateway is gone when it is down, and back at the same place", () =>
  at({ main: PLUGIN, fakes: FAKES }, async (desk) => {
    const { url } = desk.gateway;
    await desk.gateway.down();
    await expect(fetch(`${url}/health`)).rejects.toThrow();
    await desk.gateway.up();
    expect((await fetch(`${url}/health`)).status).toBe(200);
    expect((await fetch(`${url}/api/v1/meta`)).status).toBe(401); // the real one, behind it
  }));
