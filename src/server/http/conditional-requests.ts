import etag from 'etag';
import type { FastifyInstance } from 'fastify';
import fresh from 'fresh';
import { varyOfCaller } from '../../api/rest/headers.js';

/**
 * The last answers with their tags, each in the place of its length. Clients that poll often get the same answer, and
 * comparing it costs less than hashing it.
 */
const recent: { payload: string; tag: string }[] = [];
const recentMax = 64;
/** Longer answers are not kept. */
const charactersMax = 32_768;

function tagOf(payload: string): string {
  if (payload.length > charactersMax) return etag(payload, { weak: true });
  const place = payload.length % recentMax;
  const before = recent[place];
  if (before?.payload === payload) return before.tag;
  const tag = etag(payload, { weak: true });
  recent[place] = { payload, tag };
  return tag;
}

/**
 * Adds an ETag to successful answers to GET, and answers 304 when the client already has the same answer. The gateway
 * first processes the request in full, so a tag reveals nothing that the client's key cannot read. Only the client
 * itself may cache an answer; it must revalidate each time and keep the answers of different keys apart. The tag is
 * weak, since one answer has several encodings.
 */
export function conditionalRequests(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const reads = request.method === 'GET' || request.method === 'HEAD';
    if (!reads || reply.statusCode !== 200 || typeof payload !== 'string') {
      done();
      return;
    }
    const tag = tagOf(payload);
    reply.headers({ etag: tag, vary: varyOfCaller, 'cache-control': 'private, no-cache' });
    if (!fresh(request.headers, { etag: tag })) {
      done();
      return;
    }
    reply.code(304).removeHeader('content-type');
    done(null, '');
  });
}
