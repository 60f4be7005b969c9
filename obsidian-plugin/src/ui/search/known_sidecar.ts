/** Whether a sidecar has ever answered on this device: until then the first steps are shown. */

import type { App } from "obsidian";

const MET = "khiip-met";

export class KnownSidecar {
  private seen = false;

  constructor(private readonly app: App) {}

  everMet(): boolean {
    this.seen ||= this.app.loadLocalStorage(MET) === true;
    return this.seen;
  }

  /** One has answered. */
  met(): void {
    if (!this.everMet()) this.app.saveLocalStorage(MET, true);
  }
}
