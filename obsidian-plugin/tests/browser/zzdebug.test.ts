import { test } from "vitest";
import { Desk } from "./support/desk";
test("debug", async () => {
  const proto = Desk.prototype as unknown as Record<string, unknown>;
  const original = proto["start"] as (side?: number) => Promise<void>;
  proto["start"] = async function (this: Desk, side?: number) {
    const t = setTimeout(async () => {
      console.log("FAULTS", this.faults, await this.page.evaluate(() => document.body.outerHTML.slice(0, 3000)));
    }, 6000);
    await original.call(this, side);
    clearTimeout(t);
  };
  const desk = await Desk.open({});
  console.log(desk.faults);
  await desk.pane();
  await desk.search("knots on cords");
  await desk.page.screenshot({ path: ".shots/debug.png" });
  console.log(desk.faults, await desk.page.evaluate(() => document.querySelector(".khiip-pane")?.outerHTML.slice(0, 4000)));
}, 20000);
