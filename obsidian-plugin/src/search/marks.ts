/** A text cut into marked and plain stretches; pure. */

/** One stretch of a text. */
export interface Stretch {
  text: string;
  marked: boolean;
}

/**
 * Cuts a text by ranges in code points, as the service counts; JavaScript counts UTF-16 units, of
 * which an emoji has two. Ranges may overlap, touch or leave the text.
 */
export function stretches(text: string, ranges: readonly (readonly [number, number])[]): Stretch[] {
  const points = Array.from(text);
  const marked = new Array<boolean>(points.length).fill(false);
  for (const [start, end] of ranges) marked.fill(true, Math.max(0, start), Math.max(0, end));
  const found: Stretch[] = [];
  for (const [index, point] of points.entries()) {
    const last = found.at(-1);
    const here = marked[index] ?? false;
    if (last?.marked === here) last.text += point;
    else found.push({ text: point, marked: here });
  }
  return found;
}

const LEAD = 60;
const WIDTH = 280;

/** The part of a passage that is shown: around its first mark, in one line, with `…` where cut. */
export function shown(text: string, ranges: readonly (readonly [number, number])[]): Stretch[] {
  const points = Array.from(text);
  const first = ranges.length ? Math.min(...ranges.map(([start]) => start)) : 0;
  const from = first > LEAD ? wordStart(points, first - LEAD) : 0;
  const to = Math.min(points.length, from + WIDTH);
  const moved = ranges.map(([start, end]): [number, number] => [start - from, end - from]);
  const cut = stretches(points.slice(from, to).join(""), moved);
  const flat = cut.map((each) => ({ ...each, text: each.text.replace(/\s+/gu, " ") }));
  if (flat[0]) flat[0].text = flat[0].text.trimStart();
  if (from > 0) flat.unshift({ text: "…", marked: false });
  if (to < points.length) flat.push({ text: "…", marked: false });
  return flat;
}

/** The first start of a word at or after a place, unless it is far. */
function wordStart(points: readonly string[], place: number): number {
  const blank = points.slice(place, place + LEAD / 2).findIndex((point) => /\s/u.test(point));
  return blank < 0 ? place : place + blank + 1;
}
