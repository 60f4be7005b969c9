/** The file that a running sidecar leaves in the vault. */

import type { DataAdapter } from "obsidian";
import { sidecarFile, type SidecarFile } from "../api/wire";

const PATH = ".khiip/sidecar.json";

/** What the file says; null when there is none, or none to be understood. */
export async function readSidecarFile(
  adapter: Pick<DataAdapter, "exists" | "read">,
): Promise<SidecarFile | null> {
  try {
    if (!(await adapter.exists(PATH))) return null;
    return sidecarFile(JSON.parse(await adapter.read(PATH)), "");
  } catch {
    return null; // half written, or gone since: the usual address is tried
  }
}
