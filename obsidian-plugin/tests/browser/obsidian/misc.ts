/** What is left: waiting, the network, the platform. */
import type * as O from "obsidian";
import { published } from "./events";

/** Call `cb` once things are quiet; with `resetTimer` each call starts the wait anew. */
export function debounce<T extends unknown[], V>(
  cb: (...args: [...T]) => V,
  timeout = 0,
  resetTimer = false,
): O.Debouncer<T, V> {
  let timer: number | null = null;
  let last: [...T] | null = null;
  const run = (): V | undefined => {
    if (timer !== null) window.clearTimeout(timer);
    timer = null;
    const args = last;
    last = null;
    return args ? cb(...args) : undefined;
  };
  const debounced = (...args: [...T]): unknown => {
    last = args;
    if (timer !== null && !resetTimer) return debounced;
    if (timer !== null) window.clearTimeout(timer);
    timer = window.setTimeout(run, timeout);
    return debounced;
  };
  const cancel = (): unknown => {
    if (timer !== null) window.clearTimeout(timer);
    timer = null;
    last = null;
    return debounced;
  };
  return published(Object.assign(debounced, { cancel, run }));
}

interface Proxied {
  status: number;
  headers: Record<string, string>;
  text: string;
  error?: string;
}

async function ask(param: O.RequestUrlParam): Promise<O.RequestUrlResponse> {
  const response = await fetch("/proxy", { method: "POST", body: JSON.stringify(param) });
  const answer = (await response.json()) as Proxied;
  if (answer.error) throw new Error(answer.error);
  if (answer.status >= 400 && param.throw !== false) {
    throw Object.assign(new Error(`Request failed, status ${String(answer.status)}`), {
      status: answer.status,
      headers: answer.headers,
    });
  }
  return {
    status: answer.status,
    headers: answer.headers,
    text: answer.text,
    arrayBuffer: new TextEncoder().encode(answer.text).buffer,
    get json(): unknown {
      return JSON.parse(answer.text) as unknown;
    },
  };
}

/** HTTP without a browser's rules: sent by the test server, which adds nothing. */
export function requestUrl(request: O.RequestUrlParam | string): O.RequestUrlResponsePromise {
  const param = typeof request === "string" ? { url: request } : request;
  const answer = ask(param);
  const part = <T>(pick: (response: O.RequestUrlResponse) => T): { get(): Promise<T> } => ({
    get: () => answer.then(pick),
  });
  void Object.defineProperties(answer, {
    json: part((response) => response.json as unknown),
    text: part((response) => response.text),
    arrayBuffer: part((response) => response.arrayBuffer),
  });
  return published(answer);
}

/** The body alone. */
export async function request(param: O.RequestUrlParam | string): Promise<string> {
  return (await requestUrl(param)).text;
}

export const Platform = {
  isDesktop: true,
  isMobile: false,
  isDesktopApp: true,
  isMobileApp: false,
  isIosApp: false,
  isAndroidApp: false,
  isPhone: false,
  isTablet: false,
  isMacOS: false,
  isWin: false,
  isLinux: true,
  isSafari: false,
  resourcePathPrefix: "app://local/",
};

/** Make it a phone, before the plugin is loaded. */
export function becomePhone(): void {
  const off = { isDesktop: false, isDesktopApp: false, isLinux: false };
  const on = { isMobile: true, isMobileApp: true, isAndroidApp: true, isPhone: true };
  Object.assign(Platform, off, on);
  document.body.addClass("is-mobile");
}

/** A tooltip is the accessible name, as in Obsidian. */
export function setTooltip(el: HTMLElement, tooltip: string): void {
  el.setAttr("aria-label", tooltip);
}

let version = "1.13.1";

/** Be the oldest Obsidian that the plugin's manifest allows, before the plugin is loaded. */
export function becomeOld(wanted: string): void {
  version = wanted;
}

/** Is this Obsidian at least so new? */
export function requireApiVersion(wanted: string): boolean {
  const mine = version.split(".").map(Number);
  const other = wanted.split(".").map(Number);
  for (const [index, part] of mine.entries()) {
    const difference = part - (other[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** The language of the user interface. */
export function getLanguage(): string {
  return "en";
}
