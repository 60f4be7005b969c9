/** Whether a sidecar serves this vault; pure. */

/** What is known here of this vault. */
export interface VaultFacts {
  /** The id in the file that a running sidecar leaves in the vault; null when there is none. */
  announced: string | null;
  /** The id that a person confirmed on this device; null when none was. */
  trusted: string | null;
}

/**
 * Whether it is ours: the vault's own file names the id, or a person confirmed it. Where neither
 * says so a person has to be asked, before any key is sent: whoever answers at an address may
 * say anything of itself.
 */
export function isOurs(facts: VaultFacts, id: string): "yes" | "no" | "ask" {
  if (facts.announced !== null) return facts.announced === id ? "yes" : "no";
  return facts.trusted === id ? "yes" : "ask";
}
