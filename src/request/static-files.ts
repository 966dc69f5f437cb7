import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gunzip, gzip } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fresh from 'fresh';
import { DomainError, problem } from '../errors/problems.js';

const types = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.yml': 'application/yaml; charset=utf-8',
};

/** An encoding in which a file is sent. */
export type Encoding = 'br' | 'gzip' | 'identity';

/** A page, script or style that is the same until the process ends, as it is and compressed. */
export class StaticFile {
  readonly type: string;
  /** The tag is weak, since one file has several encodings. */
  readonly tag: string;
  /** How many bytes it has, before any encoding. */
  readonly bytes: number;
  /** Its encodings, the smallest first. A picture is compressed already. */
  readonly encodings: readonly Encoding[];
  readonly #bodies: { [encoding in Encoding]?: Buffer | Promise<Buffer> | undefined };

  /** What the build has not compressed is compressed when it is first asked for. */
  constructor(extension: string, bodies: Partial<Record<Encoding, Buffer>> & { identity: Buffer }) {
    this.type = types[extension as keyof typeof types] ?? 'application/octet-stream';
    this.bytes = bodies.identity.length;
    this.tag = `W/"${createHash('sha256').update(bodies.identity).digest('base64url').slice(0, 22)}"`;
    this.encodings = this.type === types['.png'] ? ['identity'] : ['br', 'gzip', 'identity'];
    this.#bodies = { ...bodies };
  }

  /** The body in an encoding. It is compressed in the thread pool, and only once for all concurrent requests. */
  body(encoding: Encoding): Buffer | Promise<Buffer> {
    const { identity, gzip: packed } = this.#bodies;
    if (encoding === 'identity' && !identity) return promisify(gunzip)(packed as Buffer);
    return (this.#bodies[encoding] ??= compressed(identity as Buffer, encoding));
  }

  /** Keeps the file only as it is compressed: who takes no encoding gets it made from that, in the thread pool. */
  async pack(): Promise<void> {
    [this.#bodies.br, this.#bodies.gzip] = await Promise.all([this.body('br'), this.body('gzip')]);
    this.#bodies.identity = undefined;
  }
}

function compressed(content: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'gzip') return promisify(gzip)(content);
  return promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
}

/** How long a browser keeps a file. It asks before each use of a page, and never for a file with a hash in its name. */
const caching = { page: 'no-cache', private: 'private, no-cache', fixed: 'public, max-age=31536000, immutable' };

/** Sends a file in the encoding that the client prefers, or says that the client has it already. */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: StaticFile | undefined,
  kept: keyof typeof caching,
  vary = 'accept-encoding',
): Promise<FastifyReply> {
  if (!file) throw new DomainError(problem('route_missing'));
  reply.header('cache-control', caching[kept]).header('vary', vary);
  if (reply.statusCode === 200) {
    reply.header('etag', file.tag);
    if (fresh(request.headers, { etag: file.tag })) return reply.code(304).send();
  }
  const asked = (request.headers['accept-encoding'] ?? '').toLowerCase().replaceAll('x-gzip', 'gzip');
  const encoding = (negotiate(asked, [...file.encodings]) as Encoding | null) ?? 'identity';
  // It is sent as it is: the compression of other answers would do its work again for each request.
  request.headers['x-no-compression'] = 'true';
  const body = await file.body(encoding);
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  return reply.type(file.type).send(body);
}

/** Registers the files of a place whose names contain a hash of their content, so that browsers keep them. */
export function fixedFiles(
  app: FastifyInstance,
  place: string,
  find: (name: string) => StaticFile | undefined | Promise<StaticFile | undefined>,
): void {
  app.get<{ Params: { name: string } }>(`${place}/assets/:name`, { config: { open: true } }, async (request, reply) =>
    sendFile(request, reply, await find(request.params.name), 'fixed'),
  );
}
