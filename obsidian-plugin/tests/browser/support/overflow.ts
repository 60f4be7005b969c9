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
