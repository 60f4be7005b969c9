/** Whether a sidecar serves this vault; pure. */

/** What is known here of this vault. */
export interface VaultFacts {
  /** The id in the file that a running sidecar leaves in the vault; null when there is none. */
  announced: string | null;
  /** The id that a person, or an earlier look, settled for this device. */
  trusted: string | null;
  /** Where the vault is on this disk; null where that cannot be known. */
  folder: string | null;
  name: string;
}

/**
 * Whether it is ours, by the surest sign there is: the id in the vault's own file, or the id that
 * was settled before. Where neither says so, the served folder has to be asked for, with the key;
 * an index that was deleted and made anew has another id, and the same folder.
 */
export function isOurs(facts: VaultFacts, id: string): "yes" | "no" | "ask" {
  if (facts.announced !== null) return facts.announced === id ? "yes" : "no";
  if (facts.trusted === id) return "yes";
  return facts.trusted !== null && facts.folder === null ? "no" : "ask";
}

/** Whether the served folder is this vault's: the same path, else, seen from afar, the same name. */
export function isOurFolder(facts: VaultFacts, served: string): boolean {
  if (facts.folder !== null) return plainPath(facts.folder) === plainPath(served);
  return lastStep(served) === facts.name.normalize("NFC");
}

/** The name of a vault by its folder. */
export function lastStep(folder: string): string {
  return plainPath(folder).split("/").at(-1) ?? "";
}

function plainPath(path: string): string {
  const even = path.replace(/\\/gu, "/").replace(/\/+$/u, "").normalize("NFC");
  return /^[a-z]:/iu.test(even) ? even.toLowerCase() : even;
}
