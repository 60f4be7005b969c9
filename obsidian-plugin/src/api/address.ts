/** Addresses of a sidecar: which are usable, and which stay on this machine; pure. */

export const DEFAULT_ADDRESS = "http://127.0.0.1:8478";

/** The address as it is used: scheme, host and port, nothing after; null when it is none. */
export function normalAddress(typed: string): string | null {
  const trimmed = typed.trim();
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `http://${trimmed}`;
  if (trimmed === "" || !URL.canParse(full)) return null;
  const url = new URL(full);
  const usable = (url.protocol === "http:" || url.protocol === "https:") && url.username === "";
  return usable ? url.origin : null;
}

/** Whether an address means this machine and nothing else. */
export function isLoopback(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const host = new URL(address).hostname;
  return host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** An address with a path and parameters; lists become repeats, what is undefined is left out. */
export function urlOf(address: string, path: string, params: Params = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined) query.append(name, String(each));
    }
  }
  const asked = query.toString();
  return asked ? `${address}${path}?${asked}` : `${address}${path}`;
}

type Value = string | number | boolean | undefined;
export type Params = Record<string, Value | Value[]>;
