import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type CheckoutPlace, placeOf } from '../resources/checkout/link.js';
import type { CheckoutTerms } from '../resources/checkout/terms.js';
import type { Database } from '../db/database.js';
import { contentOf } from '../resources/file/content.js';
import { DomainError, retryAfter } from '../request/problems.js';
import type { Secrets } from '../db/secrets.js';
import {
  type PaymentMethodDetails,
  type TransactionPaymentMethod,
  type TransactionRow,
  transaction,
} from '../resources/transaction/table.js';
import { acquirerOf, type Acquirers, type Decision, type Instrument } from './acquirer.js';
import { cardDetails, cardOf } from './card.js';
import { payerScope, type Session, sessionOf, stateAt, stateOf } from './session.js';
import { checkoutPage } from './view/checkout-page.js';
import { type Message, messagePage } from './view/layout.js';
import type { PageOptions } from './view/options.js';
import { CheckoutEvents } from './event-stream.js';

/** What the pages are built from. */
export interface Hosted {
  database: Database;
  secrets: Secrets;
  terms: CheckoutTerms;
  acquirers: Acquirers;
  /** Called with a fault of ours, to be logged; the payer is told nothing of it. */
  onFault(error: unknown, requestId: string): void;
}

interface OfCheckout {
  Params: { token: string };
  Querystring: { pay?: string };
}

const heartbeatMilliseconds = 15_000;
const formPattern = /^(card|upi|upi\/[^/]+)$/;
const attemptPattern = /^[0-9a-f-]{36}-(card|upi)$/;

// Nothing but ourselves: no other host, no inline script or style, no frame around it.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const assets = Object.fromEntries(
  (['page.css', 'page.js'] as const).map((name) => {
    const content = fs.readFileSync(new URL(`./assets/${name}`, import.meta.url));
    const hash = createHash('sha256').update(content).digest('base64url').slice(0, 16);
    return [name, { content, path: `/checkout/assets/${name}?v=${hash}` }];
  }),
) as Record<'page.css' | 'page.js', { content: Buffer; path: string }>;
const assetPaths = { css: assets['page.css'].path, js: assets['page.js'].path };

const unreadable: Message = { title: 'This could not be read', text: 'Please open the payment link again.' };
const notValid: Message = {
  title: 'This payment link is not valid',
  text: 'Check that the address is complete, or ask for a new link.',
};

/** What goes with every answer here, besides what goes with every answer of the gateway. */
const pageHeaders = { 'content-security-policy': policy, 'x-robots-tag': 'noindex, nofollow' };

/** The answer to an address that the framework itself cannot read, such as one that was cut within a letter. */
export function mangledPage(reply: FastifyReply): FastifyReply {
  return reply.code(404).headers(pageHeaders).type('text/html; charset=utf-8').send(messagePage(assetPaths, notValid));
}

/**
 * The hosted payment pages. They work as plain forms and links; the script only makes them smoother. Whoever has a page's
 * address may see it and pay; it shows what the payer must know, and nothing else of the account.
 * Silent: the page. Spec: Checkout.
 */
export function hostedPages(app: FastifyInstance, { database, secrets, terms, acquirers, onFault }: Hosted): void {
  const events = new CheckoutEvents(database);
  const streams = new Set<() => void>();
  const config = { open: true } as const;
  let closing = false;

  // A form is what a browser makes of one; anything else has no fields that are text.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_: FastifyRequest, text: string) => Object.fromEntries(new URLSearchParams(text)),
  );
  app.addHook('onRequest', async (_, reply) => {
    reply.headers(pageHeaders);
  });
  app.addHook('preClose', async () => {
    closing = true;
    for (const end of streams) end();
  });
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const status = error instanceof DomainError ? error.status : (error.statusCode ?? 500);
    if (status >= 500 && !(error instanceof DomainError)) onFault(error, request.id);
    reply.code(status);
    const wait = error instanceof DomainError ? retryAfter(error.problems) : undefined;
    if (wait !== undefined) reply.header('retry-after', String(wait));
    const { token = '' } = (request.params ?? {}) as { token?: string };
    const path = placeOf(secrets, token) && `/checkout/${token}`;
    // Nobody knows what became of a form that met with a fault: who sent it must not be led to pay again.
    if (status >= 500)
      return page(reply, {
        ...(request.method === 'POST'
          ? {
              title: 'We are checking your payment',
              text: 'Something went wrong on our side, and we do not know yet whether you have paid. Please do not pay again: this page will show the result.',
            }
          : {
              title: 'This page could not be loaded',
              text: 'Something went wrong on our side. If you have already paid, please do not pay again: your payment is not lost.',
            }),
        ...(path && {
          way: { path, words: request.method === 'POST' ? 'Check the payment status' : 'Load the page again' },
        }),
      });
    if (error instanceof DomainError && error.problems[0]?.code === 'https_required')
      return page(reply, { title: 'This address is not safe', text: 'Open it again with https:// at its beginning.' });
    return page(reply, { ...unreadable, ...(path && { way: { path, words: 'Back to the payment page' } }) });
  });

  const page = (reply: FastifyReply, message: Message) =>
    reply.type('text/html; charset=utf-8').send(messagePage(assetPaths, message));
  const missing = (reply: FastifyReply) => page(reply.code(404), notValid);

  /** The session of an address, or undefined when there is none. */
  const open = async (token: string): Promise<{ place: CheckoutPlace; session: Session } | undefined> => {
    const place = placeOf(secrets, token);
    const session = place && (await sessionOf(payerScope(database, place), place.id));
    return place && session ? { place, session } : undefined;
  };

  const show = (
    reply: FastifyReply,
    token: string,
    session: Session,
    more: Partial<PageOptions> = {},
    again = false,
  ) => {
    const { checkout, attempts } = session;
    const decided = stateOf(checkout, attempts);
    // Who wants to pay another way gets the forms, though a code still waits.
    const state = again && decided.name === 'awaiting' ? ({ name: 'summary' } as const) : decided;
    const takesMoney = acquirerOf(checkout.livemode, acquirers) !== undefined;
    const options = { path: `/checkout/${token}`, assets: assetPaths, attemptKey: randomUUID(), takesMoney, ...more };
    return reply.type('text/html; charset=utf-8').send(checkoutPage(session, state, options));
  };

  /** Begins an attempt, or says why there can be none now. */
  const begin = async (
    request: FastifyRequest,
    place: CheckoutPlace,
    args: { attemptKey: string; paymentMethod: TransactionPaymentMethod; details?: PaymentMethodDetails },
  ): Promise<TransactionRow | DomainError> => {
    try {
      const all = { ...args, checkoutId: place.id, seconds: terms.attemptSeconds };
      return await payerScope(database, place).write('begin_transaction', transaction, { requestId: request.id }, all);
    } catch (error) {
      if (error instanceof DomainError && error.status < 500) return error;
      throw error;
    }
  };

  const note = (
    request: FastifyRequest,
    place: CheckoutPlace,
    decision: Decision & { id: string; details: PaymentMethodDetails },
  ) => payerScope(database, place).write('decide_transaction', transaction, { requestId: request.id }, decision);

  /** Hands an attempt to the acquirer, and writes down what it says; where that is lost, a worker asks for it. */
  const submit = async (
    request: FastifyRequest,
    place: CheckoutPlace,
    id: string,
    instrument: Instrument,
    details: PaymentMethodDetails,
  ) => {
    const decision = await acquirerOf(place.livemode, acquirers)!.submit(id, instrument);
    await note(request, place, { id, details, ...decision });
  };

  const back = (reply: FastifyReply, token: string) => reply.redirect(`/checkout/${token}`, 303);

  /** What a form is answered where nothing can be begun: the page as it is, which says why. */
  const refused = (reply: FastifyReply, token: string, session: Session, domainError: DomainError) =>
    domainError.problems[0]?.code === 'rate_limit_exceeded'
      ? show(reply.code(429), token, session, { capped: true }, true)
      : back(reply, token);

  app.get<OfCheckout>('/checkout/:token', { config }, async (request, reply) => {
    const { token } = request.params;
    const opened = await open(token);
    return opened ? show(reply, token, opened.session, {}, request.query.pay === 'again') : missing(reply);
  });

  app.post<OfCheckout>('/checkout/:token/upi', { config }, async (request, reply) => {
    const { token } = request.params;
    const opened = await open(token);
    if (!opened) return missing(reply);
    const { place, session } = opened;
    if (!acquirerOf(place.livemode, acquirers)) return show(reply.code(503), token, session);
    const attemptKey = attemptOf(request.body, 'upi');
    if (!attemptKey) return back(reply, token);
    const begun = await begin(request, place, { attemptKey, paymentMethod: 'upi' });
    return begun instanceof DomainError ? refused(reply, token, session, begun) : back(reply, token);
  });

  app.post<OfCheckout>('/checkout/:token/card', { config }, async (request, reply) => {
    const { token } = request.params;
    const opened = await open(token);
    if (!opened) return missing(reply);
    const { place, session } = opened;
    const acquirer = acquirerOf(place.livemode, acquirers);
    if (!acquirer) return show(reply.code(503), token, session);
    const attemptKey = attemptOf(request.body, 'card');
    if (!attemptKey) return back(reply, token);
    const form = request.body as Record<string, string>;
    const read = cardOf(form);
    const fault = 'card' in read ? acquirer.fault(read) : undefined;
    const errors = 'errors' in read ? read.errors : fault ? { number: fault } : undefined;
    // The number and the code are never written into a page, whatever field they were typed into.
    const again = { expiry: dateOnly(form.expiry), name: lettersOnly(form.name) };
    if (errors) return show(reply.code(400), token, session, { card: { errors, ...again } }, true);
    const { card } = read as Exclude<typeof read, { errors: unknown }>;
    const details = cardDetails(card);
    const begun = await begin(request, place, { attemptKey, paymentMethod: 'card', details });
    if (begun instanceof DomainError) return refused(reply, token, session, begun);
    await submit(request, place, begun.id, { card }, details);
    return back(reply, token);
  });

  // In test mode the page is the payer's app, too: it pays a code by a UPI address of the sandbox.
  app.post<{ Params: { token: string; id: string } }>(
    '/checkout/:token/upi/:id',
    { config },
    async (request, reply) => {
      const { token, id } = request.params;
      const opened = await open(token);
      if (!opened) return missing(reply);
      const { place, session } = opened;
      const acquirer = place.livemode ? undefined : acquirerOf(place.livemode, acquirers);
      const attempt = session.attempts.find((t) => t.id === id && t.paymentMethod === 'upi');
      if (!acquirer || !attempt) return missing(reply);
      const vpa = String((request.body as Record<string, string> | undefined)?.vpa ?? '').trim();
      const vpaError = acquirer.fault({ vpa });
      if (vpaError) return show(reply.code(400), token, session, { vpaError });
      const details = { upi: { vpa } };
      // Like a card's attempt, this is known to be with the acquirer before it is, so that its answer can be asked for.
      const noted = await note(request, place, { id, details, status: 'processing' });
      // One code is paid by one payer: whose address was noted first.
      if (isDeepStrictEqual(noted.paymentMethodDetails, details)) await submit(request, place, id, { vpa }, details);
      return back(reply, token);
    },
  );

  app.get<OfCheckout>('/checkout/:token/state', { config }, async (request, reply) => {
    const place = placeOf(secrets, request.params.token);
    const state = place && (await stateAt(payerScope(database, place), place.id));
    return state === undefined ? reply.code(404).send({ state: null }) : { state };
  });

  app.get<OfCheckout>('/checkout/:token/events', { config: { ...config, lasting: true } }, async (request, reply) => {
    const place = placeOf(secrets, request.params.token);
    if (!place || (await stateAt(payerScope(database, place), place.id)) === undefined)
      return reply.code(404).send({ state: null });
    // A page that gets no stream asks from time to time.
    if (closing || !events.admits(place)) return reply.code(503).header('retry-after', '5').send({ state: null });
    if (request.method === 'HEAD') return reply.type('text/event-stream').send();
    reply.hijack();
    // Who has gone meanwhile will not say so again.
    if (reply.raw.destroyed) return;
    const headers = { ...reply.getHeaders(), 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };
    reply.raw.writeHead(200, headers as Record<string, string>);
    reply.raw.write('retry: 2000\n\n');
    const stop = events.subscribe(place, (state) => reply.raw.write(`data: ${state}\n\n`));
    const heartbeat = setInterval(() => reply.raw.write(': still here\n\n'), heartbeatMilliseconds);
    const end = () => {
      stop();
      clearInterval(heartbeat);
      streams.delete(end);
      reply.raw.end();
    };
    streams.add(end);
    reply.raw.on('close', end);
  });

  app.get<OfCheckout>('/checkout/:token/logo', { config }, async (request, reply) => {
    const opened = await open(request.params.token);
    const logo = opened?.session.logo;
    if (!opened || !logo) return missing(reply);
    const content = await contentOf(payerScope(database, opened.place), logo.id);
    reply
      .header('content-security-policy', "default-src 'none'; sandbox")
      .header('cache-control', 'private, max-age=300');
    return reply.type(logo.contentType).send(content);
  });

  for (const [name, { content }] of Object.entries(assets)) {
    const type = name.endsWith('.css') ? 'text/css' : 'text/javascript';
    app.get(`/checkout/assets/${name}`, { config }, (_, reply) =>
      reply.type(`${type}; charset=utf-8`).header('cache-control', 'public, max-age=31536000, immutable').send(content),
    );
  }

  // Whatever else an address may be: a form that is opened again by its address, a link that was cut or grew, another method.
  app.all<{ Params: { '*': string } }>('/checkout/*', { config }, (request, reply) => {
    const [token = '', ...rest] = request.params['*'].split('/');
    const form = formPattern.test(rest.join('/'));
    if (!['GET', 'HEAD'].includes(request.method))
      return page(reply.code(405).header('allow', form ? 'POST' : 'GET, HEAD'), unreadable);
    return form ? back(reply, encodeURIComponent(token)) : missing(reply);
  });
}

/** What was typed for a date, if it is one. */
function dateOnly(text = ''): string {
  return /^\s*(\d{1,2}\s*[/ ]\s*\d{2,4}|\d{4}-\d{1,2})\s*$/.test(text) ? text : '';
}

/** What was typed for a name, if it has no digit of any script. */
function lettersOnly(text = ''): string {
  return text.length > 100 || /\p{Nd}/u.test(text) ? '' : text;
}

/** The name that a form gives the attempt; sent twice, it is the same attempt. */
function attemptOf(body: unknown, method: 'card' | 'upi'): string | undefined {
  const { attempt } = (body ?? {}) as Record<string, string>;
  return attemptPattern.exec(attempt ?? '')?.[1] === method ? attempt : undefined;
}
