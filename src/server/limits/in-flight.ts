import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.js';
import type { Secrets } from '../../config/secrets.js';
import { clientLeft } from '../../limits/budget.js';
import type { Caller } from '../../request/caller.js';
import { RequestQueue, type RequestTicket } from '../../limits/request-queue.js';
import type { Ended } from '../../limits/ticket.js';
import { placeOf } from '../../resources/checkout/link.js';
import { turnsOf } from '../../types/weights.js';
import { LoopDelay } from './loop-delay.js';
import { hasBody } from '../http/request.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The place of the request, which has a turn while it is worked on; null where the request needs none. */
    ticket: RequestTicket | null;
  }
  interface FastifyContextConfig {
    /** The route is of a payment page, and shares the turns of the pages. */
    page?: true;
    /** How many objects a request to the route could read; undefined where only its document says it. */
    objects?: (request: FastifyRequest) => number;
  }
}

/**
 * Payment pages have turns of their own, so that a tenant that sends too much to the APIs keeps no payer from paying,
 * and the payers of one tenant do not keep out those of another.
 */
const pageLimits = {
  ...{ slots: 8, ofTenant: 8, guaranteed: 4 },
  ...{ ticketsOfTenant: 200, tickets: 1_000, milliseconds: 2_000 },
};

/** The part of the limits that is used while several tenants have requests: then each waits for less work of others. */
const contendedShare = 1 / 4;
/** That part of a limit while several tenants have requests, and at least `min` of it. */
const contendedOf = (limit: number, min: number) => Math.max(Math.ceil(limit * contendedShare), Math.min(limit, min));

/**
 * The requests in flight. Each is counted for its tenant and mode as soon as its key is known and its body is there: a
 * sender of slow bodies must not use up the places of its tenant. It takes a turn then, and gives it back when its
 * answer is ready, or when the request ends in any other way. Bodies that have still to arrive are bounded apart.
 */
export class InFlight {
  readonly #apis: RequestQueue;
  readonly #pages: RequestQueue;
  readonly #delay = new LoopDelay();

  constructor(
    config: Config,
    private readonly secrets: Secrets,
  ) {
    const slots = config.REQUEST_SLOTS;
    const overloaded = () => this.#delay.milliseconds > config.LOOP_DELAY_MILLISECONDS_MAX;
    const limits = {
      slots,
      ofTenant: slots,
      // As many again are kept for tenants that have fewer than their share.
      guaranteed: slots,
      ticketsOfTenant: config.REQUESTS_OF_TENANT_MAX,
      tickets: config.REQUESTS_MAX,
      contended: {
        slots: contendedOf(slots, 4),
        ticketsOfTenant: contendedOf(config.REQUESTS_OF_TENANT_MAX, 100),
      },
      milliseconds: config.WAIT_MILLISECONDS_MAX,
    };
    this.#apis = new RequestQueue('requests', limits, overloaded);
    this.#pages = new RequestQueue('pages', pageLimits, overloaded);
  }

  /** The requests now, and the delay of the event loop by which they are admitted. */
  get load() {
    return {
      working: this.#apis.working,
      inFlight: this.#apis.tickets,
      pages: this.#pages.tickets,
      loopDelaySeconds: this.#delay.milliseconds / 1_000,
    };
  }

  /** Whether the next request of a caller would be refused: its tenant has too many, or all tenants together. */
  isFull({ tenantId, livemode }: Caller): boolean {
    return this.#apis.isFull(`${tenantId}${livemode}`);
  }

  /** Counts a request of a caller, or refuses it. A body is awaited from its account. */
  enter(request: FastifyRequest, reply: FastifyReply, { tenantId, livemode, actingAccountId }: Caller): void {
    this.#enter(request, reply, this.#apis, `${tenantId}${livemode}`, actingAccountId);
    const objects = request.routeOptions.config.objects?.(request);
    if (objects !== undefined) request.ticket?.weigh(turnsOf(objects));
  }

  /** Does a piece of the work of a caller's stream in a turn of its own. `ended` gives up the wait for it. */
  during<T>({ tenantId, livemode }: Caller, work: (ticket: RequestTicket) => Promise<T>, ended?: Ended): Promise<T> {
    return this.#apis.during(`${tenantId}${livemode}`, work, ended);
  }

  /** Counts a request of a payment page, for the tenant of its address. A body is awaited for the checkout. */
  enterPage(request: FastifyRequest, reply: FastifyReply): void {
    const { token = '' } = request.params as { token?: string };
    const { tenantId = '', id = '' } = placeOf(this.secrets, token) ?? {};
    this.#enter(request, reply, this.#pages, tenantId, id);
  }

  #enter(request: FastifyRequest, reply: FastifyReply, queue: RequestQueue, tenant: string, sender: string): void {
    // The client has disconnected while the key was looked up: its 'close' event has already fired.
    if (reply.raw.destroyed) throw clientLeft();
    // The ticket is closed when the connection for the answer closes, see lifetime.ts.
    const ticket = queue.enter(tenant, hasBody(request) ? sender : undefined);
    request.ticket = ticket;
    if (request.budget) request.budget.ticket = ticket;
  }

  /** Adds the hooks by which requests take turns and give them back. */
  addTo(app: FastifyInstance): void {
    app.decorateRequest('ticket', null);
    app.addHook('preValidation', (request, _, done) => {
      if (request.ticket && !request.routeOptions.config.streamed) request.ticket.take(done);
      else done();
    });
    // The answer is ready: a client that reads it slowly keeps no turn.
    app.addHook('onSend', (request, _, __, done) => {
      request.ticket?.release();
      done();
    });
    app.addHook('onClose', async () => this.#delay.close());
  }
}
