import type { FastifyReply, FastifyRequest } from 'fastify';
import { graphErrors } from '../../api/graphql/errors.js';
import type { Callers } from '../../auth/api-keys.js';
import { errorV1 } from '../../errors/problems.js';
import { queueProblem, refusals } from '../../limits/queue-refusal.js';
import { graphTypeOf, graphTypes } from '../graphql/request.js';
import type { InFlight } from './in-flight.js';
import { helpLinks } from '../http/refusal.js';
import type { RepeatedRefusals } from './repeated-refusals.js';
import type { Config } from '../../config/config.js';
import { credentialOf } from '../dashboard/cookie.js';

/**
 * Refuses the requests of a tenant that has too many, by the shortest way: at four times the load most of the work is
 * refusing. It answers the same as the longer way, for the keys that the connection has sent before.
 */
export class QuickRefusal {
  readonly #head: string[];
  readonly #help: string;
  readonly #body: string;
  /** The parts of the body of /graphql before, between and after the request's id. */
  readonly #graph: string[];

  constructor(
    private readonly callers: Callers,
    private readonly inFlight: InFlight,
    private readonly repeated: RepeatedRefusals,
    fixed: Record<string, string>,
    private readonly config: Config,
  ) {
    const busy = [queueProblem('requests')];
    this.#head = Object.entries({ ...fixed, 'retry-after': '1' }).flat();
    this.#help = helpLinks(busy);
    this.#body = `${JSON.stringify(errorV1(busy))}\n`;
    this.#graph = `${JSON.stringify(graphErrors(busy, '\n'))}\n`.split('\\n');
  }

  /** Refuses a request and sends the answer, if its tenant has too many. */
  refuses(request: FastifyRequest, reply: FastifyReply): boolean {
    const { open, probe, page, operator } = request.routeOptions.config;
    const graph = request.routeOptions.url === '/graphql';
    if (probe || page || operator || (open && !graph)) return false;
    const caller = this.callers.known(request.socket, credentialOf(request, this.config));
    if (!caller || !this.inFlight.isFull(caller)) return false;
    refusals.requests++;
    const type = (graph && graphTypeOf(request)) || graphTypes[0]!;
    const body = graph ? this.#graph.join(request.id) : this.#body;
    reply.hijack();
    // The texts have no character of more than one byte.
    const head = [
      ...this.#head,
      ...Object.entries(reply.getHeaders())
        .map(([name, value]) => [name, String(value)])
        .flat(),
      ...(graph ? [] : ['link', this.#help]),
      ...['request-id', request.id, 'content-type', `${type}; charset=utf-8`, 'content-length', String(body.length)],
    ];
    const send = () => {
      if (!reply.raw.destroyed) reply.raw.writeHead(503, head).end(body);
    };
    const wait = this.repeated.count(caller);
    if (wait > 0) setTimeout(send, wait);
    else send();
    return true;
  }
}
