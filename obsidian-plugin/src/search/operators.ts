/** The operators of a query text, as Obsidian's own search has taught them; pure. */

import { ALTITUDES, BANDS, LAYERS, LAYER_WORDS, MEM_STATES, MEM_TYPES, SOURCES } from "../api/wire";

/** One operator: the parameter it stands for, what its values are, its help. */
export interface Operator {
  name: string;
  parameter: string;
  help: string;
  kind: "text" | "tag" | "folder" | "time" | "choice";
  /** The allowed values where they are few. */
  values: readonly string[] | null;
  /** Other words for values. */
  words: Readonly<Record<string, string>>;
  /** Whether `a,b` is two values. */
  commas: boolean;
}

function operator(name: string, parameter: string, help: string, more: Partial<Operator> = {}) {
  const usual = { kind: "text", values: null, words: {}, commas: false } as const;
  return { name, parameter, help, ...usual, ...more } satisfies Operator as Operator;
}

function choice(name: string, parameter: string, help: string, values: readonly string[]) {
  return operator(name, parameter, help, { kind: "choice", values, commas: true });
}

export const PHRASE = operator("phrase", "phrase", "These exact words");
export const PROPERTY = operator("property", "property", "A property, or status:done");

export const OPERATORS: readonly Operator[] = [
  choice("source", "source", "Where it came from", SOURCES),
  operator("tag", "tag", "A tag, and those below it", { kind: "tag", commas: true }),
  operator("folder", "folder", "A folder, and all below it", { kind: "folder" }),
  operator("author", "author", "Who wrote it"),
  operator("since", "since", "From then on: 2025-01, 7d, last month", { kind: "time" }),
  operator("until", "until", "Up to then: 2025, yesterday", { kind: "time" }),
  operator("path", "in_path", "Text in the path"),
  operator("file", "file", "Text in the file name"),
  operator("entity", "entity_name", "A person, project or thing it is about"),
  PHRASE,
  PROPERTY,
  { ...choice("layer", "layer", "Goal, context, caveat and so on", LAYERS), words: LAYER_WORDS },
  choice("type", "mem_type", "Decision, question and so on", MEM_TYPES),
  choice("state", "mem_state", "Open, done and so on", MEM_STATES),
  choice("altitude", "altitude", "From mission to implementation", ALTITUDES),
  operator("thread", "thread_id", "A thread"),
  choice("band", "band", "How warm the memory is", BANDS),
];

const BY_NAME = new Map(OPERATORS.map((each) => [each.name, each]));

/** The operator of a name as typed, whatever its case. */
export function operatorNamed(name: string): Operator | undefined {
  return BY_NAME.get(name.toLowerCase());
}
