/** What is known of the vault for the values of filters: looked up when first asked for. */

import { getAllTags, type App } from "obsidian";
import type { Client } from "../../api/client";
import type { Known } from "../../search/suggest";

const PAGE = 200;
const MOST_PAGES = 50;

export class VaultKnown implements Known {
  private tagsSeen: string[] | null = null;
  private names: string[] | null = null;
  private looking = false;
  private stale = true;
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly app: App,
    private readonly client: Pick<Client, "overview">,
  ) {}

  /** Look anew when asked next: notes may have changed since. */
  forget(): void {
    this.tagsSeen = null;
    if (!this.looking) this.stale = true;
  }

  /** Told when more is known; gives a function that ends it. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Tags of the vault, the most used first, without `#`. */
  tags = (): readonly string[] => {
    this.tagsSeen ??= this.countTags();
    return this.tagsSeen;
  };

  folders = (): readonly string[] => {
    const folders = this.app.vault.getAllFolders(false);
    return folders.map((folder) => folder.path);
  };

  /** Names that notes are about; they come from the sidecar, so the first look finds none yet. */
  entities = (): readonly string[] => {
    if (this.stale && !this.looking) void this.lookAtEntities();
    return this.names ?? [];
  };

  /** Every name, page after page; what was known stays until the new list is longer. */
  private async lookAtEntities(): Promise<void> {
    this.looking = true;
    try {
      const names: string[] = [];
      for (let page = 0; page < MOST_PAGES; page += 1) {
        const { entities, has_more: more } = await this.client.overview(PAGE, page * PAGE);
        names.push(...entities.map((entity) => entity.name));
        if (names.length > (this.names?.length ?? 0)) this.learn([...names]);
        if (!more || entities.length === 0) break;
      }
      this.stale = false;
      this.learn(names);
    } catch {
      // The client has told of the fault; the next look may find more.
    } finally {
      this.looking = false;
    }
  }

  private learn(names: string[]): void {
    const same = names.length === this.names?.length;
    this.names = names;
    if (!same) for (const listener of this.listeners) listener();
  }

  private countTags(): string[] {
    const { vault, metadataCache } = this.app;
    const counts = new Map<string, number>();
    for (const file of vault.getMarkdownFiles()) {
      const cache = metadataCache.getFileCache(file);
      for (const tag of (cache && getAllTags(cache)) ?? []) {
        const name = tag.replace(/^#/u, "");
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
    }
    return [...counts].sort((one, other) => other[1] - one[1]).map(([name]) => name);
  }
}
