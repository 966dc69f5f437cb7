import fs from 'node:fs';
import path from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.js';
import { type Encoding, fixedFiles, sendFile, StaticFile } from '../../request/static-files.js';

/** The folder that `npm run build` fills. The path is the same from `src` and from `dist`. */
const folder = new URL('../../../dist/dashboard/', import.meta.url);

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

let loaded: Map<string, StaticFile> | undefined;
const files = () => (loaded ??= load());

/**
 * Registers the page of a program and its files. The page is the same for each of its addresses. The names of the other
 * files contain a hash of their content. Both programs share files, and each has them all under its own place, so that
 * a proxy can keep one of the places for itself.
 */
export function browserProgram(
  app: FastifyInstance,
  { place, page, policy: allowed }: BrowserProgram,
  { EXPLORER }: Pick<Config, 'EXPLORER'>,
): void {
  const config = { open: true } as const;
  let bare: Promise<StaticFile | undefined> | undefined;
  const sendPage = async (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('content-security-policy', allowed.join('; ')).header('referrer-policy', 'no-referrer');
    const file = files().get(page);
    return sendFile(request, reply, EXPLORER ? file : await (bare ??= withoutExplorer(file)), 'page');
  };
  app.get(place, { config }, sendPage);
  app.get(`${place}/*`, { config }, sendPage);
  fixedFiles(app, place, (name) => files().get(`assets/${name}`));
}

/** The page of a program whose gateway has no explorer to which it could lead. */
async function withoutExplorer(file: StaticFile | undefined): Promise<StaticFile | undefined> {
  const text = (await file?.body('identity'))?.toString().replace('<html ', '<html data-explorer="off" ');
  return text === undefined ? undefined : new StaticFile('.html', { identity: Buffer.from(text) });
}

/** Reads all files of the build into memory. */
function load(): Map<string, StaticFile> {
  const found = new Map<string, Partial<Record<Encoding, Buffer>>>();
  const names = fs.existsSync(folder) ? fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
  for (const each of names.sort()) {
    const place = new URL(each, folder);
    if (fs.statSync(place).isDirectory()) continue;
    const name = each.replaceAll(path.sep, '/');
    const [, base = name, ending] = /^(.*)\.(br|gz)$/.exec(name) ?? [];
    const encoding = ending === 'br' ? 'br' : ending === 'gz' ? 'gzip' : 'identity';
    found.set(base, { ...found.get(base), [encoding]: fs.readFileSync(place) });
  }
  return new Map(
    [...found].map(([name, { identity, ...smaller }]) => [
      name,
      new StaticFile(path.extname(name), { identity: identity!, ...smaller }),
    ]),
  );
}
