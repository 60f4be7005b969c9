/** The sidecar's state in the status bar: an icon and few words. */

import { setIcon, type Component } from "obsidian";
import { VIEWS, type Khiip } from "../khiip";
import { countsOf, longLabel, shortLabel, stateIcon, type SidecarState } from "../sidecar/state";

/** Fill a status-bar item, and keep it true. */
export function drawStatusBar(el: HTMLElement, khiip: Khiip, component: Component): void {
  el.addClasses(["khiip-status-bar", "mod-clickable"]);
  el.setAttrs({ role: "button", tabindex: "0" });
  const icon = el.createSpan({ cls: "khiip-status-icon", attr: { "aria-hidden": "true" } });
  const text = el.createSpan();
  component.register(
    khiip.monitor.listen((state) => {
      setIcon(icon, stateIcon(state));
      text.setText(shortLabel(state));
      el.setAttr("aria-label", tooltip(state));
      el.dataset.state = state.kind;
      el.dataset.tooltipPosition = "top";
    }),
  );
  const open = (): void => {
    const problems = countsOf(khiip.monitor.state)?.problems ?? 0;
    khiip.monitor.wake();
    khiip.run(() => (problems > 0 ? khiip.openView(VIEWS.problems) : khiip.openSearch()));
  };
  component.registerDomEvent(el, "click", open);
  component.registerDomEvent(el, "keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    open();
  });
}

function tooltip(state: SidecarState): string {
  const more = longLabel(state);
  return more ? `Khiip ${shortLabel(state)}. ${more}` : `Khiip ${shortLabel(state)}`;
}
