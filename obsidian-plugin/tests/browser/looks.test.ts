/** A picture of every state in both themes and two widths, each clean by axe. */
import { expect, test } from "vitest";
import { at, type Desk, type DeskParts } from "./support/desk";
import { LOOKS } from "./support/states";

const SCREENS: [string, DeskParts][] = [
  ["light-300", { theme: "light", side: 300, width: 900, height: 700 }],
  ["dark-600", { theme: "dark", side: 600, width: 1200, height: 700, reducedMotion: true }],
];

for (const look of LOOKS) {
  test(`${look.name} looks and reads well, light and narrow, dark and wide`, async () => {
    for (const [screen, parts] of SCREENS) {
      await at(
        { ...parts, ...look.parts, ...(look.fakes ? { fakes: look.fakes } : {}) },
        async (desk) => {
          await look.show(desk);
          await desk.shot(`${look.name}-${screen}`);
          await desk.accessible(look.within);
          expect(
            await overflow(desk, look.within),
            "nothing sticks out sideways",
          ).toBeLessThanOrEqual(1);
        },
      );
    }
  });
}

function overflow(desk: Desk, within: string): Promise<number> {
  return desk.page
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
