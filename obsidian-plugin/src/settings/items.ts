/** The settings one by one: name, words, control. */

import { Platform, type Setting } from "obsidian";
import { DEFAULT_ADDRESS, isLoopback, normalAddress } from "../api/address";
import type { Khiip } from "../khiip";
import { MATCH_LABELS, RANK_LABELS } from "../search/labels";
import { MATCHES, RANKS } from "../api/wire";
import { ModelFacts } from "./model";
import { FloorPreview } from "./preview";
import { MOST_RESULTS, type Settings } from "./settings";

/** One setting; `render` fills it and gives what has to be done when it goes. */
export interface Item {
  name: string;
  desc: string;
  render: (setting: Setting) => (() => void) | undefined;
}

/** Settings under one heading. */
export interface Group {
  heading: string;
  items: Item[];
}

const TYPING = 400;

/** All settings, in their order; those that need a desktop are left out elsewhere. */
export function settingGroups(khiip: Khiip): Group[] {
  const sidecar = [address(khiip), key(khiip)];
  if (Platform.isDesktopApp) sidecar.push(program(khiip));
  sidecar.push(model(khiip));
  const search = [match(khiip), order(khiip), results(khiip), floor(khiip), excluded(khiip)];
  return [
    { heading: "Sidecar", items: sidecar },
    { heading: "Search", items: search },
  ];
}

/** Keeps changes once typing pauses, so that each is written once. */
function keeper(khiip: Khiip): {
  keep: (changes: Partial<Settings>) => void;
  flush: () => void;
} {
  let waiting: Partial<Settings> | null = null;
  let callOff: (() => void) | null = null;
  const flush = (): void => {
    callOff?.();
    const changes = waiting;
    waiting = null;
    if (changes) khiip.run(() => khiip.change(changes));
  };
  const keep = (changes: Partial<Settings>): void => {
    waiting = { ...waiting, ...changes };
    callOff?.();
    callOff = khiip.later(flush, TYPING);
  };
  return { keep, flush };
}

function address(khiip: Khiip): Item {
  const desc = Platform.isDesktopApp
    ? "Empty: the sidecar of this vault is found by itself."
    : "Where the sidecar runs, such as http://192.168.1.20:8478. Starting one needs a desktop.";
  return {
    name: "Address",
    desc,
    render: (setting) => {
      const { keep, flush } = keeper(khiip);
      setting.addText((text) => {
        text.setPlaceholder(DEFAULT_ADDRESS).setValue(khiip.settings().address);
        text.onChange((typed) => {
          const usable = typed.trim() === "" || normalAddress(typed) !== null;
          text.inputEl.toggleClass("khiip-invalid", !usable);
          text.inputEl.setAttr("aria-invalid", String(!usable));
          setting.setDesc(usable ? addressWarning(typed) || desc : "This is no http address.");
          if (usable) keep({ address: typed.trim() });
        });
        text.inputEl.setAttr("aria-label", "Address");
        flushOnLeave(text.inputEl, flush);
      });
      return flush;
    },
  };
}

function addressWarning(typed: string): string {
  const usable = normalAddress(typed);
  if (usable === null || isLoopback(usable)) return "";
  return "This is another machine: paste its key below. The key of this machine is never sent there.";
}

const PASTED = new Set(["insertFromPaste", "insertFromDrop"]);

/** What is typed is kept at once when the cursor leaves. */
function flushOnLeave(input: HTMLInputElement, flush: () => void): void {
  input.addEventListener("blur", flush);
}

const KEY_FOUND = "Found in this machine's own config, and sent to it alone.";
const KEY_WANTED = "The command khiipd auth show prints it. It is kept on this device alone.";

function key(khiip: Khiip): Item {
  return {
    name: "Key",
    desc: KEY_WANTED,
    render: (setting) => {
      let typedLast: string | null = null;
      const flush = (): void => {
        if (typedLast === null) return;
        khiip.keys.paste(typedLast);
        typedLast = null;
        khiip.monitor.restart();
      };
      let callOff = (): void => undefined;
      setting.addText((text) => {
        text.inputEl.type = "password";
        text.inputEl.setAttrs({ "aria-label": "Key", autocomplete: "off" });
        text.setValue(khiip.keys.pasted() ?? "");
        text.onChange((typed) => {
          typedLast = typed;
          callOff();
          callOff = khiip.later(flush, TYPING);
        });
        // A key is pasted whole, and Obsidian may be quit at once: nothing waits then.
        flushOnLeave(text.inputEl, flush);
        text.inputEl.addEventListener("input", (event) => {
          if (PASTED.has((event as InputEvent).inputType)) flush();
        });
        khiip.run(async () => {
          const found = (await khiip.keys.found()) !== null;
          text.setPlaceholder(found ? "Found on this machine" : "khiip_…");
          setting.setDesc(found ? KEY_FOUND : KEY_WANTED);
        });
      });
      return () => {
        callOff();
        flush();
      };
    },
  };
}

function program(khiip: Khiip): Item {
  return {
    name: "Path to khiipd",
    desc: "Empty: it is looked for in the usual places.",
    render: (setting) => {
      const { keep, flush } = keeper(khiip);
      setting.addText((text) => {
        text.setPlaceholder("~/.local/bin/khiipd").setValue(khiip.settings().program);
        text.inputEl.setAttr("aria-label", "Path to khiipd");
        flushOnLeave(text.inputEl, flush);
        text.onChange((typed) => {
          keep({ program: typed.trim() });
        });
      });
      return flush;
    },
  };
}

function model(khiip: Khiip): Item {
  return {
    name: "Model",
    desc: "What tells how near notes are in meaning.",
    render: (setting) => {
      const facts = new ModelFacts(setting, khiip);
      facts.start();
      return () => {
        facts.stop();
      };
    },
  };
}

function match(khiip: Khiip): Item {
  return {
    name: "Match",
    desc: "How a new search finds notes.",
    render: (setting) => {
      setting.addDropdown((dropdown) => {
        dropdown.addOptions(Object.fromEntries(MATCH_LABELS)).setValue(khiip.settings().match);
        dropdown.selectEl.setAttr("aria-label", "Match");
        dropdown.onChange((value) => {
          const chosen = MATCHES.find((each) => each === value);
          if (chosen) khiip.run(() => khiip.change({ match: chosen }));
        });
      });
      return undefined;
    },
  };
}

function order(khiip: Khiip): Item {
  return {
    name: "Order",
    desc: "By likeness to the search, or by what matters now as well.",
    render: (setting) => {
      setting.addDropdown((dropdown) => {
        dropdown.addOptions(Object.fromEntries(RANK_LABELS)).setValue(khiip.settings().rank);
        dropdown.selectEl.setAttr("aria-label", "Order");
        dropdown.onChange((value) => {
          const chosen = RANKS.find((each) => each === value);
          if (chosen) khiip.run(() => khiip.change({ rank: chosen }));
        });
      });
      return undefined;
    },
  };
}

function results(khiip: Khiip): Item {
  return {
    name: "Results a page",
    desc: "More come while you scroll.",
    render: (setting) => {
      const { keep, flush } = keeper(khiip);
      setting.addText((text) => {
        text.inputEl.type = "number";
        text.inputEl.setAttrs({
          "aria-label": "Results a page",
          min: "1",
          max: String(MOST_RESULTS),
        });
        text.setValue(String(khiip.settings().limit)).onChange((typed) => {
          const limit = Math.round(Number(typed));
          const usable = limit >= 1 && limit <= MOST_RESULTS;
          text.inputEl.setAttr("aria-invalid", String(!usable));
          if (usable) keep({ limit });
        });
      });
      return flush;
    },
  };
}

function floor(khiip: Khiip): Item {
  return {
    name: "Minimum score",
    desc: "Hits below are left out; 0 leaves none out.",
    render: (setting) => {
      const { keep, flush } = keeper(khiip);
      const preview = new FloorPreview(setting.descEl.createDiv("khiip-preview"), khiip);
      setting.addText((text) => {
        text.setPlaceholder("Try it with a few words").setValue(khiip.lastSearch());
        text.onChange((words) => {
          preview.try(words);
        });
        text.inputEl.setAttr("aria-label", "Words to try the minimum score with");
      });
      setting.addSlider((slider) => {
        slider.setLimits(0, 0.95, 0.01).setValue(khiip.settings().minScore ?? 0);
        slider.sliderEl.setAttr("aria-label", "Minimum score");
        slider.onChange((value) => {
          const minScore = value === 0 ? null : value;
          preview.set(minScore);
          keep({ minScore });
        });
      });
      preview.try(khiip.lastSearch());
      return () => {
        preview.stop();
        flush();
      };
    },
  };
}

function excluded(khiip: Khiip): Item {
  return {
    name: "Excluded files",
    desc: "Obsidian's own setting, under Files and links; these are never read.",
    render: (setting) => {
      const filters = ignoreFilters(khiip.app.vault);
      const list = setting.controlEl.createEl("ul", { cls: "khiip-excluded" });
      for (const filter of filters) list.createEl("li", { text: filter });
      if (filters.length === 0) setting.controlEl.createSpan({ cls: "khiip-fact", text: "None" });
      return undefined;
    },
  };
}

/** Obsidian's list of excluded files; it has no published name for it. */
function ignoreFilters(vault: object): string[] {
  const asked = vault as { getConfig?: (name: string) => unknown };
  const found = asked.getConfig?.("userIgnoreFilters");
  return Array.isArray(found) ? found.filter((each) => typeof each === "string") : [];
}
