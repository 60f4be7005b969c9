/** Whether a sidecar has ever answered on this device: until then the first steps are shown. */

import type { App } from "obsidian";

const MET = "khiip-met";

export class KnownSidecar {
  constructor(private readonly app: App) {}

  everMet(): boolean {
    return this.app.loadLocalStorage(MET) === true;
  }

  /** One has answered. */
  met(): void {
    if (!this.everMet()) this.app.saveLocalStorage(MET, true);
  }
}
