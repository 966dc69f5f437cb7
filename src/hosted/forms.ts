import { isDeepStrictEqual } from 'node:util';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../errors/problems.js';
import { clientLeft } from '../limits/budget.js';
import { address } from '../resources/address/table.js';
import type { CheckoutPlace } from '../resources/checkout/link.js';
import {
  type PaymentMethodDetails,
  type TransactionPaymentMethod,
  type TransactionRow,
  transaction,
} from '../resources/transaction/table.js';
import { type Acquirer, acquirerOf, type Decision, type Instrument, isSandbox } from './acquirer.js';
import type { Answers, Hosted, Opened } from './answers.js';
import { cardDetails, cardOf } from './card.js';
import { payerScope, type Session } from './session.js';
import type { Message } from './view/layout.js';
import { payeeName } from './view/text.js';

interface Form {
  Params: { token: string };
}

const attemptPattern = /^[0-9a-f-]{36}-(card|upi)$/;

/** Registers the forms of a payment page. Each begins an attempt to pay or continues one. */
export function formRoutes(app: FastifyInstance, answers: Answers, options: object): void {
  const forms = new Forms(answers);
  app.post<Form>('/checkout/:token/upi', options, (request, reply) => forms.upi(request, reply));
  app.post<Form>('/checkout/:token/card', options, (request, reply) => forms.card(request, reply));
  app.post<{ Params: { token: string; id: string } }>('/checkout/:token/upi/:id', options, (request, reply) =>
    forms.sandboxUpi(request, reply),
  );
}

class Forms {
  readonly #hosted: Hosted;
  /** The answers about UPI addresses that acquirers have still to give, by the address of the account. */
  readonly #asked = new Map<string, Promise<string | undefined>>();

  constructor(private readonly answers: Answers) {
    this.#hosted = answers.hosted;
  }

  async upi(request: FastifyRequest<Form>, reply: FastifyReply): Promise<FastifyReply> {
    const { token } = request.params;
    const opened = await this.answers.open(token);
    if (!opened) return this.answers.missing(reply);
    const { place } = opened;
    const acquirer = this.#acquirer(place);
    if (!acquirer) return this.answers.show(reply.code(503), opened);
    const attemptKey = attemptOf(request.body, 'upi');
    if (!attemptKey) return this.answers.back(reply, token);
    if (!(await this.#hasVpa(request, reply, opened, acquirer)))
      return this.answers.show(reply.code(503), opened, { upi: false }, true);
    const begun = await this.#begin(request, place, { attemptKey, paymentMethod: 'upi' });
    return begun instanceof DomainError ? this.answers.refused(reply, opened, begun) : this.answers.back(reply, token);
  }

  /**
   * Whether the account that is paid has a UPI address. Only with one a code has a payee; in live mode the acquirer is
   * asked for it before the account's first code.
   */
  async #hasVpa(
    request: FastifyRequest,
    reply: FastifyReply,
    { place, session }: Opened,
    acquirer: Acquirer,
  ): Promise<boolean> {
    const { id, vpa } = session.address;
    if (vpa !== null) return true;
    const given = await this.#answerOf(request, () => this.#vpaOf(session, acquirer));
    if (!given) return false;
    await turnAgain(request, reply);
    const scope = payerScope(this.#hosted.database, place);
    await scope.write('assign_vpa', address, { requestId: request.id }, { id, vpa: given });
    return true;
  }

  /** Asks the acquirer for the UPI address of an account, once for all payers that wait for it. */
  #vpaOf(session: Session, acquirer: Acquirer): Promise<string | undefined> {
    const { id } = session.address;
    const asked =
      this.#asked.get(id) ??
      (async () => acquirer.vpaOf?.({ id, name: payeeName(session) }))().finally(() => this.#asked.delete(id));
    this.#asked.set(id, asked);
    return asked;
  }

  async card(request: FastifyRequest<Form>, reply: FastifyReply): Promise<FastifyReply> {
    const { token } = request.params;
    const opened = await this.answers.open(token);
    if (!opened) return this.answers.missing(reply);
    const { place } = opened;
    const acquirer = this.#acquirer(place);
    if (!acquirer) return this.answers.show(reply.code(503), opened);
    const attemptKey = attemptOf(request.body, 'card');
    const form = (request.body ?? {}) as Record<string, string>;
    if (!isSandbox(place.livemode, acquirer))
      return this.#tokenCard(request, reply, opened, acquirer, form, attemptKey);
    if (!attemptKey) return this.answers.back(reply, token);
    const read = cardOf(form);
    const fault = 'card' in read ? acquirer.fault(read) : undefined;
    const errors = 'errors' in read ? read.errors : fault ? { number: fault } : undefined;
    // The page never shows the card number or the code again, whichever field the payer typed them into.
    const again = { expiry: dateOnly(form.expiry), name: lettersOnly(form.name) };
    if (errors) return this.answers.show(reply.code(400), opened, { card: { errors, ...again } }, true);
    const { card } = read as Exclude<typeof read, { errors: unknown }>;
    const details = cardDetails(card);
    const begun = await this.#begin(request, place, { attemptKey, paymentMethod: 'card', details });
    if (begun instanceof DomainError) return this.answers.refused(reply, opened, begun);
    await this.#submit(request, place, begun, { card }, details);
    return this.answers.back(reply, token);
  }

  /** Pays with the token of the acquirer's card fields. A form that has a card number is refused before it is used. */
  async #tokenCard(
    request: FastifyRequest<Form>,
    reply: FastifyReply,
    opened: Opened,
    { cardFields }: Acquirer,
    form: Record<string, string>,
    attemptKey: string | undefined,
  ): Promise<FastifyReply> {
    const { token, place } = opened;
    const field = Object.keys(form).find((name) => cardFieldNames.has(name) || looksLikeCard(form[name] ?? ''));
    if (field !== undefined) return this.answers.message(reply.code(400), cardRefused(field, `/checkout/${token}`));
    const instrument = { token: form.token ?? '' };
    if (!attemptKey || !cardFields) return this.answers.back(reply, token);
    const known = tokenPattern.test(instrument.token);
    const card = known ? await this.#answerOf(request, () => cardFields.cardOf(instrument.token)) : undefined;
    if (!card) {
      const [status, cardFieldsError] = card === null ? [503, cardUnchecked] : [400, cardUnread];
      return this.answers.show(reply.code(status), opened, { cardFieldsError }, true);
    }
    await turnAgain(request, reply);
    const details = { card };
    const begun = await this.#begin(request, place, { attemptKey, paymentMethod: 'card', details });
    if (begun instanceof DomainError) return this.answers.refused(reply, opened, begun);
    await this.#submit(request, place, begun, instrument, details);
    return this.answers.back(reply, token);
  }

  /** In the sandbox the page also acts as the payer's app: it pays a code with a UPI address of the sandbox. */
  async sandboxUpi(
    request: FastifyRequest<{ Params: { token: string; id: string } }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const { token, id } = request.params;
    const opened = await this.answers.open(token);
    if (!opened) return this.answers.missing(reply);
    const { place, session } = opened;
    const acquirer = this.#acquirer(place);
    const attempt = session.attempts.find((t) => t.id === id && t.paymentMethod === 'upi');
    if (!acquirer || !isSandbox(place.livemode, acquirer) || !attempt) return this.answers.missing(reply);
    const vpa = String((request.body as Record<string, string> | undefined)?.vpa ?? '').trim();
    const vpaError = acquirer.fault({ vpa });
    if (vpaError) return this.answers.show(reply.code(400), opened, { vpaError });
    const details = { upi: { vpa } };
    // As for a card, the attempt is marked as submitted before the submission, so that a worker can poll its status.
    const stored = await this.#store(request, place, { id, details, status: 'processing' });
    // Only one payer pays a code: the one whose address was stored first.
    if (isDeepStrictEqual(stored.paymentMethodDetails, details))
      await this.#submit(request, place, attempt, { vpa }, details);
    return this.answers.back(reply, token);
  }

  #acquirer({ livemode }: CheckoutPlace) {
    return acquirerOf(livemode, this.#hosted.acquirers);
  }

  /** Begins an attempt, or returns the reason why none can begin now. */
  async #begin(
    request: FastifyRequest,
    place: CheckoutPlace,
    args: { attemptKey: string; paymentMethod: TransactionPaymentMethod; details?: PaymentMethodDetails },
  ): Promise<TransactionRow | DomainError> {
    const all = { ...args, checkoutId: place.id, seconds: this.#hosted.terms.attemptSeconds };
    const scope = payerScope(this.#hosted.database, place);
    try {
      return await scope.write('begin_transaction', transaction, { requestId: request.id }, all);
    } catch (error) {
      if (error instanceof DomainError && error.status < 500) return error;
      throw error;
    }
  }

  #store(
    request: FastifyRequest,
    place: CheckoutPlace,
    decision: Decision & { id: string; details: PaymentMethodDetails },
  ): Promise<TransactionRow> {
    const scope = payerScope(this.#hosted.database, place);
    return scope.write('decide_transaction', transaction, { requestId: request.id }, decision);
  }

  /**
   * Submits an attempt to the acquirer and stores its answer. When the answer is lost, a worker polls for it. What is
   * stored is one statement and needs no turn: it is stored however many payers wait, and when this one has left.
   */
  async #submit(
    request: FastifyRequest,
    place: CheckoutPlace,
    attempt: TransactionRow,
    instrument: Instrument,
    details: PaymentMethodDetails,
  ): Promise<void> {
    const decision = await this.#answerOf(request, () => this.#acquirer(place)!.submit(attempt, instrument));
    if (decision) await this.#store(request, place, { id: attempt.id, details, ...decision });
  }

  /**
   * The answer of an acquirer, or null when it gives none. The turn ends before: while an acquirer does not answer,
   * payers who repeat a form would keep all others from their pages.
   */
  async #answerOf<T>(request: FastifyRequest, ask: () => Promise<T>): Promise<T | null> {
    request.ticket?.release();
    try {
      return await ask();
    } catch (error) {
      this.#hosted.onFault(error, request.id);
      return null;
    }
  }
}

/** Takes a turn for the next step of a form, after the acquirer has answered. */
async function turnAgain(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (reply.raw.destroyed) throw clientLeft();
  await request.ticket?.begun();
}

/** The fields of a card form of our own, which live mode refuses. */
const cardFieldNames = new Set(['number', 'expiry', 'code', 'name']);
const tokenPattern = /^[\w.:~-]{8,255}$/;
const cardUnread = 'The card could not be read. You have not been charged. Please enter it again.';
const cardUnchecked = 'The card cannot be checked at the moment. You have not been charged. Please try again later.';

/** Whether a text is as long as a card number and has nothing but digits and separators. */
function looksLikeCard(text: string): boolean {
  return /^[\s\d.-]+$/.test(text) && text.replaceAll(/\D/g, '').length >= 12;
}

/** The answer to a live form with a field of a card. It names the field and does not repeat its content. */
function cardRefused(field: string, path: string): Message {
  const name = cardFieldNames.has(field) || field === 'token' ? `The field ${field}` : 'A field of the form';
  return {
    title: 'Card numbers are not accepted here',
    text:
      `${name} was refused and not stored. In live mode a card is entered in the form of the payment company, ` +
      'which this page shows.',
    way: { path, words: 'Back to the payment page' },
  };
}

/** The text of the date field if it is a date, otherwise an empty text. */
function dateOnly(text = ''): string {
  return /^(\d{1,2}\s*\/\s*\d{2,4}|\d{1,2}\s+\d{2,4}|\d{4}-\d{1,2})$/.test(text.trim()) ? text : '';
}

/** The text of the name field if it has no digit of any script, otherwise an empty text. */
function lettersOnly(text = ''): string {
  return text.length > 100 || /\p{Nd}/u.test(text) ? '' : text;
}

/** The key that a form gives its attempt. A form that is sent twice is the same attempt. */
function attemptOf(body: unknown, method: 'card' | 'upi'): string | undefined {
  const { attempt } = (body ?? {}) as Record<string, string>;
  return attemptPattern.exec(attempt ?? '')?.[1] === method ? attempt : undefined;
}
