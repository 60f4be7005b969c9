/** The two pictures of the README, taken anew with `KHIIP_PICTURES=1 npm run test:browser pictures`. */
import path from "node:path";
import { test } from "vitest";
import { at } from "./support/desk";
import { PLUGIN } from "./server/house";

const FOLDER = path.join(PLUGIN, "docs");

test.runIf(process.env.KHIIP_PICTURES)("the pane on the sample vault, light and dark", () =>
  at({ side: 440, width: 1300, height: 566, scale: 2 }, async (desk) => {
    await desk.pane();
    await desk.box.pressSequentially("-folder:Journal accounting with knotted strings");
    await desk.hits.first().waitFor();
    await desk.quiet();
    for (const theme of ["light", "dark"] as const) {
      await desk.wear(theme, 440);
      await desk.page
        .locator("[data-type=khiip-search]")
        .screenshot({ path: path.join(FOLDER, `pane-${theme}.png`) });
    }
  }),
);
