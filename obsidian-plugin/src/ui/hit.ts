/** One hit as an element: title, passage with its marks, where it is from. Text is set as text. */

import { setIcon } from "obsidian";
import type { Hit, Rank } from "../api/wire";
import { fullDate, relativeDate } from "../search/dates";
import {
  breakdownLabel,
  folderOf,
  sourceIcon,
  sourceLabel,
  titleOf,
  whyLabel,
} from "../search/labels";
import { shown, type Stretch } from "../search/marks";

/** How hits are drawn: the time now, in milliseconds since 1970, and what ranks them. */
export interface Drawing {
  now: number;
  rank: Rank;
}

/** Draw a hit into a list. */
export function drawHit(parent: HTMLElement, hit: Hit, id: string, how: Drawing): HTMLElement {
  const el = parent.createDiv({
    cls: "khiip-hit",
    attr: { id, role: "option", "aria-selected": "false", draggable: "true" },
  });
  el.dataset.path = hit.vault_path;
  el.toggleClass("is-weak", hit.weak);
  const why = whyLabel(hit, how.rank);
  drawHead(el, hit, why.figure);
  drawPassage(el, hit);
  drawMeta(el, hit, why.words, how.now);
  return el;
}

function drawHead(el: HTMLElement, hit: Hit, score: string): void {
  const head = el.createDiv("khiip-hit-head");
  setIcon(head.createSpan({ cls: "khiip-hit-icon", attr: hidden }), sourceIcon(hit.source));
  part(head, "title", titleOf(hit));
  const figure = part(head, "why", score);
  figure.title = breakdownLabel(hit);
}

const hidden = { "aria-hidden": "true" };

function drawPassage(el: HTMLElement, hit: Hit): void {
  const passage = el.createDiv({ cls: "khiip-hit-passage", attr: { dir: "auto" } });
  passage.dataset.part = "passage";
  const heading = hit.passage?.heading;
  if (heading && heading !== hit.title)
    passage.createSpan("khiip-hit-heading").setText(cut(heading));
  drawStretches(passage, stretchesOf(hit));
}

const LONGEST_HEADING = 60;

function cut(heading: string): string {
  const points = Array.from(heading);
  if (points.length <= LONGEST_HEADING) return heading;
  return `${points.slice(0, LONGEST_HEADING).join("")}…`;
}

/** What is shown of a hit's text: its passage, else its excerpt, else what else is known of it. */
export function stretchesOf(hit: Hit): Stretch[] {
  const { passage } = hit;
  if (passage?.text.trim()) return shown(passage.text, passage.ranges);
  const instead = [hit.excerpt, hit.description ?? "", hit.vault_path];
  return shown(instead.find((text) => text.trim() !== "") ?? "", []);
}

/** Stretches as text, the marked ones in `mark`. */
export function drawStretches(el: HTMLElement, stretches: readonly Stretch[]): void {
  for (const each of stretches) {
    if (each.marked) el.createEl("mark", { cls: "khiip-mark", text: each.text });
    else el.appendText(each.text);
  }
}

function drawMeta(el: HTMLElement, hit: Hit, reasons: string, now: number): void {
  const meta = el.createDiv("khiip-hit-meta");
  // What may be long comes last: one line is cut at its end, and nowhere else.
  bit(meta, "source", sourceLabel(hit.source));
  const date = bit(meta, "date", relativeDate(hit.recorded_at, now));
  date.title = fullDate(hit.recorded_at);
  bit(meta, "author", hit.author ?? "");
  bit(meta, "folder", folderOf(hit.vault_path));
  bit(meta, "reasons", reasons);
}

/** A part of the line, behind a dot unless it is the first; the dot is outside its direction. */
function bit(meta: HTMLElement, name: string, text: string): HTMLElement {
  return part(text === "" ? meta : meta.createSpan("khiip-hit-bit"), name, text);
}

function part(parent: HTMLElement, name: string, text: string): HTMLElement {
  const el = parent.createSpan({ cls: `khiip-hit-${name}`, attr: { dir: "auto" } });
  el.dataset.part = name;
  el.setText(text);
  el.toggleClass("is-empty", text === "");
  return el;
}
