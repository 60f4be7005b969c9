/** Where to ask, with which key, and whether that is this vault's sidecar. */

import { DEFAULT_ADDRESS, isLoopback, normalAddress } from "../api/address";
import { askHealth, type ClientParts, type Target } from "../api/client";
import type { Health, SidecarFile } from "../api/wire";
import { fault } from "../errors";
import { isOurs } from "./vault";

/** What a connection needs from outside. */
export interface ConnectionParts extends Pick<ClientParts, "send" | "later"> {
  /** As a person typed it; empty: to be found. */
  address: () => string;
  /** What a running sidecar left in the vault. */
  sidecarFile: () => Promise<SidecarFile | null>;
  /** The key that a person pasted; it goes wherever they pointed it. */
  pastedKey: () => string | null;
  /** The key in this machine's own config; it never leaves the machine. */
  foundKey: () => Promise<string | null>;
  /** The id that a person confirmed on this device. */
  trusted: { get: () => string | null; set: (id: string) => void };
}

/** Settles whom to ask, once, until something speaks against it. */
export class Connection {
  private settled: Promise<Target> | null = null;
  /** The vault that answered, of which a person may say that it is this one; null for none. */
  stranger: { id: string; address: string } | null = null;

  constructor(private readonly parts: ConnectionParts) {}

  /** Whom to ask; rejects with a fault when nobody is there, or it is another vault's. */
  target(): Promise<Target> {
    return this.settled ?? this.keep(this.settle());
  }

  /** Forget what was settled: the next question looks anew. */
  reset(): void {
    this.settled = null;
  }

  /** Look anew, and give the health with whom to ask. */
  async look(): Promise<{ health: Health; target: Target }> {
    const found = this.settle();
    void this.keep(found).catch(() => undefined); // whoever asked for `found` is told
    return found;
  }

  /** A person says that the vault that answers is this one. */
  trustStranger(): void {
    if (this.stranger) this.parts.trusted.set(this.stranger.id);
    this.reset();
  }

  /** The address that is asked, whether or not somebody is there. */
  async address(): Promise<string> {
    return addressOf(this.parts.address(), await this.parts.sidecarFile());
  }

  private async settle(): Promise<{ health: Health; target: Target }> {
    const file = await this.parts.sidecarFile();
    const address = addressOf(this.parts.address(), file);
    // Health needs no key: who is there is settled before any is sent.
    const health = await askHealth(this.parts, address);
    this.demandOurs(file, health.vault_id, address);
    return { health, target: { address, key: await this.keyFor(address) } };
  }

  private demandOurs(file: SidecarFile | null, id: string, address: string): void {
    const trusted = this.parts.trusted.get();
    const verdict = isOurs({ announced: file?.vault_id ?? null, trusted }, id);
    this.stranger = verdict === "ask" ? { id, address } : null;
    if (verdict === "no") throw fault("other_vault");
    if (verdict === "ask") throw fault(trusted === null ? "unconfirmed" : "other_vault");
  }

  private keep(found: Promise<{ target: Target }>): Promise<Target> {
    const target = found.then((each) => each.target);
    this.settled = target;
    target.catch(() => {
      if (this.settled === target) this.settled = null;
    });
    return target;
  }

  private async keyFor(address: string): Promise<string> {
    const pasted = this.parts.pastedKey();
    const key = pasted ?? (isLoopback(address) ? await this.parts.foundKey() : null);
    if (key === null) throw fault("no_key");
    return key;
  }
}

/** The address a person set, else that of the sidecar in the vault's own file, else the usual one. */
export function addressOf(typed: string, file: SidecarFile | null): string {
  const set = normalAddress(typed);
  if (set !== null) return set;
  // The file may have been synced from elsewhere: only an address of this machine counts.
  const announced = file && normalAddress(file.url);
  return announced && isLoopback(announced) ? announced : DEFAULT_ADDRESS;
}
