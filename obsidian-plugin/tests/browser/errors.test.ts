/** Errors: one plain line each, told once, with what to do; nothing ever blocks typing. */
import { test } from "vitest";
import { expect } from "./support/expect";
import { at, type Desk } from "./support/desk";
import { answer, envelope, found, health, hit, inState, searches } from "./support/fakes";
import type { Fake } from "./server/gateway";

/** Lines of alerts and states that match; waits for the first. */
async function told(desk: Desk, pattern: RegExp): Promise<string[]> {
  await desk.said.filter({ hasText: pattern }).first().waitFor({ timeout: 8000 });
  return desk.said.filter({ hasText: pattern }).allTextContents();
}

async function typeAway(desk: Desk): Promise<void> {
  await desk.box.fill("");
  await desk.box.pressSequentially("still typing");
  expect(await desk.box.inputValue()).toBe("still typing");
}

const broken = (status: number, body: unknown): Fake => searches(() => ({ status, body }));

test("a server that dies and comes back: one line, a way to try again, then hits", () =>
  at({}, async (desk) => {
    await desk.pane();
    await desk.search("lighthouse beam");
    await desk.gateway.down();
    await typeAway(desk);
    expect(await told(desk, /offline|not running|cannot be reached/i)).toHaveLength(1);
    expect(await desk.page.getByRole("alert").count()).toBeLessThanOrEqual(1);
    expect(await desk.page.locator(".notice").count()).toBeLessThanOrEqual(1);
    await desk.accessible();
    await desk.gateway.up();
    await desk.page.getByRole("button", { name: "Try again" }).click();
    await desk.hits.first().waitFor();
    await expect.poll(() => desk.status.textContent(), { timeout: 9000 }).toMatch(/ready|problem/i);
  }));

test("it comes back by itself, with nothing clicked", () =>
  at({}, async (desk) => {
    await desk.pane();
    await desk.gateway.down();
    await expect.poll(() => desk.status.textContent(), { timeout: 9000 }).toMatch(/offline/i);
    await desk.gateway.up();
    await expect
      .poll(() => desk.status.textContent(), { timeout: 12_000 })
      .toMatch(/ready|problem/i);
  }));

test("a wrong key is said, with what to do", () =>
  at(
    {
      fakes: [
        (ask) =>
          ask.path === "/health"
            ? undefined
            : {
                status: 401,
                body: {
                  detail: "The key is not the right one.",
                  error: "unauthorized",
                  hint: null,
                },
              },
      ],
    },
    async (desk) => {
      await desk.pane();
      await desk.box.fill("knots");
      expect(await told(desk, /key/i)).toHaveLength(1);
      await desk.accessible();
    },
  ));

test("another vault's sidecar is said, and never searched", () =>
  at({ fakes: [answer("/health", { body: health("f".repeat(32)) })] }, async (desk) => {
    await desk.pane();
    await typeAway(desk);
    await told(desk, /another vault/i);
    await expect.poll(() => desk.status.textContent()).toMatch(/another vault/i);
    await desk.page.waitForTimeout(500);
    expect(desk.gateway.asked("/api/v1/recall")).toEqual([]);
    for (const { headers } of desk.gateway.log) expect(headers.authorization).toBeUndefined();
    await desk.accessible();
  }));

test("a sidecar that nothing in the vault names gets no key until a person says whose it is", () =>
  at({ unannounced: true }, async (desk) => {
    await desk.pane();
    await typeAway(desk);
    await told(desk, /is this the sidecar of this vault/i);
    await desk.page.getByText(desk.gateway.url, { exact: true }).waitFor();
    await desk.accessible();
    expect(new Set(desk.gateway.log.map((line) => line.path))).toEqual(new Set(["/health"]));
    for (const { headers } of desk.gateway.log) expect(headers.authorization).toBeUndefined();
    await desk.page.getByRole("button", { name: "It is this vault" }).click();
    await desk.hits.first().waitFor();
    await desk.restart(); // it is asked once
    await desk.hits.first().waitFor();
    expect(await desk.page.getByRole("button", { name: "It is this vault" }).count()).toBe(0);
    expect(desk.house.saved).toEqual([]);
  }));

test("a server error is one line without a trace of code", () =>
  at(
    {
      fakes: [
        broken(500, {
          detail: "The index is damaged.",
          error: "index_damaged",
          hint: "Run khiipd doctor.",
        }),
      ],
    },
    async (desk) => {
      await desk.pane();
      await typeAway(desk);
      const lines = await told(desk, /went wrong|server error|not understood/i);
      expect(lines).toHaveLength(1);
      expect(lines[0]).not.toMatch(/undefined|\[object|TypeError| at /);
      await desk.accessible();
    },
  ));

for (const [name, body] of [
  ["a page of HTML", "<html><h1>502</h1></html>"],
  ["half an answer", '{"query": "x", "results": [{"id"'],
  ["an answer of another form", { results: [{ id: 7, title: { x: 1 } }] }],
  ["nothing", ""],
] as const) {
  test(`garbage is not understood, and said so: ${name}`, () =>
    at({ fakes: [broken(200, body)] }, async (desk) => {
      await desk.pane();
      await typeAway(desk);
      expect(await told(desk, /went wrong|server error|not understood/i)).toHaveLength(1);
    }));
}

test("an error that goes on is told once, and goes when an answer comes", () =>
  at({}, async (desk) => {
    let failing = true;
    desk.gateway.fake(
      searches((ask) =>
        failing
          ? { status: 500, body: { detail: "The disk is full.", error: "disk_full", hint: null } }
          : { body: envelope(ask, [hit(1)]) },
      ),
    );
    await desk.pane();
    const counted = desk.page.evaluate(() => {
      const said: string[] = [];
      const look = new MutationObserver((changes) => {
        for (const { target } of changes) {
          const el = target.instanceOf(Element) ? target : target.parentElement;
          const live = el?.closest("[role=alert],[role=status],[aria-live]");
          if (live?.textContent.match(/wrong/i)) said.push(live.textContent);
        }
      });
      look.observe(document.body, { childList: true, subtree: true, characterData: true });
      return new Promise<number>((done) => {
        setTimeout(() => {
          done(new Set(said).size);
        }, 3500);
      });
    });
    for (const word of ["one", "two", "three"]) {
      await desk.box.fill(word);
      await desk.page.waitForTimeout(600);
    }
    expect(await counted).toBeLessThanOrEqual(1);
    failing = false;
    await desk.box.fill("four");
    await desk.hits.first().waitFor();
    await expect.poll(() => desk.said.filter({ hasText: /went wrong/i }).count()).toBe(0);
  }));

test("a parameter that the service refuses is told in its own words", () =>
  at(
    {
      fakes: [
        broken(422, {
          detail: "`since` must be a date; `someday` is not.",
          error: "bad_parameter",
          hint: "Write 2026-01-31, 7d or last month.",
        }),
      ],
    },
    async (desk) => {
      await desk.pane();
      await desk.box.pressSequentially("some day knots");
      expect((await told(desk, /since/i)).join()).toContain("someday");
    },
  ));

test("indexing is said, and hits come meanwhile", () =>
  at(
    {
      fakes: [],
    },
    async (desk) => {
      const state = { state: "indexing", phase: "embed", done: 40, total: 100 };
      const id = (
        JSON.parse(desk.house.parts.overlay[".khiip/sidecar.json"] ?? "{}") as { vault_id: string }
      ).vault_id;
      desk.gateway.fake(inState(id, state));
      desk.gateway.fake(found(hit(1)));
      await desk.restart();
      await desk.pane();
      await desk.search("knots");
      expect(await told(desk, /indexing/i)).not.toHaveLength(0);
      await expect.poll(() => desk.status.textContent()).toMatch(/indexing 40/i);
      await desk.accessible();
    },
  ));

test("a slow server leaves the box free, and says that it works", () =>
  at(
    { fakes: [searches((ask) => ({ delay: 2500, body: envelope(ask, [hit(1)]) }))] },
    async (desk) => {
      await desk.pane();
      await desk.box.fill("knots");
      await desk.page.waitForTimeout(600);
      await typeAway(desk);
      const busy = desk.page.locator("[data-type=khiip-search] [aria-busy=true]");
      await expect.poll(() => busy.count()).toBeGreaterThan(0);
      await desk.hits.first().waitFor({ timeout: 9000 });
    },
  ));
