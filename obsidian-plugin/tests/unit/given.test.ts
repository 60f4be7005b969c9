import { describe, expect, test } from "vitest";
import { readBlock } from "../../src/search/block";
import { suggestions } from "../../src/search/suggest";
import { DEFAULTS, newSearch, readSettings, withSaved } from "../../src/settings/settings";
import { keyFile, keyIn, programPlaces } from "../../src/sidecar/places";
import { serveArguments } from "../../src/sidecar/program";

describe("suggestions while a filter is typed", () => {
  const known = {
    tags: () => ["knots", "history/andes", "rope"],
    folders: () => ["Clippings", "My Papers", "日記"],
    entities: () => ["Ada Lovelace"],
  };
  const labels = (text: string): string[] =>
    suggestions(text, text.length, known).map((each) => each.text);

  test.each([
    ["sou", ["source:"]],
    ["knots -so", ["-source:"]],
    ["source:w", ["source:web", "source:wiki"]],
    ["-tag:#", ["-tag:knots", "-tag:history/andes", "-tag:rope"]],
    ["tag:ro", ["tag:rope"]],
    ['folder:"My P', ['folder:"My Papers"']],
    ["folder:my", ['folder:"My Papers"']],
    ["entity:lov", ['entity:"Ada Lovelace"']],
    ["knots", []],
    ["", []],
    ["http://x", []],
    ["-since:2", []],
  ])("%j", (text, expected) => {
    expect(labels(text)).toEqual(expected);
  });

  test("what is replaced is the word before the cursor", () => {
    const [first] = suggestions("knots tag:ro cords", 12, known);
    expect(first).toMatchObject({ text: "tag:rope", start: 6, end: 12, whole: true });
  });
});

describe("the code block", () => {
  const defaults = newSearch(DEFAULTS);

  test("options are lines of their own, all else is the query", () => {
    const block = readBlock(
      "knots on\ntag:rope cords\nlimit: 5\nmatch: Words\norder: what matters now",
      defaults,
    );
    expect(block).toMatchObject({
      limit: 5,
      problem: null,
      search: {
        text: "knots on cords",
        filters: ["tag:rope"],
        match: "lexical",
        rank: "composite",
      },
    });
  });

  test.each([
    ["", "This block holds no query."],
    ["limit: 5", "This block holds no query."],
    ["knots\nlimit: many", "limit must be a number."],
    ["knots\nmatch: guess", "match is one of: meaning, words, both."],
  ])("%j says what is wrong", (source, problem) => {
    expect(readBlock(source, defaults).problem).toBe(problem);
  });

  test("figures stay in their bounds, and `note: x` is prose", () => {
    expect(readBlock("knots\nlimit: 9999", defaults).limit).toBe(100);
    expect(readBlock("note: buy rope", defaults).search.text).toBe("note: buy rope");
  });
});

describe("settings out of data.json", () => {
  test("what is missing or strange is as by default", () => {
    for (const stored of [null, undefined, 3, "x", [], {}])
      expect(readSettings(stored)).toEqual(DEFAULTS);
    const strange = {
      limit: 0,
      minScore: 7,
      match: "guess",
      saved: [{ name: 3 }, null],
      address: 1,
    };
    expect(readSettings(strange)).toEqual(DEFAULTS);
  });

  test("what was set comes back, without keys of others", () => {
    const kept = { ...DEFAULTS, limit: 50, minScore: 0.3, address: "http://a:1" };
    expect(readSettings({ ...kept, key: "secret" })).toEqual(kept);
  });

  test("a saved search of the same name is replaced", () => {
    const one = { name: "a", ...newSearch(DEFAULTS) };
    const saved = withSaved([one], { ...one, match: "lexical" });
    expect(saved).toHaveLength(1);
    expect(readSettings({ saved }).saved).toEqual(saved);
  });
});

describe("on a desktop", () => {
  const unix = { env: { PATH: "/opt/bin:/usr/bin/" }, home: "/home/ada", windows: false };

  test("the key is where the sidecar keeps it", () => {
    expect(keyFile({ ...unix, env: {} })).toBe("/home/ada/.config/khiip/auth.toml");
    expect(keyFile({ ...unix, env: { XDG_CONFIG_HOME: "/x" } })).toBe("/x/khiip/auth.toml");
    expect(keyFile({ ...unix, env: { KHIIP_HOME: "~/k" } })).toBe("/home/ada/k/config/auth.toml");
  });

  test.each([
    ['# note\napi_key = "khiip_abc-DEF_1"\n', "khiip_abc-DEF_1"],
    ["api_key='khiip_x' # mine", "khiip_x"],
    ['other = "x"', null],
    ['# api_key = "khiip_old"', null],
    ["", null],
  ])("%j holds the key %j", (file, key) => {
    expect(keyIn(file)).toBe(key);
  });

  test("the PATH comes first, then where people's own programs are", () => {
    const places = programPlaces(unix);
    expect(places[0]).toBe("/opt/bin/khiipd");
    expect(places).toContain("/home/ada/.local/bin/khiipd");
    expect(new Set(places).size).toBe(places.length);
    const windows = programPlaces({ env: { Path: "C:\\p;D:\\q\\" }, home: "C:\\u", windows: true });
    expect(windows.slice(0, 2)).toEqual(["C:\\p/khiipd.exe", "D:\\q/khiipd.exe"]);
  });

  test("the sidecar ends by itself when nobody asks any more", () => {
    expect(serveArguments("/n/My Vault", "http://127.0.0.1:9000").join(" ")).toBe(
      "--vault /n/My Vault serve --host 127.0.0.1 --port 9000 --idle-exit 900",
    );
    expect(serveArguments("/n", "http://[::1]:8478")).toContain("::1");
  });
});
