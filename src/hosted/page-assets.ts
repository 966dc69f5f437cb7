import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import { sendFile, StaticFile } from '../request/static-files.js';

/**
 * The parts of the style and of the script, in their order: a rule may overrule an earlier one, and the parts of the
 * script share one scope, in which the last part begins. A browser gets each as one file.
 */
const parts = {
  'page.css': ['frame.css', 'summary.css', 'form.css', 'upi.css', 'result.css'],
  'page.js': ['state.js', 'countdown.js', 'card.js', 'start.js'],
} as const;

const textOf = (part: string) => fs.readFileSync(new URL(`./assets/page/${part}`, import.meta.url), 'utf8');

const assets = Object.fromEntries(
  Object.entries(parts).map(([name, files]) => {
    const content = Buffer.from(files.map(textOf).join('\n'));
    const hash = createHash('sha256').update(content).digest('base64url').slice(0, 16);
    const file = new StaticFile(path.extname(name), { identity: content });
    return [name, { file, path: `/checkout/assets/${name}?v=${hash}` }];
  }),
) as Record<'page.css' | 'page.js', { file: StaticFile; path: string }>;

/** The addresses of the style and the script. They change with the content of these files. */
export const assetPaths = { css: assets['page.css'].path, js: assets['page.js'].path };

/**
 * Registers the style and the script of the pages. A browser may cache them for ever: a new content has a new address.
 */
export function assetRoutes(app: FastifyInstance): void {
  for (const [name, { file }] of Object.entries(assets))
    app.get(`/checkout/assets/${name}`, { config: { open: true } }, (request, reply) =>
      sendFile(request, reply, file, 'fixed'),
    );
}
