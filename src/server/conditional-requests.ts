import etag from 'etag';
import type { FastifyInstance } from 'fastify';
import fresh from 'fresh';

/** What an answer of /v1 depends on besides its address. */
const vary = 'Accept-Encoding, Authorization, On-Behalf-Of';

/**
 * Gives successful answers to GET a tag, and answers 304 where the client has what it would get: the request is served in full
 * before, so a client learns nothing by a tag that its key would not show. Only the client itself may keep an answer, asks
 * again each time, and keeps those of different keys apart. The tag is weak, since one answer has several encodings.
 */
export function conditionalRequests(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const reads = request.method === 'GET' || request.method === 'HEAD';
    if (!reads || reply.statusCode !== 200 || typeof payload !== 'string') {
      done();
      return;
    }
    const tag = etag(payload, { weak: true });
    reply.headers({ etag: tag, vary, 'cache-control': 'private, no-cache' });
    if (!fresh(request.headers, { etag: tag })) {
      done();
      return;
    }
    reply.code(304).removeHeader('content-type');
    done(null, '');
  });
}
