/** MetadataCache: enough of it to find links, headings and tags. */
import type * as O from "obsidian";
import { Events, published } from "./events";
import { TFile } from "./files";
import type { Vault } from "./files";

function readNow(path: string): string {
  const request = new XMLHttpRequest();
  request.open("GET", `/vault/file?path=${encodeURIComponent(path)}`, false);
  request.send();
  return (JSON.parse(request.responseText) as { text: string | null }).text ?? "";
}

function position(line: number, length: number, offset: number): O.Pos {
  return {
    start: { line, col: 0, offset },
    end: { line, col: length, offset: offset + length },
  };
}

/** Headings and tags of a text; code fences are left out. */
export function parseCache(text: string): O.CachedMetadata {
  const headings: O.HeadingCache[] = [];
  const tags: O.TagCache[] = [];
  let offset = 0;
  let fenced = false;
  for (const [line, content] of text.split("\n").entries()) {
    if (/^\s*(```|~~~)/.test(content)) fenced = !fenced;
    const at = position(line, content.length, offset);
    const heading = fenced ? null : /^(#{1,6})\s+(.*?)\s*$/.exec(content);
    if (heading?.[1] && heading[2] !== undefined) {
      headings.push({ heading: heading[2], level: heading[1].length, position: at });
    }
    for (const tag of fenced ? [] : content.matchAll(/(?:^|\s)(#[\p{L}\p{N}_/-]+)/gu)) {
      if (tag[1]) tags.push({ tag: tag[1], position: at });
    }
    offset += content.length + 1;
  }
  return { headings, tags };
}

export class MetadataCache extends Events {
  resolvedLinks: Record<string, Record<string, number>> = {};
  unresolvedLinks: Record<string, Record<string, number>> = {};
  private readonly caches = new Map<string, O.CachedMetadata>();

  constructor(private readonly vault: Vault) {
    super();
  }

  getFileCache(file: O.TFile): O.CachedMetadata | null {
    return this.getCache(file.path);
  }

  getCache(path: string): O.CachedMetadata | null {
    if (!this.vault.getFileByPath(path)) return null;
    const known = this.caches.get(path) ?? parseCache(readNow(path));
    this.caches.set(path, known);
    return known;
  }

  /** Not in the published types, and used by many: every tag with its count. */
  getTags(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const file of this.vault.getMarkdownFiles()) {
      for (const { tag } of this.getFileCache(file)?.tags ?? [])
        counts[tag] = (counts[tag] ?? 0) + 1;
    }
    return counts;
  }

  getFirstLinkpathDest(linkpath: string, sourcePath: string): O.TFile | null {
    // A link without a path, such as `#Heading`, leads to the note that holds it.
    if (linkpath === "")
      return this.vault.getFiles().find(({ path }) => path === sourcePath) ?? null;
    const wanted = linkpath.toLowerCase().replace(/^\//, "");
    const fits = (file: O.TFile): boolean => {
      const path = file.path.toLowerCase();
      return [path, path.replace(/\.md$/, "")].some(
        (name) => name === wanted || name.endsWith(`/${wanted}`),
      );
    };
    return this.vault.getFiles().find(fits) ?? null;
  }

  fileToLinktext(file: O.TFile, _sourcePath: string, omitMdExtension = true): string {
    const same = this.vault.getFiles().filter((other) => other.name === file.name);
    const text = same.length > 1 ? file.path : file.name;
    return omitMdExtension && file.extension === "md" ? text.replace(/\.md$/, "") : text;
  }
}

export class FileManager {
  constructor(
    private readonly vault: Vault,
    private readonly cache: MetadataCache,
  ) {}

  generateMarkdownLink(file: O.TFile, sourcePath: string, subpath = "", alias = ""): string {
    const text = this.cache.fileToLinktext(file, sourcePath, true);
    const embed = file.extension === "md" ? "" : "!";
    return `${embed}[[${text}${subpath}${alias ? `|${alias}` : ""}]]`;
  }

  getNewFileParent(): O.TFolder {
    return this.vault.getRoot();
  }
}

/** Path and subpath of a link. */
export function parseLinktext(linktext: string): { path: string; subpath: string } {
  const at = linktext.indexOf("#");
  if (at < 0) return { path: linktext, subpath: "" };
  return { path: linktext.slice(0, at), subpath: linktext.slice(at) };
}

/** A heading without what a link may not hold. */
export function stripHeadingForLink(heading: string): string {
  return heading
    .replace(/([:#|^\\\r\n]|%%|\[\[|]])/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

/** A heading for comparing: only letters, numbers and single spaces. */
export function stripHeading(heading: string): string {
  return heading
    .replace(/[!"#$%&()*+,.:;<=>?@^`{|}~/[\]\\\r\n]/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

/** Where a `#heading` is. */
export function resolveSubpath(
  cache: O.CachedMetadata,
  subpath: string,
): O.HeadingSubpathResult | O.BlockSubpathResult | O.FootnoteSubpathResult | null {
  const wanted = stripHeading(subpath.replace(/^#+/, "")).toLowerCase();
  const headings = cache.headings ?? [];
  const at = headings.findIndex((entry) => stripHeading(entry.heading).toLowerCase() === wanted);
  const current = headings[at];
  if (!current) return null;
  const next = headings[at + 1] ?? current;
  return published<O.HeadingSubpathResult>({
    type: "heading",
    current,
    next,
    start: current.position.start,
    end: headings[at + 1]?.position.start ?? null,
  });
}

/** Tags of a note, its frontmatter's too. */
export function getAllTags(cache: O.CachedMetadata): string[] | null {
  return (cache.tags ?? []).map((entry) => entry.tag);
}

export { TFile };
