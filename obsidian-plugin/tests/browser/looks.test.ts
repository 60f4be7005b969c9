/** A picture of every state in both themes and two widths, each clean by axe. */
import { test } from "vitest";
import { expect } from "./support/expect";
import { at } from "./support/desk";
import { overflow, squeezed } from "./support/overflow";
import { LOOKS } from "./support/states";

const SCREENS = [
  ["light", 300],
  ["dark", 300],
  ["dark", 600],
  ["light", 600],
] as const;

for (const look of LOOKS) {
  test(`${look.name} looks and reads well, light and dark, narrow and wide`, () =>
    at(
      {
        ...{ width: 1100, height: 700, side: 300, reducedMotion: true },
        ...look.parts,
        ...(look.fakes ? { fakes: look.fakes } : {}),
      },
      async (desk) => {
        await look.show(desk);
        for (const [theme, side] of SCREENS) {
          await desk.wear(theme, side);
          await desk.shot(`${look.name}-${theme}-${String(side)}`);
          const sideways = await overflow(desk.page, look.within);
          expect(sideways, "pixels that stick out sideways").toBeLessThanOrEqual(1);
          expect(await squeezed(desk.page, look.within)).toEqual([]);
          if ((theme === "dark") === (side === 600)) await desk.accessible(look.within);
        }
      },
    ));
}
