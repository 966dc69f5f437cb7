import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Config } from '../../config/config.js';
import type { CredentialCalls } from '../../db/doors.js';
import { type Caller, senderOf } from '../../request/caller.js';
import { Charge } from '../../limits/charge.js';
import { isPlenty, Lease } from '../../limits/lease.js';
import { weights } from '../../types/weights.js';
import { type ExemptRequests, exemptRequests } from './exempt-requests.js';
import { take } from '../lifetime.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The most points that a request to the route can cost, where that is known before its body is read. */
    cost?: (request: FastifyRequest) => number;
  }
}

/** How many root accounts and modes have a lease in one gateway at once. The least recently used one is given back. */
const leasesMax = 10_000;
const quietMilliseconds = 5_000;
/** How many leases are given back at once. */
const returnsAtOnce = 50;
/** How many senders a gateway tells the shared allowance at once, which knows as many. */
const sendersTold = 20;

/** The leases of a gateway: one for each root account and mode that it serves. */
class Leases {
  readonly #leases: LRUCache<string, Lease>;

  constructor(
    private readonly config: Config,
    private readonly database: CredentialCalls,
  ) {
    this.#leases = new LRUCache({
      max: leasesMax,
      dispose: (lease) => void lease.close().catch(() => {}),
      noDisposeOnSet: true,
    });
  }

  /** The lease of a caller's root account and mode. */
  of({ tenantId, livemode }: Charged): Lease {
    const name = `${tenantId} ${livemode}`;
    const known = this.#leases.get(name);
    if (known) return known;
    const { RATE_LIMIT, RATE_LIMIT_BURST: burst, RATE_LIMIT_PER_SECOND: perSecond } = this.config;
    const debt = this.config.GRAPHQL_NODES_MAX * weights.object;
    const size = { burst, perSecond, enforced: RATE_LIMIT === 'enforce' };
    const lease = new Lease(size, async ({ back, need, want, spent }) => {
      const values = [tenantId, livemode, back, need, want, burst, perSecond, debt];
      const [row] = await this.database.call('take_allowance', values);
      const granted = { granted: Number(row!.granted), remaining: Number(row!.remaining) };
      if (!size.enforced || isPlenty(granted.remaining, size)) return granted;
      // The lease is granted; who has spent what can be told with the next one.
      return { ...granted, spent: await this.#sendersOf(tenantId, livemode, spent).catch(() => undefined) };
    });
    this.#leases.set(name, lease);
    return lease;
  }

  /** Tells the shared allowance who has spent most here, and returns who has on all gateways. */
  async #sendersOf(tenantId: string, livemode: boolean, spent: ReadonlyMap<string, number>) {
    const { RATE_LIMIT_BURST: burst, RATE_LIMIT_PER_SECOND: perSecond } = this.config;
    const most = [...spent].sort(([, a], [, b]) => b - a).slice(0, sendersTold);
    const told = JSON.stringify(Object.fromEntries(most));
    const [row] = await this.database.call('count_senders', [tenantId, livemode, told, burst, perSecond]);
    return row!.count_senders as Record<string, number>;
  }

  /** Gives back what quiet accounts have left. */
  giveBackIfQuiet(): Promise<void> {
    return this.#each((lease) => lease.giveBackIfQuiet());
  }

  /** Gives back all leases. */
  close(): Promise<void> {
    return this.#each((lease) => lease.close());
  }

  /** A lease that cannot be given back is lost, which costs its account no more than the lease. */
  async #each(work: (lease: Lease) => Promise<void>): Promise<void> {
    const leases = [...this.#leases.values()];
    for (let i = 0; i < leases.length; i += returnsAtOnce)
      await Promise.allSettled(leases.slice(i, i + returnsAtOnce).map(work));
  }
}

/**
 * Charges each request of an identified caller to the allowance of its root account and mode, before its body is read,
 * and writes the headers about it. /graphql takes the price of any request first, and that of the document when the
 * document is known. The operator, the probes and the pages are not charged: they have no caller.
 * Spec: extension. The headers are those of draft-ietf-httpapi-ratelimit-headers-10.
 */
export class RateLimit {
  readonly #leases: Leases | undefined;

  constructor(
    private readonly config: Config,
    private readonly database: CredentialCalls,
  ) {
    this.#leases = config.RATE_LIMIT === 'off' ? undefined : new Leases(config, database);
  }

  /** The charge of one piece of work for a caller; null where nothing is charged. */
  readonly chargeOf = (caller: Caller): Charge | null =>
    this.#leases ? new Charge(this.#leases.of(caller), weights.object, senderOf(caller)) : null;

  /** Charges the requests of an application. Call this after the hooks that identify the caller. */
  addTo(app: FastifyInstance): void {
    const exempt = exemptRequests(app, this.database);
    const leases = this.#leases;
    if (!leases) return;
    const { RATE_LIMIT_BURST: burst, RATE_LIMIT_PER_SECOND: perSecond } = this.config;
    const policy = `"${policyName}";q=${burst};w=${Math.ceil(burst / perSecond)}`;
    app.addHook('onRequest', (request, _, done) => take(() => chargeFor(request, leases, exempt), done));
    app.addHook('onSend', (request, reply, _, done) => {
      writeHeaders(request, reply, leases, policy);
      done();
    });
    // The answer of a client that has disconnected is never sent.
    app.addHook('onResponse', (request, _, done) => {
      request.budget?.charge?.finish(request.budget.ended !== undefined);
      done();
    });
    const timer = setInterval(() => void leases.giveBackIfQuiet(), quietMilliseconds);
    timer.unref();
    app.addHook('onClose', async () => {
      clearInterval(timer);
      await leases.close();
    });
  }
}

const policyName = 'points';

type Charged = Pick<Caller, 'tenantId' | 'livemode'>;

function chargeFor(request: FastifyRequest, leases: Leases, exempt: ExemptRequests): undefined | Promise<void> {
  const { context, budget } = request;
  if (!context || !budget) return undefined;
  const charge = new Charge(leases.of(context.caller), weights.object, senderOf(context.caller));
  charge.exemption = exempt.ofRoute(request);
  charge.waits = exempt.waits(request);
  budget.charge = charge;
  const points = request.routeOptions.config.cost?.(request) ?? weights.request;
  const waiting = charge.take(points);
  if (waiting) return waiting.then(() => charge.count(weights.request));
  charge.count(weights.request);
  return undefined;
}

/** Writes the headers for an identified caller. A request that its key does not permit was refused uncharged. */
function writeHeaders({ budget, context }: FastifyRequest, reply: FastifyReply, leases: Leases, policy: string): void {
  if (!context) return;
  const { remaining, resetSeconds } = budget?.cost ?? leases.of(context.caller).state;
  reply.header('ratelimit-policy', policy);
  reply.header('ratelimit', `"${policyName}";r=${remaining};t=${resetSeconds}`);
}
