import { createHash } from 'node:crypto';
import fs from 'node:fs';
import type { FastifyInstance } from 'fastify';

const assets = Object.fromEntries(
  (['page.css', 'page.js'] as const).map((name) => {
    const content = fs.readFileSync(new URL(`./assets/${name}`, import.meta.url));
    const hash = createHash('sha256').update(content).digest('base64url').slice(0, 16);
    return [name, { content, path: `/checkout/assets/${name}?v=${hash}` }];
  }),
) as Record<'page.css' | 'page.js', { content: Buffer; path: string }>;

/** The addresses of the style and the script. They change with the content of these files. */
export const assetPaths = { css: assets['page.css'].path, js: assets['page.js'].path };

/**
 * Registers the style and the script of the pages. A browser may cache them for ever: a new content has a new address.
 */
export function assetRoutes(app: FastifyInstance): void {
  for (const [name, { content }] of Object.entries(assets)) {
    const type = name.endsWith('.css') ? 'text/css' : 'text/javascript';
    app.get(`/checkout/assets/${name}`, { config: { open: true } }, (_, reply) =>
      reply.type(`${type}; charset=utf-8`).header('cache-control', 'public, max-age=31536000, immutable').send(content),
    );
  }
}
