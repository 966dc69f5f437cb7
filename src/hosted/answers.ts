import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type CheckoutPlace, placeOf } from '../resources/checkout/link.js';
import type { CheckoutTerms } from '../resources/checkout/terms.js';
import type { ScopeSource } from '../db/doors.js';
import type { Secrets } from '../config/secrets.js';
import { DomainError, retryAfter, sentenceV1 } from '../errors/problems.js';
import { type Acquirers, acquirerOf, isSandbox } from './acquirer.js';
import { formLimits } from './form-body.js';
import { assetPaths } from './page-assets.js';
import { policyOf } from './page-policy.js';
import { payerScope, type Session, sessionOf, stateOf } from './session.js';
import { checkoutPage } from './view/checkout-page.js';
import { type Message, messagePage } from './view/layout.js';
import type { PageOptions } from './view/options.js';

/** The parts from which the pages are built. */
export interface Hosted {
  database: ScopeSource;
  secrets: Secrets;
  terms: CheckoutTerms;
  acquirers: Acquirers;
  /** Called with an internal error, to log it. The payer does not see its details. */
  onFault(error: unknown, requestId: string): void;
}

/** A checkout that was found by the token in the page's address. */
export interface Opened {
  token: string;
  place: CheckoutPlace;
  session: Session;
}

/** The message for a request that cannot be read. */
export const unreadable: Message = { title: 'This could not be read', text: 'Please open the payment link again.' };
/** The message for a form that is longer than any that a page sends. */
const tooLong: Message = {
  title: 'This form is too long',
  text: `The form has more than ${formLimits.bytes} bytes. It was not read, and you have not been charged.`,
};
/** The message for an address without a checkout. */
export const notValid: Message = {
  title: 'This payment link is not valid',
  text: 'Check that the address is complete, or ask for a new link.',
};

/** The answers of the payment pages: the page of a checkout, a page with one message, or a redirect to the page. */
export class Answers {
  constructor(readonly hosted: Hosted) {}

  /** The checkout of a token, or undefined when it has none. */
  async open(token: string): Promise<Opened | undefined> {
    const { database, secrets } = this.hosted;
    const place = placeOf(secrets, token);
    const session = place && (await sessionOf(payerScope(database, place), place.id));
    return place && session ? { token, place, session } : undefined;
  }

  /** The page of a checkout in its present state; `again` shows the forms to a payer who wants to pay another way. */
  show(reply: FastifyReply, { token, session }: Opened, more: Partial<PageOptions> = {}, again = false): FastifyReply {
    const { checkout, attempts } = session;
    const decided = stateOf(checkout, attempts);
    const acquirer = acquirerOf(checkout.livemode, this.hosted.acquirers);
    const another = again && decided.name === 'awaiting';
    const state = another ? ({ name: 'summary' } as const) : decided;
    const options: PageOptions = {
      path: `/checkout/${token}`,
      assets: assetPaths,
      attemptKey: randomUUID(),
      takesMoney: acquirer !== undefined,
      sandbox: isSandbox(checkout.livemode, acquirer),
      upi: session.address.vpa !== null || acquirer?.vpaOf !== undefined,
      cardFields: acquirer?.cardFields?.url,
      again: another,
      phone: isPhone(reply.request.headers),
      ...more,
    };
    if (options.cardFields !== undefined)
      reply.header('content-security-policy', policyOf(new URL(options.cardFields).origin));
    return reply.type('text/html; charset=utf-8').send(checkoutPage(session, state, options));
  }

  message(reply: FastifyReply, message: Message): FastifyReply {
    return reply.type('text/html; charset=utf-8').send(messagePage(assetPaths, message));
  }

  missing(reply: FastifyReply): FastifyReply {
    return this.message(reply.code(404), notValid);
  }

  back(reply: FastifyReply, token: string): FastifyReply {
    return reply.redirect(`/checkout/${token}`, 303);
  }

  /** The answer to a form when no attempt can begin: the page in its present state, which shows the reason. */
  refused(reply: FastifyReply, opened: Opened, domainError: DomainError): FastifyReply {
    return domainError.problems[0]?.code === 'rate_limit_exceeded'
      ? this.show(reply.code(429), opened, { capped: true }, true)
      : this.back(reply, opened.token);
  }

  /** The answer to an error: an internal one, or one of the request. */
  failed(error: Error & { statusCode?: number }, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const domainError = error instanceof DomainError ? error : undefined;
    const status = domainError?.status ?? error.statusCode ?? 500;
    if (status >= 500 && !domainError) this.hosted.onFault(error, request.id);
    reply.code(status);
    const wait = domainError && retryAfter(domainError.problems);
    if (wait !== undefined) reply.header('retry-after', String(wait));
    const { token = '' } = (request.params ?? {}) as { token?: string };
    const path = placeOf(this.hosted.secrets, token) && `/checkout/${token}`;
    const posted = request.method === 'POST';
    const link = (words: string) => path && { way: { path, words } };
    if (status >= 500)
      return this.message(reply, {
        // After an internal error the outcome of a form is unknown, so the page must not invite the payer to pay again.
        ...(posted ? outcomeUnknown : notLoaded),
        ...link(posted ? 'Check the payment status' : 'Load the page again'),
      });
    if (domainError?.problems[0]?.code === 'https_required')
      return this.message(reply, {
        title: 'This address is not safe',
        text: 'Open it again with https:// at its beginning.',
      });
    const text = domainError?.problems[0]?.field === 'form' ? sentenceV1(domainError.problems[0]) : undefined;
    if (text !== undefined || status === 413)
      return this.message(reply, { ...tooLong, ...(text && { text }), ...link('Back to the payment page') });
    return this.message(reply, { ...unreadable, ...link('Back to the payment page') });
  }
}

/** Whether a browser says that it is on a phone, by its client hint or by its name. */
function isPhone({ 'sec-ch-ua-mobile': hint, 'user-agent': agent }: IncomingHttpHeaders): boolean {
  return hint === undefined ? /Mobi|Android|iPhone/.test(agent ?? '') : hint === '?1';
}

const outcomeUnknown: Message = {
  title: 'We are checking your payment',
  text:
    'Something went wrong on our side, and we do not know yet whether you have paid. Please do not pay again: ' +
    'this page will show the result.',
};
const notLoaded: Message = {
  title: 'This page could not be loaded',
  text:
    'Something went wrong on our side. If you have already paid, please ' +
    'do not pay again: your payment is not lost.',
};
