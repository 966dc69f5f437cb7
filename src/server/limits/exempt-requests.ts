import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { GraphBody } from '../../api/graphql/document-cache.js';
import { endingsOf } from '../../api/graphql/endings.js';
import type { NodeCounter } from '../../api/graphql/query-cost.js';
import type { CredentialCalls } from '../../db/doors.js';
import type { Operation } from '../../operation/operation.js';
import { Attempts } from '../../limits/attempts.js';
import { senderOf } from '../../request/caller.js';
import type { Exemption } from '../../limits/charge.js';
import '../http/fastify-members.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route ends the session of the request. */
    ends?: 'own session';
  }
  interface FastifyInstance {
    exemptRequests: ExemptRequests;
  }
}

/** The most bytes of a body that is read although no points are left: a mutation that ends a key, or nothing. */
const graphBytesMax = 8_192;
const emptyBytesMax = 16;

/**
 * The requests that are answered although their allowance is used up, and charged afterwards: they end a key or
 * session, so that who uses all of an allowance cannot keep its owner from ending that. A request that ends its own
 * key or session is always answered: it can do so once, if it may do so at all. Others count as attempts of their
 * sender until they have ended something. Replacing a key counts for all gateways together. Silent: all of it.
 */
export class ExemptRequests {
  readonly #attempts = new Attempts();

  constructor(private readonly database: CredentialCalls) {}

  /** How a request of a route may be exempt, as far as its head says it. */
  ofRoute(request: FastifyRequest): Exemption | undefined {
    const { ends, permission } = request.routeOptions.config;
    const revokes = (permission as Partial<Operation> | undefined)?.ends === 'revoked';
    if (!revokes && ends === undefined) return undefined;
    const { session } = request.context!.caller;
    const own = ends !== undefined && session !== undefined && lengthOf(request) <= emptyBytesMax;
    return this.#exemption(request, () => ({ tries: own && isUnkeyed(request) ? 0 : 1, replaced: 0 }));
  }

  /** Whether the refusal of a request waits until its document is known. Reading its small body is cheap. */
  waits(request: FastifyRequest): boolean {
    const { url } = request.routeOptions;
    return url === '/graphql' && request.method === 'POST' && lengthOf(request) <= graphBytesMax;
  }

  /** How a request of GraphQL may be exempt: by its document. */
  ofDocument(request: FastifyRequest, schema: GraphQLSchema, nodes: NodeCounter, body: GraphBody): Exemption {
    return this.#exemption(request, () => {
      const endings = endingsOf(schema, nodes, body);
      if (!endings) return undefined;
      const { session, keyId, permission, accountId, actingAccountId } = request.context!.caller;
      const others = endings.revoked.filter((id) => id !== keyId);
      const mayEnd = !session && permission === 'full' && actingAccountId === accountId;
      const own = others.length < endings.revoked.length && mayEnd && isUnkeyed(request);
      return { tries: own ? others.length : endings.revoked.length, replaced: endings.replaced };
    });
  }

  #exemption(request: FastifyRequest, ask: () => { tries: number; replaced: number } | undefined): Exemption {
    const { caller } = request.context!;
    const { tenantId, livemode } = caller;
    const sender = `${tenantId} ${livemode} ${senderOf(caller)}`;
    let counted = 0;
    return {
      claim: () => {
        const { tries, replaced } = ask() ?? { tries: -1, replaced: 0 };
        if (tries < 0 || !this.#attempts.claim(sender, tries)) return false;
        counted = tries;
        return replaced === 0 || this.#replaces(tenantId, livemode, replaced);
      },
      ended: () => {
        if (counted-- > 0) this.#attempts.giveBack(sender);
      },
    };
  }

  async #replaces(tenantId: string, livemode: boolean, times: number): Promise<boolean> {
    for (let i = 0; i < times; i++) {
      const [row] = await this.database.call('take_rotation', [tenantId, livemode]);
      if (row?.take_rotation !== true) return false;
    }
    return true;
  }
}

/** The bytes of a body by the request's head; infinite where the head does not say it. */
function lengthOf({ headers }: FastifyRequest): number {
  if (headers['transfer-encoding'] !== undefined) return Number.POSITIVE_INFINITY;
  return Number(headers['content-length'] ?? 0);
}

/** Whether no idempotency key can keep the request from doing its work. */
const isUnkeyed = ({ headers }: FastifyRequest): boolean => headers['idempotency-key'] === undefined;

/** Makes the exemptions of an application known to its routes. */
export function exemptRequests(app: FastifyInstance, database: CredentialCalls): ExemptRequests {
  const exempt = new ExemptRequests(database);
  app.decorate('exemptRequests', exempt);
  return exempt;
}
