/** The model that answers and the one on its way, in words; pure. */

import type { Coming, Embedder } from "../api/wire";

/** Name and size of the model that answers; a model of no dimension is none. */
export function modelLine({ model, dimension }: Embedder, version: string): string {
  const said = dimension === 0 ? "None: notes are found by their words" : named(model, dimension);
  return `${said} (Khiip ${version})`;
}

/** Which model is on its way, and how far it has come. */
export function comingLine(coming: Coming): string {
  const name = named(coming.model, coming.dimension);
  const share = shareOf(coming);
  if (share === null) return `On its way: ${name}. The notes are being read for it.`;
  const [done, total] = [coming.done, coming.total].map((count) => count.toLocaleString("en"));
  return `On its way: ${name}. ${done ?? ""} of ${total ?? ""} texts are read, ${share}%.`;
}

/** How much of its texts the model on its way has read, in per cent; null while none are known. */
export function shareOf({ done, total }: Coming): number | null {
  return total > 0 ? Math.floor((100 * Math.min(done, total)) / total) : null;
}

function named(model: string, dimension: number): string {
  return `${model}, ${dimension} dimensions`;
}
