import { describe, expect, test } from "vitest";
import { DEFAULT_ADDRESS, isLoopback, normalAddress, urlOf } from "../../src/api/address";
import type { Answer, Transport } from "../../src/api/client";
import { addressOf, Connection, type ConnectionParts } from "../../src/sidecar/connection";
import { isOurs } from "../../src/sidecar/vault";
import { Clock } from "./support/clock";
import { golden } from "./support/golden";

const ID = "0123456789abcdef0123456789abcdef";

interface World extends Partial<ConnectionParts> {
  answers?: Record<string, Answer>;
}

function desk({ answers = {}, ...parts }: World = {}) {
  const sent: { url: string; key: string | undefined }[] = [];
  const kept: string[] = [];
  const usual: Record<string, Answer> = {
    "/health": { status: 200, text: golden("health") },
    "/api/v1/meta": { status: 200, text: golden("meta") },
  };
  const send: Transport = ({ url, headers }) => {
    sent.push({ url, key: headers.Authorization });
    const { pathname } = new URL(url);
    const answer = answers[pathname] ?? usual[pathname];
    return answer ? Promise.resolve(answer) : Promise.reject(new Error("refused"));
  };
  const connection = new Connection({
    send,
    later: new Clock().later,
    address: () => "",
    sidecarFile: () => Promise.resolve(null),
    pastedKey: () => null,
    foundKey: () => Promise.resolve("khiip_found"),
    trusted: { get: () => null, set: (id) => kept.push(id) },
    ...parts,
  });
  return { connection, sent, kept };
}

describe("whose sidecar it is", () => {
  test("the id in the vault's own file decides, before any key is sent", async () => {
    const file = { url: "http://127.0.0.1:9000", vault_id: "another" };
    const { connection, sent } = desk({ sidecarFile: () => Promise.resolve(file) });
    await expect(connection.target()).rejects.toMatchObject({ kind: "other_vault" });
    expect(sent).toEqual([{ url: "http://127.0.0.1:9000/health", key: undefined }]);
  });

  test("the same id is enough", async () => {
    const file = { url: "http://127.0.0.1:9000", vault_id: ID };
    const { connection, sent } = desk({ sidecarFile: () => Promise.resolve(file) });
    const target = await connection.target();
    expect(target).toEqual({ address: "http://127.0.0.1:9000", key: "khiip_found" });
    expect(sent).toHaveLength(1);
  });

  test("where nothing names it a person is asked, once, before any key is sent", async () => {
    let known: string | null = null;
    const trusted = { get: () => known, set: (id: string) => (known = id) };
    const { connection, sent } = desk({ trusted, pastedKey: () => "khiip_pasted" });
    await expect(connection.target()).rejects.toMatchObject({ kind: "unconfirmed" });
    expect(sent.map(({ key }) => key)).toEqual([undefined]);
    expect(connection.stranger).toEqual({ id: ID, address: DEFAULT_ADDRESS });
    connection.trustStranger();
    await expect(connection.target()).resolves.toMatchObject({ key: "khiip_pasted" });
    expect([known, connection.stranger]).toEqual([ID, null]);
    connection.reset();
    await connection.target();
    expect(sent.every(({ url, key }) => url.endsWith("/health") && key === undefined)).toBe(true);
  });

  test("another one than was confirmed is another vault's, until a person says otherwise", async () => {
    const all: string[] = [];
    const { connection } = desk({ trusted: { get: () => "b", set: (id) => all.push(id) } });
    await expect(connection.target()).rejects.toMatchObject({ kind: "other_vault" });
    connection.trustStranger();
    expect(all).toEqual([ID]);
  });

  test("what the vault's own file denies is never offered for confirmation", async () => {
    const file = { url: "http://127.0.0.1:9000", vault_id: "another" };
    const { connection, kept } = desk({ sidecarFile: () => Promise.resolve(file) });
    await expect(connection.target()).rejects.toMatchObject({ kind: "other_vault" });
    connection.trustStranger();
    expect([connection.stranger, kept]).toEqual([null, []]);
  });

  test("what was settled is asked once, until something speaks against it", async () => {
    const { connection, sent } = desk({ trusted: { get: () => ID, set: () => undefined } });
    await connection.target();
    await connection.target();
    expect(sent).toHaveLength(1);
    connection.reset();
    await connection.target();
    expect(sent).toHaveLength(2);
  });

  test("a failure is not kept", async () => {
    const answers: Record<string, Answer> = { "/health": { status: 500, text: "" } };
    const { connection } = desk({ answers, trusted: { get: () => ID, set: () => undefined } });
    await expect(connection.target()).rejects.toMatchObject({ kind: "server" });
    delete answers["/health"];
    await expect(connection.target()).resolves.toMatchObject({ address: DEFAULT_ADDRESS });
  });

  test("a look that failed does not undo a newer one that did not", async () => {
    const answers: Record<string, Answer> = {};
    const held: (() => void)[] = [];
    const sidecarFile = (): Promise<null> =>
      held.length > 0
        ? Promise.resolve(null)
        : new Promise((resolve) => {
            held.push(() => {
              resolve(null);
            });
          });
    const trusted = { get: () => ID, set: () => undefined };
    const { connection, sent } = desk({ answers, sidecarFile, trusted });
    const failing = connection.look();
    connection.reset();
    await connection.target();
    answers["/health"] = { status: 500, text: "" };
    held[0]?.();
    await expect(failing).rejects.toMatchObject({ kind: "server" });
    await connection.target();
    expect(sent).toHaveLength(2);
  });

  test.each([
    ["a", null, "a", "yes"],
    ["a", "b", "b", "no"],
    [null, "a", "a", "yes"],
    [null, "a", "b", "ask"],
    [null, null, "a", "ask"],
  ] as const)("announced %s, confirmed %s, answering %s: %s", (announced, trusted, id, verdict) => {
    expect(isOurs({ announced, trusted }, id)).toBe(verdict);
  });
});

describe("the key", () => {
  const trusted = { get: () => ID, set: () => undefined };
  const remote = { address: () => "http://192.168.1.20:8478", trusted };

  test("that was found goes to this machine alone", async () => {
    const { connection, sent } = desk(remote);
    await expect(connection.target()).rejects.toMatchObject({ kind: "no_key" });
    expect(sent.map(({ key }) => key)).toEqual([undefined]);
  });

  test("that a person pasted goes where they pointed it", async () => {
    const { connection } = desk({ ...remote, pastedKey: () => "khiip_pasted" });
    await expect(connection.target()).resolves.toMatchObject({ key: "khiip_pasted" });
  });
});

describe("addresses", () => {
  test.each([
    ["127.0.0.1:8478", "http://127.0.0.1:8478"],
    [" http://localhost:9000/docs ", "http://localhost:9000"],
    ["https://notes.example", "https://notes.example"],
    ["[::1]:8478", "http://[::1]:8478"],
    ["", null],
    ["http://user:word@host", null],
    ["ftp://host", null],
    ["http://", null],
  ])("%j is %j", (typed, expected) => {
    expect(normalAddress(typed)).toBe(expected);
  });

  test.each([
    ["http://127.0.0.1:1", true],
    ["http://127.9.9.9", true],
    ["http://localhost:1", true],
    ["http://[::1]:1", true],
    ["http://127.0.0.1.evil.example", false],
    ["http://localhost.evil.example", false],
    ["http://192.168.1.2", false],
    ["nonsense", false],
  ])("%s is of this machine: %s", (address, expected) => {
    expect(isLoopback(address)).toBe(expected);
  });

  test("a file that was synced from elsewhere cannot send us elsewhere", () => {
    const file = (url: string) => ({ url, vault_id: "a" });
    expect(addressOf("", file("http://127.0.0.1:9000"))).toBe("http://127.0.0.1:9000");
    expect(addressOf("", file("http://evil.example"))).toBe(DEFAULT_ADDRESS);
    expect(addressOf("http://host:1", file("http://127.0.0.1:9000"))).toBe("http://host:1");
  });

  test("parameters are encoded, lists repeat, what is undefined is left out", () => {
    const url = urlOf("http://a", "/b", {
      q: "a&b #1",
      tag: ["x", "-y"],
      none: undefined,
      no: false,
    });
    expect(url).toBe("http://a/b?q=a%26b+%231&tag=x&tag=-y&no=false");
  });
});
