import fs from 'node:fs';
import type { FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { Caller } from '../../../request/caller.js';
import { sendFile, StaticFile } from '../../../request/static-files.js';
import { pointsOfBytes, weights } from '../../../types/weights.js';
import { varyOfCaller } from '../headers.js';
import { audienceOf } from './audience.js';
import { contractOf } from './document.js';
import { type Examples, recordedExamples } from './examples.js';

/** The generated contract, next to the schemas of the graph. */
export const contractFile = new URL('../../../../schema/openapi.json', import.meta.url);

/**
 * Serves the contract at /openapi.json: to anyone that of everyone, as it was generated, and to a caller what it may
 * send and receive itself. The latter depends on no more than the caller's edition, kind of account, mode and
 * permission: there are 48. Each is made once in a process, in some 50 ms, and kept compressed: nobody can make the
 * gateway do it again.
 * Silent: the specification asks for no contract.
 */
export function contractEndpoint(app: FastifyInstance, schema: GraphQLSchema): void {
  let ofEveryone: StaticFile | undefined;
  let examples: Examples | undefined;
  const kept = new Map<string, StaticFile>();
  const ofCaller = (caller: Caller): StaticFile => {
    const [audience, name] = audienceOf(caller);
    const known = kept.get(name);
    if (known) return known;
    examples ??= recordedExamples();
    const made = jsonFile(Buffer.from(JSON.stringify(contractOf(schema, examples, audience))));
    kept.set(name, made);
    // A file that cannot be compressed stays as it is.
    made.pack().catch(() => {});
    return made;
  };
  const general = (): StaticFile => (ofEveryone ??= jsonFile(fs.readFileSync(contractFile)));
  // What is not known before it is made is no longer than the contract of everyone.
  const cost = () => weights.request + pointsOfBytes(general().bytes);
  app.get('/openapi.json', { config: { keyOptional: true, cost } }, (request, reply) => {
    const { context, budget } = request;
    if (!context) return sendFile(request, reply, general(), 'page', 'accept-encoding, authorization');
    const file = ofCaller(context.caller);
    budget?.charge?.count(pointsOfBytes(file.bytes));
    return sendFile(request, reply, file, 'private', varyOfCaller);
  });
}

const jsonFile = (identity: Buffer) => new StaticFile('.json', { identity });
