import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { AdapterClient, AdapterError } from './client.js';
import { type AttemptState, bodyBytesMax, type RefundState } from './protocol.js';
import { signedReport } from './reports.js';

/** One rule of the protocol, and whether the adapter keeps it. */
export interface Checked {
  check: string;
  result: 'passed' | 'failed' | 'skipped';
  detail: string;
}

/** What the checks need to know. */
export interface CheckOptions {
  url: string;
  secret: string;
  /** A token of the card fields with which a payment succeeds; without it, nothing is charged or refunded. */
  token?: string | undefined;
  /** What is charged. */
  amount: string;
  currency: string;
  /** The port at which reports of the adapter are awaited; without it, none is. */
  listen?: number | undefined;
  /** How long an end, and a report, are awaited. */
  seconds: number;
}

/** What an adapter does not do as the protocol has it. */
class Broken extends Error {}
/** A check that cannot be made. */
class Skipped extends Error {}

const pollMilliseconds = 250;

/**
 * Tries an adapter: it must answer as the protocol has it, and charge and refund once. With a token it takes money, so
 * the token is one of the acquirer's own sandbox.
 */
export async function checkAdapter(options: CheckOptions): Promise<Checked[]> {
  const reports = options.listen === undefined ? undefined : await Reports.at(options.listen, options.secret);
  try {
    const run = new Conformance(options, reports);
    const checked: Checked[] = [];
    for (const [check, verify] of run.checks) checked.push({ check, ...(await resultOf(verify)) });
    return checked;
  } finally {
    reports?.close();
  }
}

async function resultOf(verify: () => Promise<string>): Promise<Omit<Checked, 'check'>> {
  try {
    return { result: 'passed', detail: await verify() };
  } catch (error) {
    const result = error instanceof Skipped ? 'skipped' : 'failed';
    return { result, detail: error instanceof Error ? error.message : String(error) };
  }
}

class Conformance {
  readonly #id = randomBytes(8).toString('hex');
  readonly #attempt = `transaction_check${this.#id}`;
  readonly #refund = `refund_check${this.#id}`;
  readonly #client: AdapterClient;
  #first: AttemptState | undefined;
  #end: AttemptState | undefined;

  constructor(
    private readonly options: CheckOptions,
    private readonly reports: Reports | undefined,
  ) {
    this.#client = new AdapterClient(options);
  }

  readonly checks: [name: string, verify: () => Promise<string>][] = [
    ['refuses another secret, and does nothing then', () => this.#otherSecret()],
    ['does not know an attempt that was never submitted', () => this.#unknown((id) => this.#client.attempt(id))],
    ['does not know a refund that was never submitted', () => this.#unknown((id) => this.#client.refund(id))],
    ['does not know a token that it never made', () => this.#unknown((id) => this.#client.card(id))],
    ['knows the card behind a token', () => this.#card()],
    ['says the same UPI address of a payee each time', () => this.#payee()],
    ['takes an attempt', () => this.#submit()],
    ['takes the same attempt again as one', () => this.#submitAgain()],
    ['says what it took', () => this.#amount()],
    ['refunds more than it took to nobody', () => this.#refundTooMuch()],
    ['takes the same refund again as one', () => this.#refundTwice()],
    ['reports an attempt, signed', () => this.#report()],
  ];

  get #body() {
    const { amount, currency, token } = this.options;
    if (token === undefined) throw new Skipped('Send --token with a token of the card fields.');
    return { amount, currency, token };
  }

  async #otherSecret(): Promise<string> {
    const other = new AdapterClient({ ...this.options, secret: `${this.options.secret}x` });
    const id = `transaction_other${this.#id}`;
    const asked = [
      await statusOf(() => other.attempt(id)),
      await statusOf(() => other.submitAttempt(id, { ...this.options, token: 'tok_00000000' })),
    ];
    if (asked.some((status) => status !== 401)) throw new Broken(`It answered ${asked.join(' and ')} instead of 401.`);
    if (await this.#client.attempt(id)) throw new Broken('It kept an attempt that it had refused.');
    return '401';
  }

  async #unknown(ask: (id: string) => Promise<unknown>): Promise<string> {
    if ((await ask(`unknown_${this.#id}`)) !== undefined) throw new Broken('It answered 200 instead of 404.');
    return '404';
  }

  async #card(): Promise<string> {
    const card = await this.#client.card(this.#body.token);
    if (!card) throw new Broken('It does not know the token that was given.');
    return `${card.brand ?? 'a card'} ${card.last4}`;
  }

  async #payee(): Promise<string> {
    const ask = () => this.#client.payee(`address_check${this.#id}`, 'Tidegate check');
    const [first, again] = [await ask(), await ask()];
    if (first?.vpa !== again?.vpa)
      throw new Broken(`The UPI address was ${first?.vpa ?? 'none'}, and then ${again?.vpa ?? 'none'}.`);
    return first?.vpa ?? 'none: pages offer no UPI';
  }

  async #submit(): Promise<string> {
    this.#first = await this.#client.submitAttempt(this.#attempt, this.#body);
    return this.#first.status;
  }

  async #submitAgain(): Promise<string> {
    if (!this.#first) throw new Skipped('No attempt was taken.');
    const again = await this.#client.submitAttempt(this.#attempt, this.#body);
    this.#end = await this.#ended(() => this.#client.attempt(this.#attempt), 'processing');
    const last = await this.#client.submitAttempt(this.#attempt, this.#body);
    if (
      last.status !== this.#end.status ||
      (this.#first.status !== 'processing' && again.status !== this.#first.status)
    )
      throw new Broken(`It was ${this.#end.status}, and submitted again ${last.status}.`);
    return this.#end.status;
  }

  async #amount(): Promise<string> {
    const { amount, currency } = this.options;
    const end = this.#end;
    if (!end) throw new Skipped('No attempt has ended.');
    if (end.status !== 'succeeded') throw new Broken(`The attempt ${end.status}; use a token with which it succeeds.`);
    if (end.amount !== amount || end.currency !== currency)
      throw new Broken(`It was asked for ${amount} ${currency}, and took ${end.amount} ${end.currency}.`);
    return `${amount} ${currency}`;
  }

  async #refundTooMuch(): Promise<string> {
    const { currency } = this.#paid();
    const body = { attempt: this.#attempt, amount: `9${this.options.amount}`, currency };
    const id = `${this.#refund}all`;
    try {
      await this.#client.submitRefund(id, body);
    } catch (error) {
      if (error instanceof AdapterError && error.status !== undefined && error.status < 500) return 'refused';
      throw error;
    }
    const { status } = await this.#ended(() => this.#client.refund(id), 'pending');
    if (status === 'succeeded') throw new Broken('It refunded more than it had taken.');
    return status;
  }

  async #refundTwice(): Promise<string> {
    const { amount, currency } = this.#paid();
    const submit = () => this.#client.submitRefund(this.#refund, { attempt: this.#attempt, amount, currency });
    const states: RefundState[] = [await submit(), await submit()];
    const asked = await this.#client.refund(this.#refund);
    if (!asked) throw new Broken('It does not know the refund that it has taken.');
    // A second refund of all of the money would fail.
    if (states.some(({ status }) => status === 'failed') || asked.status === 'failed')
      throw new Broken('The refund of all that was taken failed.');
    return asked.status;
  }

  async #report(): Promise<string> {
    const { reports } = this;
    if (!reports) throw new Skipped('Send --listen with a port to which the adapter reports.');
    this.#paid();
    const found = await waitFor(this.options.seconds, async () => reports.of(this.#attempt) ?? reports.fault);
    if (typeof found !== 'object') throw new Broken(found ?? 'No report has come.');
    return found.status;
  }

  #paid() {
    if (this.#end?.status !== 'succeeded') throw new Skipped('No attempt has succeeded.');
    return this.#end;
  }

  /** The state of an object once it is not the open one any more, or the time is over. */
  async #ended<T extends { status: string }>(ask: () => Promise<T | undefined>, open: string): Promise<T> {
    let last: T | undefined;
    await waitFor(this.options.seconds, async () => {
      last = await ask();
      return last?.status === open ? undefined : true;
    });
    if (!last) throw new Broken('It does not know what it has taken.');
    return last;
  }
}

/** The status of an answer. */
async function statusOf(ask: () => Promise<unknown>): Promise<number | undefined> {
  try {
    return (await ask()) === undefined ? 404 : 200;
  } catch (error) {
    if (error instanceof AdapterError) return error.status;
    throw error;
  }
}

async function waitFor<T>(seconds: number, ask: () => Promise<T | undefined>): Promise<T | undefined> {
  const until = performance.now() + seconds * 1_000;
  for (;;) {
    const found = await ask();
    if (found !== undefined || performance.now() > until) return found;
    await sleep(pollMilliseconds);
  }
}

/** Listens for the reports of an adapter. */
class Reports {
  readonly #attempts = new Map<string, { status: string }>();
  /** What was wrong with a report. */
  fault: string | undefined;

  private constructor(private readonly server: http.Server) {}

  static async at(port: number, secret: string): Promise<Reports> {
    const server = http.createServer((request, response) => {
      void reports.#take(request, secret).then((status) => response.writeHead(status).end('{}'));
    });
    const reports = new Reports(server);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
    return reports;
  }

  of = (attempt: string) => this.#attempts.get(attempt);

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  async #take(request: http.IncomingMessage, secret: string): Promise<number> {
    const parts: Buffer[] = [];
    let length = 0;
    for await (const part of request as AsyncIterable<Buffer>) {
      length += part.length;
      if (length > bodyBytesMax) return 400;
      parts.push(part);
    }
    try {
      const { type, data } = signedReport([secret], Buffer.concat(parts).toString(), request.headers);
      if (type === 'attempt.decided') this.#attempts.set(data.id, { status: data.status });
      return 200;
    } catch (error) {
      this.fault = (error as Error).message;
      return 401;
    }
  }
}
