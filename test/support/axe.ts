import fs from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const script = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * What axe finds on a page with the given options, outside the elements that `exclude` selects: the rule, and the
 * beginning of each element. Its script is injected with the debugger's API (`Runtime.evaluate`), to which the page's
 * policy does not apply; the policy stays on.
 */
export async function axeFaults(page: Page, options: object = {}, exclude: string[] = []): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(script);
  return page.evaluate(
    async ([given, without]) => {
      const { axe } = window as unknown as {
        axe: { run(context: unknown, options: object): Promise<{ violations: any[] }> };
      };
      const context = without.length > 0 ? { exclude: without } : document;
      // Nothing is reported of what has no fault, nor where a fault is: the answer has its HTML.
      const { violations } = await axe.run(context, { ...given, resultTypes: ['violations'], selectors: false });
      return violations.map((v) => `${v.id}: ${v.nodes.map((n: any) => n.html.slice(0, 120)).join(' | ')}`);
    },
    [options, exclude] as const,
  );
}
