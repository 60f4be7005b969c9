/** Words for what the wire says in codes; pure. */

import type { Hit, Match, Rank } from "../api/wire";

const SOURCE_LABELS: Record<string, readonly [label: string, icon: string]> = {
  x: ["X", "at-sign"],
  web: ["Web", "globe"],
  wiki: ["Wikipedia", "book-open"],
  pdf: ["PDF", "file-text"],
  youtube: ["YouTube", "play"],
  reddit: ["Reddit", "message-square"],
  note: ["Note", "file"],
};

/** A source's name for people. */
export function sourceLabel(source: string): string {
  return SOURCE_LABELS[source]?.[0] ?? source;
}

/** A source's icon, by Lucide's name. */
export function sourceIcon(source: string): string {
  return SOURCE_LABELS[source]?.[1] ?? "file";
}

export const MATCH_LABELS: readonly (readonly [Match, string])[] = [
  ["semantic", "Meaning"],
  ["lexical", "Words"],
  ["hybrid", "Both"],
];

export const RANK_LABELS: readonly (readonly [Rank, string])[] = [
  ["relevance", "Relevance"],
  ["composite", "What matters now"],
];

const REASONS: Record<string, string> = {
  verbatim: "verbatim",
  title_match: "in the title",
  entity_name_match: "by name",
  content_match_dual: "words",
  content_match_fts: "words",
  content_substring: "part of a word",
  semantic_match: "meaning",
  thread_context: "of the same thread",
  "heat:hot": "read lately",
  "heat:warm": "still warm",
  entity_active: "active now",
  pinned: "pinned",
  high_importance: "important",
  caveat_protected: "a caveat",
};

/** Match reasons in words, the most telling first; codes that came later are left out. */
export function reasonLabels(reasons: readonly string[]): string[] {
  const known = Object.keys(REASONS).filter((code) => reasons.includes(code));
  return [...new Set(known.map((code) => REASONS[code] ?? code))];
}

/** A number from 0 to 1 as it is shown beside a hit. */
export function scoreLabel(score: number): string {
  return score.toFixed(2);
}

/** Why a hit is where it is: the figure that ranks it, and in words what speaks for it. */
export function whyLabel(hit: Hit, rank: Rank): { figure: string; words: string } {
  const figure = rank === "composite" ? hit.composite : hit.score;
  const words = reasonLabels(hit.match_reasons).slice(0, 2).join(", ");
  return {
    figure: figure === null ? "" : scoreLabel(figure),
    words: words === "" && hit.weak ? "weak" : words,
  };
}

/** The four parts of a composite score, for a tooltip. */
export function breakdownLabel(hit: Hit): string {
  const parts = hit.score_breakdown;
  const reasons = reasonLabels(hit.match_reasons).join(", ");
  if (!parts) return reasons;
  const figures = Object.entries(parts).map(([name, part]) => `${name} ${scoreLabel(part)}`);
  return [figures.join(" · "), reasons].filter((line) => line !== "").join("\n");
}

const DEGRADED: Record<string, string> = {
  warming: "by words only until the model is ready",
  no_embedder: "by words only: no model is set",
  no_vectors: "by words only until notes are read for their meaning",
  no_model: "by words only: the model cannot be used",
  model_failed: "by words only: the model failed",
  embedder_unreachable: "by words only: the model's service does not answer",
  embedder_refused: "by words only: the model's service refused the key",
  embedder_gone: "by words only: the model's service has no such model",
  embedder_failed: "by words only: the model's service takes no text",
  no_key: "by words only: the key for the model's service is missing",
  consent_needed: "by words only: the model's service may not be asked yet",
  index_of_other_model: "by words only: the index was made by another model",
  indexing: "not all notes are read yet",
  not_embedded: "not read for its meaning yet",
  weak_language: "mostly by words: the model does not know this script",
  text_search_failed: "by meaning only: the words could not be searched",
};

/** What was not available for an answer, in words; null when nothing was missing. */
export function degradedLabel(degraded: string | null): string | null {
  if (degraded === null || degraded === "") return null;
  const parts = degraded
    .split(",")
    .map((code) => DEGRADED[code.trim()] ?? "not everything could be looked at");
  return [...new Set(parts)].join("; ");
}

/** How many notes, in words. */
export function notesLabel(count: number): string {
  return count === 1 ? "1 note" : `${count.toLocaleString("en")} notes`;
}

/** A title to show: the note's, else its file's name. */
export function titleOf(hit: Pick<Hit, "title" | "vault_path">): string {
  return hit.title?.trim() ? hit.title : fileName(hit.vault_path);
}

/** A path's last step without the ending of a note. */
export function fileName(path: string): string {
  return (path.split("/").at(-1) ?? path).replace(/\.md$/iu, "");
}

/** A path's folder, empty at the vault's root. */
export function folderOf(path: string): string {
  return path.split("/").slice(0, -1).join("/");
}
