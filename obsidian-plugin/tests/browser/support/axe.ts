/** axe-core in the page: what it minds, in one line each. */
import fs from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const source = fs.readFileSync(
  createRequire(import.meta.url).resolve("axe-core/axe.min.js"),
  "utf8",
);

/** Rules that are about whole pages, and none of a plugin's. */
const PAGE_RULES = ["region", "page-has-heading-one", "landmark-one-main", "bypass"];

/** Problems within a selector, which must be there; `not` names rules that cannot count here. */
export async function axeProblems(
  page: Page,
  within: string,
  not: readonly string[] = [],
): Promise<string[]> {
  if ((await page.locator(within).count()) === 0) throw new Error(`nothing at ${within}`);
  await page.evaluate(source);
  const results = await page.evaluate(
    async ([selector, rules]) => {
      const { axe } = window as unknown as { axe: typeof import("axe-core") };
      const off = Object.fromEntries(rules.map((rule) => [rule, { enabled: false }]));
      return axe.run(selector, { rules: off });
    },
    [within, [...PAGE_RULES, ...not]] as const,
  );
  return describe(results);
}

function describe(results: AxeResults): string[] {
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.any[0]?.message ?? ""}`),
  );
}
