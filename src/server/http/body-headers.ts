import { errorCodes, type FastifyInstance, type FastifyRequest } from 'fastify';
import { DomainError, type Problem, problem } from '../../errors/problems.js';
import { take } from '../lifetime.js';
import { hasBody } from './request.js';

/** The pattern by which Node decides that a client waits for `100 Continue`. */
const continues = /(?:^|\W)100-continue(?:$|\W)/i;

/**
 * Adds what a request has to pass between the check of its key and the reading of its body: an encoding and a charset
 * that the gateway reads. Then a client that waits for it is sent `100 Continue`. An empty body is no body, whatever
 * its headers say. Silent: encodings of bodies.
 */
export function bodyHeaders(app: FastifyInstance): void {
  // With this listener Node leaves `100 Continue` to the hook below.
  app.server.on('checkContinue', (request, response) => app.server.emit('request', request, response));
  // Ignore unsupported Expect headers, as HTTP allows, and answer the request as if it had none.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.addHook('preParsing', (request, reply, _, done) => {
    if (request.method === 'GET' || request.method === 'HEAD') return done();
    if (!hasBody(request)) {
      delete request.headers['content-type'];
      request.body = {};
      return done();
    }
    take(() => {
      const problems = [...encodingProblems(request), ...charsetProblems(request)];
      if (problems.length > 0) throw new DomainError(...problems);
      if (request.raw.httpVersion === '1.1' && continues.test(request.headers.expect ?? '')) reply.raw.writeContinue();
    }, done);
  });
  refuseOtherTypes(app);
}

/** Adds the parser for content types that no other one reads: a body in chunks is read as far as it shows a byte. */
export function refuseOtherTypes(app: FastifyInstance): void {
  app.addContentTypeParser('*', ({ headers }, payload, done) => {
    const refuse = () => done(new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE());
    if (headers['content-length'] !== undefined) return refuse();
    const end = () => done(null, {});
    const refuseOnce = () => {
      payload.off('data', refuseOnce).off('error', refuseOnce).off('end', end);
      refuse();
    };
    payload.on('data', refuseOnce).on('error', refuseOnce).on('end', end);
  });
}

function encodingProblems({ headers }: FastifyRequest): Problem[] {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return [];
  return [
    problem('body_invalid', undefined, `Content-Encoding ${named(encoding)} is not supported. Send the body as it is.`),
  ];
}

const charsetPattern = /;[ \t]*charset[ \t]*=[ \t]*"?([^";\s]*)/gi;

function charsetProblems({ headers }: FastifyRequest): Problem[] {
  const type = headers['content-type'] ?? '';
  const other = [...type.matchAll(charsetPattern)].find(([, name = '']) => !/^utf-?8$/i.test(name));
  return other
    ? [problem('body_invalid', undefined, `The charset ${named(other[1]!)} is not supported. Send the body in UTF-8.`)]
    : [];
}

/** The name of an encoding or a charset, if it is one that a sentence may repeat. */
const named = (name: string): string => (/^[\w.:+,-]{1,40}$/.test(name) ? name : 'of the body');
