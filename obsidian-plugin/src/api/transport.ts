/** Requests as Obsidian sends them: no rules of web pages, on every platform. */

import { requestUrl } from "obsidian";
import type { Transport } from "./client";

export const requestTransport: Transport = async ({ url, method, headers }) => {
  const answer = await requestUrl({ url, method, headers, throw: false });
  return { status: answer.status, text: answer.text };
};
