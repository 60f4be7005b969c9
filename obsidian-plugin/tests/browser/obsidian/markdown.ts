/** Reading view: paragraphs and code blocks, with the plugins' processors for the latter. */
import type * as O from "obsidian";
import { Component, published } from "./events";

type Handler = (source: string, el: HTMLElement, ctx: O.MarkdownPostProcessorContext) => unknown;
const handlers = new Map<string, Handler>();

export class MarkdownRenderChild extends Component {
  constructor(public containerEl: HTMLElement) {
    super();
  }
}

/** Let `handler` draw the blocks of one language; the answer takes it back. */
export function addCodeBlock(language: string, handler: Handler): () => void {
  handlers.set(language, handler);
  return () => handlers.delete(language);
}

function context(sourcePath: string, owner: O.Component): O.MarkdownPostProcessorContext {
  return {
    docId: "doc",
    sourcePath,
    frontmatter: null,
    addChild: (child) => {
      owner.addChild(child);
    },
    getSectionInfo: () => null,
  };
}

async function block(
  language: string,
  source: string,
  el: HTMLElement,
  ctx: O.MarkdownPostProcessorContext,
): Promise<void> {
  const handler = handlers.get(language);
  if (!handler) {
    el.createEl("pre").createEl("code", { text: source });
    return;
  }
  await handler(source, el.createDiv(`block-language-${language}`), ctx);
}

/** Draw a text; code blocks come last, in order. */
export async function renderMarkdown(
  markdown: string,
  el: HTMLElement,
  sourcePath: string,
  component: O.Component,
): Promise<void> {
  const ctx = context(sourcePath, component);
  const parts = markdown.split(/^```/m);
  for (const [index, part] of parts.entries()) {
    if (index % 2 === 0) {
      for (const text of part.split(/\n{2,}/)) if (text.trim()) el.createEl("p", { text });
      continue;
    }
    const end = part.indexOf("\n");
    await block(part.slice(0, end).trim(), part.slice(end + 1).replace(/\n$/, ""), el, ctx);
  }
}

export abstract class MarkdownRenderer extends MarkdownRenderChild {
  static render(
    _app: O.App,
    markdown: string,
    el: HTMLElement,
    sourcePath: string,
    component: O.Component,
  ): Promise<void> {
    return renderMarkdown(markdown, el, sourcePath, component);
  }
}

/** A component of the stand-in as the published type sees it. */
export function asComponent(component: Component): O.Component {
  return published(component);
}
