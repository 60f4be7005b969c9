/** The text of a `khiip` code block: lines of options, and the query; pure. */

import { MATCH_LABELS, RANK_LABELS } from "./labels";
import { isEmpty, searchOfLine, type Search } from "./search";

/** What a block asks for; `problem` says what is wrong with its text. */
export interface Block {
  search: Search;
  limit: number;
  minScore: number | null;
  problem: string | null;
}

const OPTION = /^\s*(query|limit|match|order|minimum score)\s*:\s*(.*)$/iu;
const LIMIT = 10;
const MOST = 100;

/** Reads a block: `limit: 5`, `match: words`, `order: what matters now`; all else is the query. */
export function readBlock(source: string, defaults: Search): Block {
  const words: string[] = [];
  let block: Block = { search: defaults, limit: LIMIT, minScore: null, problem: null };
  for (const line of source.split("\n")) {
    const [, name, value] = OPTION.exec(line) ?? [];
    if (name === undefined || value === undefined) words.push(line.trim());
    else if (name.toLowerCase() === "query") words.push(value.trim());
    else block = withOption(block, name.toLowerCase(), value.trim());
  }
  const search = { ...block.search, ...searchOfLine(words.filter(Boolean).join(" ")) };
  const nothing = isEmpty(search) ? "This block holds no query." : null;
  return { ...block, search, problem: block.problem ?? nothing };
}

function withOption(block: Block, name: string, value: string): Block {
  if (name === "match") return withChoice(block, "match", MATCH_LABELS, value);
  if (name === "order") return withChoice(block, "rank", RANK_LABELS, value);
  const figure = Number(value);
  if (value === "" || Number.isNaN(figure)) return wrong(block, `${name} must be a number.`);
  if (name === "limit") {
    return { ...block, limit: Math.max(1, Math.min(MOST, Math.round(figure))) };
  }
  return { ...block, minScore: Math.max(-1, Math.min(1, figure)) };
}

function withChoice(
  block: Block,
  field: "match" | "rank",
  choices: readonly (readonly [code: string, label: string])[],
  value: string,
): Block {
  const wanted = value.toLowerCase();
  const found = choices.find(([code, label]) => code === wanted || label.toLowerCase() === wanted);
  const labels = choices.map(([, label]) => label.toLowerCase()).join(", ");
  if (!found) return wrong(block, `${field === "rank" ? "order" : field} is one of: ${labels}.`);
  return { ...block, search: { ...block.search, [field]: found[0] } };
}

function wrong(block: Block, problem: string): Block {
  return { ...block, problem: block.problem ?? problem };
}
