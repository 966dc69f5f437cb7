import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DomainError, problem } from '../../errors/problems.js';
import { sendFile, StaticFile } from '../../request/static-files.js';
import { pathOf } from './request.js';
import type { SiteFile, SiteIndex } from '../../sites/docs/maker/site-files.js';

/** Where `npm run build` puts the site, from the sources as from the compiled program. */
const folder = new URL('../../../dist/sites/docs/site/', import.meta.url);

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

/** The files that were read, by their names. All of the site are 16 MB, and a third of that in each encoding. */
type Kept = Map<string, StaticFile>;

/**
 * Serves the documentation at /docs, as the build has made it. A request names an entry of the site's index and never a
 * file, so that no address leads out of the folder. Files are read when they are first asked for, because most
 * processes show few pages, and compressed once.
 * Silent: the specification asks for no documentation.
 */
export function docsSite(app: FastifyInstance): void {
  let files: SiteIndex['files'] | undefined;
  const kept: Kept = new Map();
  const answer = (request: FastifyRequest, reply: FastifyReply) => {
    files ??= filesOf();
    const asked = pathOf(request.url);
    const page = withoutSlashes(asked);
    const found = Object.hasOwn(files, page) && page !== missingPath ? files[page] : undefined;
    if (!found) return send(request, reply.code(404), kept, files[missingPath]!);
    // Only to a page that there is: another address could have characters that a header must not have.
    return page === asked ? send(request, reply, kept, found) : reply.redirect(page, 308);
  };
  app.get('/docs', { config: { open: true } }, answer);
  app.get('/docs/*', { config: { open: true } }, answer);
}

/** A path without the slashes at its end. A pattern for them would look for the end of the path from each slash. */
function withoutSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end--;
  return path.slice(0, end);
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

/** Sends a file of the site. It is compressed once for as long as it is kept. */
async function send(request: FastifyRequest, reply: FastifyReply, kept: Kept, { file, fixed }: SiteFile) {
  const known = kept.get(file);
  const found =
    known ?? new StaticFile(path.extname(file), { identity: await fs.promises.readFile(new URL(file, folder)) });
  if (!known) kept.set(file, found);
  reply.header('content-security-policy', policy);
  return sendFile(request, reply, found, fixed ? 'fixed' : 'page');
}
