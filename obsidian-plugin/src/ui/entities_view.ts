/** What do I know about…: the entities of the vault, by momentum. */

import { ItemView, setIcon, type WorkspaceLeaf } from "obsidian";
import { Latest, type Outcome } from "../api/latest";
import type { Entity, Overview } from "../api/wire";
import { asFault } from "../errors";
import { VIEWS, type Khiip } from "../khiip";
import { notesLabel } from "../search/labels";
import { relativeDate } from "../search/dates";
import { filterText } from "../search/filters";
import { operatorNamed } from "../search/operators";
import { countsOf } from "../sidecar/state";

const PAGE = 100;
const MOST = 2000;
const AHEAD = 400; // pixels
const PAUSE = 300;

export class EntitiesView extends ItemView {
  override navigation = false;
  private entities: Entity[] = [];
  private more = false;
  private generation = -1;
  private callOff: (() => void) | null = null;
  private readonly latest: Latest<number, Overview>;
  private input: HTMLInputElement | null = null;
  private statusEl: HTMLElement | null = null;
  private bodyEl: HTMLElement | null = null;
  private listEl: HTMLElement | null = null;

  constructor(
    leaf: WorkspaceLeaf,
    private readonly khiip: Khiip,
  ) {
    super(leaf);
    this.icon = "users";
    this.latest = new Latest(
      (offset) => khiip.client.overview(PAGE, offset),
      (offset, outcome) => {
        this.hear(offset, outcome);
      },
    );
  }

  override getViewType(): string {
    return VIEWS.entities;
  }

  override getDisplayText(): string {
    return "Entities";
  }

  override async onOpen(): Promise<void> {
    this.drawFrame();
    this.register(
      this.khiip.monitor.listen((state) => {
        const generation = countsOf(state)?.generation ?? -1;
        if (state.kind === "fault") this.say(state.fault.message);
        else if (generation !== this.generation) this.soon(this.entities.length ? PAUSE : 0);
        this.generation = generation;
      }),
    );
    this.register(() => {
      this.callOff?.();
      this.latest.forget();
    });
    return Promise.resolve();
  }

  private drawFrame(): void {
    const { contentEl } = this;
    contentEl.empty();
    contentEl.addClass("khiip-pane");
    const head = contentEl.createDiv("khiip-head");
    const box = head.createDiv("khiip-box search-input-container");
    this.input = box.createEl("input", { type: "search", placeholder: "What is known about…" });
    this.input.setAttrs({ "aria-label": "Search entities", spellcheck: "false", dir: "auto" });
    this.statusEl = contentEl.createDiv({ cls: "khiip-status", attr: { role: "status" } });
    this.bodyEl = contentEl.createDiv("khiip-body");
    const attr = { role: "list", "aria-label": "Entities" };
    this.listEl = this.bodyEl.createEl("ul", { cls: "khiip-list khiip-entities", attr });
    this.registerDomEvent(this.input, "input", () => {
      this.draw();
      this.next();
    });
    this.registerDomEvent(this.bodyEl, "scroll", () => {
      this.next();
    });
  }

  private soon(pause: number): void {
    this.callOff?.();
    this.callOff = this.khiip.later(() => {
      this.latest.want(0);
    }, pause);
  }

  /** Ask for more when the end is near, and for all while a name is looked for. */
  private next(): void {
    if (!this.more || this.latest.busy || this.entities.length >= MOST) return;
    const { scrollHeight, scrollTop, clientHeight } = this.contentSize();
    const near = clientHeight > 0 && scrollHeight - scrollTop - clientHeight < AHEAD;
    if (near || this.input?.value) this.latest.want(this.entities.length);
  }

  private contentSize(): Pick<HTMLElement, "scrollHeight" | "scrollTop" | "clientHeight"> {
    return this.bodyEl ?? { scrollHeight: 0, scrollTop: 0, clientHeight: 0 };
  }

  private hear(offset: number, outcome: Outcome<Overview>): void {
    if (!outcome.ok) {
      this.say(asFault(outcome.error).message);
      return;
    }
    const { entities, total, has_more: more } = outcome.answer;
    this.entities = offset === 0 ? entities : [...this.entities, ...entities];
    this.more = more && entities.length > 0;
    this.say(total === 0 ? "Notes name nobody and nothing yet." : entitiesLabel(total));
    this.draw();
    this.next();
  }

  private draw(): void {
    const wanted = (this.input?.value ?? "").trim().toLowerCase();
    const now = Date.now();
    this.listEl?.empty();
    for (const entity of this.entities) {
      if (entity.name.toLowerCase().includes(wanted)) this.drawEntity(entity, now);
    }
  }

  private drawEntity(entity: Entity, now: number): void {
    const item = this.listEl?.createEl("li");
    const button = item?.createEl("button", { cls: "khiip-entity" });
    if (!button) return;
    const head = button.createDiv("khiip-hit-head");
    const icon = head.createSpan({ cls: "khiip-hit-icon", attr: { "aria-hidden": "true" } });
    setIcon(icon, KIND_ICONS[entity.kind] ?? "hash");
    head.createSpan({ cls: "khiip-hit-title", text: entity.name, attr: { dir: "auto" } });
    head.createSpan({ cls: `khiip-band is-${entity.momentum_band}`, text: entity.momentum_band });
    const read = entity.last_access ? `read ${relativeDate(entity.last_access, now)}` : "";
    const parts = [notesLabel(entity.memory_count), layersLabel(entity), read];
    button.createDiv({ cls: "khiip-hit-meta", text: parts.filter((part) => part).join(" · ") });
    button.onClickEvent(() => {
      this.khiip.run(() => this.khiip.openSearch(entityFilter(entity.name)));
    });
  }

  private say(line: string): void {
    if (this.statusEl?.textContent !== line) this.statusEl?.setText(line);
  }
}

const KIND_ICONS: Record<string, string> = {
  person: "user",
  company: "building-2",
  project: "folder-kanban",
  concept: "lightbulb",
  file: "file",
};

function entitiesLabel(total: number): string {
  return total === 1 ? "1 entity" : `${total.toLocaleString("en")} entities, by momentum`;
}

/** The layers that an entity's notes are of, the fullest first. */
export function layersLabel(entity: Entity): string {
  const layers: [count: number, one: string, many: string][] = [
    [entity.goal_count, "goal", "goals"],
    [entity.caveat_count, "caveat", "caveats"],
    [entity.learning_count, "learning", "learnings"],
    [entity.context_count, "context", "context"],
    [entity.implementation_count, "implementation", "implementation"],
    [entity.emotion_count, "emotion", "emotions"],
  ];
  const found = layers.filter(([count]) => count > 0).sort(([one], [other]) => other - one);
  return found
    .slice(0, 3)
    .map(([count, one, many]) => `${count} ${count === 1 ? one : many}`)
    .join(", ");
}

function entityFilter(name: string): string {
  const operator = operatorNamed("entity");
  return operator ? filterText({ negative: false, operator, value: name }) : name;
}
