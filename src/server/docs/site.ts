import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fresh from 'fresh';
import { DomainError, problem } from '../../request/problems.js';
import { pathOf } from '../request.js';
import type { SiteFile, SiteIndex } from './maker/site-files.js';

/** Where `npm run build` puts the site, from the sources as from the compiled program. */
const folder = new URL('../../../dist/server/docs/site/', import.meta.url);

// The pages use only this host: no other host, no inline script or style, and no frame around a page.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Serves the documentation at /docs, as the build has made it. A request names an entry of the site's index and never a
 * file, so that no address leads out of the folder. Files are read when they are asked for, because most processes
 * show few pages.
 * Silent: the specification asks for no documentation.
 */
export function docsSite(app: FastifyInstance): void {
  let files: SiteIndex['files'] | undefined;
  const answer = (request: FastifyRequest, reply: FastifyReply) => {
    files ??= filesOf();
    const path = pathOf(request.url);
    const page = path.replace(/\/+$/, '');
    const found = Object.hasOwn(files, page) && page !== missingPath ? files[page] : undefined;
    if (!found) return send(request, reply.code(404), files[missingPath]!);
    // Only to a page that there is: another address could have characters that a header must not have.
    return page === path ? send(request, reply, found) : reply.redirect(page, 308);
  };
  app.get('/docs', { config: { open: true } }, answer);
  app.get('/docs/*', { config: { open: true } }, answer);
}

const missingPath = '/docs/missing';

function filesOf(): SiteIndex['files'] {
  const index = new URL('site.json', folder);
  if (!fs.existsSync(index)) {
    const text = 'The documentation was not built. Run `npm run build`, and start the gateway again.';
    throw new DomainError(problem('route_missing', undefined, text));
  }
  return (JSON.parse(fs.readFileSync(fileURLToPath(index), 'utf8')) as SiteIndex).files;
}

async function send(request: FastifyRequest, reply: FastifyReply, { file, type, hash, fixed }: SiteFile) {
  // The tag is weak, since one page has several encodings.
  const etag = `W/"${hash}"`;
  reply
    .header('content-security-policy', policy)
    .header('cache-control', fixed ? 'public, max-age=31536000, immutable' : 'no-cache');
  if (reply.statusCode === 200) {
    reply.header('etag', etag).header('vary', 'accept-encoding');
    if (fresh(request.headers, { etag })) return reply.code(304).send();
  }
  return reply.type(type).send(await fs.promises.readFile(new URL(file, folder)));
}
