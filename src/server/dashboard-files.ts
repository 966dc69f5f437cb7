import fs from 'node:fs';
import path from 'node:path';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.js';
import { DomainError, problem } from '../request/problems.js';

/** The folder that `npm run build` fills. The path is the same from `src` and from `dist`. */
const folder = new URL('../../dist/dashboard/', import.meta.url);

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Nothing but the gateway's own files, and no text that becomes a script. React sets styles without markup. */
const policy = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self'`,
  `img-src 'self' blob:`,
  `connect-src 'self'`,
  `frame-ancestors 'none'`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `require-trusted-types-for 'script'`,
];

/** A program for browsers: where it is, its page, and what else the page may load. */
interface BrowserProgram {
  place: '/dashboard' | '/operator';
  page: string;
  policy: readonly string[];
}

/** The dashboard of users and platforms. */
export const dashboardProgram: BrowserProgram = { place: '/dashboard', page: 'index.html', policy };

/** The operator's console. It shows documents, which it fetches, in frames: PDFs in the browser's own viewer. */
export const consoleProgram: BrowserProgram = {
  place: '/operator',
  page: 'console/index.html',
  policy: [...policy, `frame-src blob:`],
};

/** A file of the build, as it is and compressed, by the name of the encoding. */
type Bodies = Partial<Record<'br' | 'gzip' | 'identity', Buffer>>;

let loaded: Map<string, Bodies> | undefined;
const files = () => (loaded ??= load());

/**
 * Registers the page of a program and its files. The page is the same for each of its addresses. The names of the other
 * files contain a hash of their content, so browsers keep them. Both programs share files, and each has them all under
 * its own place, so that a proxy can keep one of the places for itself.
 */
export function browserProgram(
  app: FastifyInstance,
  { place, page, policy: allowed }: BrowserProgram,
  { EXPLORER }: Pick<Config, 'EXPLORER'>,
): void {
  const config = { open: true } as const;
  const body = () => (EXPLORER ? files().get(page) : withoutExplorer(files().get(page)));
  const sendPage = (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('content-security-policy', allowed.join('; ')).header('referrer-policy', 'no-referrer');
    return send(body(), '.html', 'no-cache', request, reply);
  };
  app.get(place, { config }, sendPage);
  app.get(`${place}/*`, { config }, sendPage);
  app.get(`${place}/assets/:name`, { config }, (request, reply) => {
    const { name } = request.params as { name: string };
    const file = files().get(`assets/${name}`);
    return send(file, path.extname(name), 'public, max-age=31536000, immutable', request, reply);
  });
}

/** The page of a program whose gateway has no explorer to which it could lead. */
function withoutExplorer(bodies: Bodies | undefined): Bodies | undefined {
  const text = bodies?.identity?.toString().replace('<html ', '<html data-explorer="off" ');
  return text === undefined ? undefined : { identity: Buffer.from(text) };
}

function send(
  file: Bodies | undefined,
  extension: string,
  caching: string,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (!file) throw new DomainError(problem('route_missing'));
  const encoding = negotiate(request.headers['accept-encoding'] ?? '', Object.keys(file)) as keyof Bodies | null;
  const body = file[encoding ?? 'identity'] ?? file.identity!;
  if (body !== file.identity) reply.header('content-encoding', encoding);
  return reply
    .header('cache-control', caching)
    .header('vary', 'accept-encoding')
    .type(types[extension] ?? 'application/octet-stream')
    .send(body);
}

/** Reads all files of the build into memory. They stay the same until the process ends. */
function load(): Map<string, Bodies> {
  const files = new Map<string, Bodies>();
  const names = fs.existsSync(folder) ? fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
  for (const found of names.sort()) {
    const place = new URL(found, folder);
    if (fs.statSync(place).isDirectory()) continue;
    const name = found.replaceAll(path.sep, '/');
    const [, base = name, ending] = /^(.*)\.(br|gz)$/.exec(name) ?? [];
    const encoding = ending === 'br' ? 'br' : ending === 'gz' ? 'gzip' : 'identity';
    files.set(base, { ...files.get(base), [encoding]: fs.readFileSync(place) });
  }
  return files;
}
