/** The status bar, problems, first steps, starting and stopping the sidecar. */
import fs from "node:fs";
import { inject, test } from "vitest";
import { expect } from "./support/expect";
import { at, type Desk } from "./support/desk";
import { event, found, health, hit, indexState, inState } from "./support/fakes";
import { freePort, newPlace, environment } from "./support/sidecar";
import type { Fake } from "./server/gateway";

const ID = "a".repeat(32);
const OVERLAY = {
  ".khiip/sidecar.json": null as string | null,
};

/** A sidecar of fakes alone, which says of itself that it is this vault's. */
async function fakeDesk(fakes: Fake[], run: (desk: Desk) => Promise<void>): Promise<void> {
  await at({ alone: true, fakes }, run);
}

function vaultId(desk: Desk): string {
  const text = desk.house.parts.overlay[".khiip/sidecar.json"] ?? "{}";
  return (JSON.parse(text) as { vault_id?: string }).vault_id ?? ID;
}

test("the real sidecar is ready, or says how many problems there are", () =>
  at({}, async (desk) => {
    await expect
      .poll(() => desk.status.textContent(), { timeout: 8000 })
      .toMatch(/ready|\d+ problem/);
    expect(
      await desk.status.evaluate(
        (el) =>
          el.matches("button, [role=button]") || el.querySelector("button, [role=button]") !== null,
      ),
    ).toBe(true);
    await desk.accessible(".status-bar");
  }));

test("the event stream carries progress to the bar, with the key in its header", () =>
  fakeDesk([], async (desk) => {
    desk.gateway.fake(inState(vaultId(desk), { state: "indexing", done: 10, total: 100 }));
    await desk.restart();
    await expect
      .poll(() => desk.status.textContent(), { timeout: 8000 })
      .toMatch(/indexing 10\s?%/);
    const polls = desk.gateway.asked("/api/v1/index").length;
    for (const done of [40, 70]) {
      desk.gateway.tell(event(indexState({ state: "indexing", done, total: 100 })));
      await expect.poll(() => desk.status.textContent()).toContain(`indexing ${String(done)}`);
    }
    desk.gateway.tell(event(indexState({ state: "ready" })));
    await expect.poll(() => desk.status.textContent()).toMatch(/ready/);
    expect(desk.gateway.asked("/api/v1/index").length).toBe(polls);
    const streams = desk.gateway
      .asked("/api/v1/index/events")
      .filter((line) => line.method === "GET" && line.ended === null);
    expect(streams).toHaveLength(1);
    expect(streams[0]?.headers.authorization).toMatch(/^Bearer /);
  }));

test("parts of events that come torn are put together", () =>
  fakeDesk([], async (desk) => {
    desk.gateway.fake(inState(vaultId(desk), { state: "warming" }));
    await desk.restart();
    await expect.poll(() => desk.status.textContent(), { timeout: 8000 }).toMatch(/warming/);
    const whole = event(indexState({ state: "indexing", done: 55, total: 100 }));
    desk.gateway.tell(": still here\n\n");
    desk.gateway.tell(whole.slice(0, 30));
    await desk.page.waitForTimeout(100);
    desk.gateway.tell(whole.slice(30));
    await expect.poll(() => desk.status.textContent()).toContain("indexing 55");
    desk.gateway.fake(inState(vaultId(desk), { state: "ready" })); // whether it goes on or begins anew
    desk.gateway.tell("event: progress\r\ndata: {not json\r\n\r\n");
    desk.gateway.tell(event(indexState({ state: "ready" })));
    await expect.poll(() => desk.status.textContent(), { timeout: 15_000 }).toMatch(/ready/);
  }));

test("where the stream is not to be had, the state is polled", () =>
  fakeDesk([], async (desk) => {
    let done = 20;
    const id = vaultId(desk);
    desk.gateway.fake((ask) => {
      const index = indexState({ state: "indexing", done, total: 100 });
      if (ask.path === "/health") return { body: health(id, { state: "indexing" }) };
      if (ask.path === "/api/v1/index/events")
        return { status: 404, body: { detail: "None.", error: "not_found" } };
      return ask.path === "/api/v1/index" ? { body: index } : undefined;
    });
    await desk.restart();
    await expect.poll(() => desk.status.textContent(), { timeout: 8000 }).toContain("indexing 20");
    done = 60;
    await expect.poll(() => desk.status.textContent(), { timeout: 8000 }).toContain("indexing 60");
  }));

const PROBLEM = {
  path: "People/Noor Haddad.md",
  line: 4,
  code: "yaml",
  reason: "The frontmatter is not YAML <b>here</b>.",
  hint: "Put quotes around the value.",
};

test("problems are listed, and open the note at the line", () =>
  fakeDesk([], async (desk) => {
    const problems = [PROBLEM, { ...PROBLEM, path: "Home.md", line: null }];
    const index = { state: "ready", problems, last_report: { problems } };
    desk.gateway.fake(inState(vaultId(desk), index, { problems: 2 }));
    await desk.restart();
    await expect.poll(() => desk.status.textContent(), { timeout: 8000 }).toContain("2 problems");
    await desk.status.click();
    const list = desk.page.getByRole("list", { name: "Problems" });
    const items = list.getByRole("listitem");
    await items.first().waitFor();
    expect(await items.count()).toBe(2);
    expect(await items.first().textContent()).toContain("<b>here</b>");
    expect(await list.textContent()).toContain("quotes around");
    await desk.accessible("[data-type=khiip-problems], .modal");
    await items.first().getByRole("button").click();
    await expect.poll(async () => (await desk.seen()).path).toBe("People/Noor Haddad.md");
    await expect.poll(async () => (await desk.seen()).line).toBe(3);
  }));

test("one problem is one problem", () =>
  fakeDesk([], async (desk) => {
    desk.gateway.fake(inState(vaultId(desk), { state: "ready" }, { problems: 1 }));
    await desk.restart();
    await expect.poll(() => desk.status.textContent(), { timeout: 8000 }).toMatch(/\b1 problem$/);
  }));

test("the real list of problems opens", () =>
  at({}, async (desk) => {
    await desk.command("open-problems");
    await desk.page.locator("[data-type=khiip-problems], .modal").first().waitFor();
    await desk.accessible("[data-type=khiip-problems], .modal");
  }));

test("the first time, the pane gives the two commands", () =>
  at(
    {
      overlay: OVERLAY,
      alone: true,
      env: { PATH: "", HOME: "/nowhere" },
      data: { address: "http://127.0.0.1:9" },
    },
    async (desk) => {
      await desk.pane();
      const card = desk.page.getByRole("region", { name: "Get started" });
      await card.waitFor();
      const commands = await card.locator("code").allTextContents();
      expect(commands).toHaveLength(2);
      expect(commands[1]).toContain("serve");
      expect(await desk.page.getByRole("button", { name: "Start the sidecar" }).count()).toBe(0);
      for (const command of commands) {
        await card.getByRole("button", { name: `Copy: ${command}` }).click();
        await expect
          .poll(() => desk.page.evaluate(() => navigator.clipboard.readText()))
          .toBe(command);
      }
      await desk.accessible();
      expect(desk.house.saved).toEqual([]);
    },
  ));

test("starts the sidecar that is on the PATH, and stops it again", async () => {
  const place = newPlace();
  const port = await freePort();
  const shared = inject("shared");
  const folder = shared.program.slice(0, shared.program.lastIndexOf("/"));
  const env = { ...environment(place), PATH: `${folder}:/usr/bin:/bin` };
  try {
    await at(
      {
        ...{ vault: place.vault, direct: true, alone: true, env },
        readable: [place.folder, folder],
        data: { address: `http://127.0.0.1:${String(port)}` },
      },
      async (desk) => {
        await desk.pane();
        await desk.page.getByRole("button", { name: "Start the sidecar" }).click();
        await expect
          .poll(() => desk.status.textContent(), { timeout: 20_000 })
          .toMatch(/ready|indexing|warming|problem/);
        const { spawned } = desk.house.processes;
        expect(spawned).toHaveLength(1);
        expect(spawned[0]?.args).toContain("serve");
        expect(spawned[0]?.args).toContain("--idle-exit");
        expect(fs.existsSync(`${place.vault}/.khiip/sidecar.json`)).toBe(true);
        await desk.command("stop-sidecar");
        await expect.poll(() => desk.status.textContent(), { timeout: 10_000 }).toMatch(/offline/);
        expect(desk.house.processes.killed).toHaveLength(1);
        expect(desk.house.saved).toEqual([]);
      },
    );
  } finally {
    fs.rmSync(place.folder, { recursive: true, force: true });
  }
});

test("a sidecar that somebody else started is never stopped", () =>
  at({}, async (desk) => {
    await expect.poll(() => desk.status.textContent(), { timeout: 8000 }).toMatch(/ready|problem/);
    await desk.page.evaluate(() => window.desk.run("khiip:stop-sidecar"));
    await desk.page.evaluate(() => {
      window.desk.unload();
    });
    await desk.page.waitForTimeout(300);
    expect(desk.house.processes.killed).toEqual([]);
    expect((await fetch(`${inject("shared").sidecar}/health`)).status).toBe(200);
  }));

test("a program that ends at once is told in one line", () =>
  at(
    {
      ...{ overlay: OVERLAY, alone: true, direct: true },
      vault: inject("shared").place.vault,
      data: { address: "http://127.0.0.1:9", program: "/bin/false" },
      readable: ["/bin", "/usr/bin"],
    },
    async (desk) => {
      await desk.pane();
      await desk.page.getByRole("button", { name: "Start the sidecar" }).click();
      await desk.page
        .locator(".notice, [role=alert], [role=status]")
        .filter({ hasText: /ended|could not/i })
        .first()
        .waitFor();
    },
  ));

test("reindex is asked for by its command", () =>
  at(
    {
      fakes: [
        (ask) =>
          ask.method === "POST" && ask.path === "/api/v1/index"
            ? { status: 202, body: indexState({ state: "indexing" }) }
            : undefined,
        found(hit(1)),
      ],
    },
    async (desk) => {
      await desk.command("reindex");
      await expect
        .poll(() =>
          desk.gateway.log.filter((line) => line.method === "POST").map((line) => line.path),
        )
        .toEqual(["/api/v1/index"]);
    },
  ));
