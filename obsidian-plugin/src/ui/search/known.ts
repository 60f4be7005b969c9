/** What is known of the vault for the values of filters: looked up when first asked for. */

import { getAllTags } from "obsidian";
import type { Khiip } from "../../khiip";
import type { Known } from "../../search/suggest";

const ENTITIES = 200;

export class VaultKnown implements Known {
  private tagsSeen: string[] | null = null;
  private names: string[] | null = null;

  constructor(private readonly khiip: Khiip) {}

  /** Look anew when asked next: notes may have changed since. */
  forget(): void {
    this.tagsSeen = null;
  }

  /** Tags of the vault, the most used first, without `#`. */
  tags = (): readonly string[] => {
    this.tagsSeen ??= this.countTags();
    return this.tagsSeen;
  };

  folders = (): readonly string[] => {
    const folders = this.khiip.app.vault.getAllFolders(false);
    return folders.map((folder) => folder.path);
  };

  /** Names that notes are about; they come from the sidecar, so the first look finds none yet. */
  entities = (): readonly string[] => {
    if (this.names === null) {
      this.names = [];
      void this.khiip.client.overview(ENTITIES, 0).then(
        ({ entities }) => {
          this.names = entities.map((entity) => entity.name);
        },
        () => {
          this.names = null; // the client has told of the fault; ask again next time
        },
      );
    }
    return this.names;
  };

  private countTags(): string[] {
    const { vault, metadataCache } = this.khiip.app;
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
