/** Measures what sticks out of a view. */
import type { Page } from "playwright-core";

/** How far anything that is seen reaches over the right edge, in pixels. */
export function overflow(page: Page, within: string): Promise<number> {
  return page
    .locator(within)
    .first()
    .evaluate((el) => {
      const { right } = el.getBoundingClientRect();
      const inner = Array.from(el.querySelectorAll("*")).filter((one) => one.checkVisibility());
      const hidden = (one: Element): boolean => {
        for (let up = one.parentElement; up && up !== el; up = up.parentElement) {
          if (getComputedStyle(up).overflowX !== "visible") return true;
        }
        return false;
      };
      const outs = inner
        .filter((one) => !hidden(one))
        .map((one) => one.getBoundingClientRect().right - right);
      return Math.max(0, ...outs);
    });
}

/** Elements that hide a part of their height, and are neither cut to lines nor scrolled. */
export function squeezed(page: Page, within: string): Promise<string[]> {
  return page
    .locator(within)
    .first()
    .evaluate((el) =>
      Array.from(el.querySelectorAll("*"))
        .filter((one) => {
          const { overflowY, webkitLineClamp, fontSize } = getComputedStyle(one);
          const cut = one.scrollHeight - one.clientHeight > parseFloat(fontSize) / 3;
          return (
            cut && one.clientHeight > 0 && overflowY === "hidden" && webkitLineClamp === "none"
          );
        })
        .map((one) => `${one.className}: ${one.textContent.slice(0, 40)}`),
    );
}
