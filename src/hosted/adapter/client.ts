import type { z } from 'zod';
import { type Acquirer, type Acquirers, acquirers as delivered, type Decision } from '../acquirer.js';
import type { Config } from '../../config/config.js';
import type { PaymentMethodDetails } from '../../resources/transaction/table.js';
import { Amount, amountText } from '../../types/scalars.js';
import {
  type AdapterCall,
  adapterCalls,
  answerMilliseconds,
  type AttemptState,
  bodyBytesMax,
  type newAttempt,
  type newRefund,
} from './protocol.js';

/** Where an adapter is, and how it knows the gateway. */
export interface AdapterAddress {
  url: string;
  secret: string;
  /** The address of the acquirer's card fields, if it takes cards. */
  fieldsUrl?: string | undefined;
}

/** An answer of an adapter that the protocol does not have. What it is about stays open, and is asked for again. */
export class AdapterError extends Error {
  constructor(
    message: string,
    readonly status?: number,
  ) {
    super(message);
  }
}

/** The requests of the protocol to one adapter. */
export class AdapterClient {
  constructor(
    private readonly address: Pick<AdapterAddress, 'url' | 'secret'>,
    private readonly milliseconds = answerMilliseconds,
  ) {}

  submitAttempt = (id: string, body: z.infer<typeof newAttempt>) => this.#must(adapterCalls.submitAttempt, id, body);
  attempt = (id: string) => this.#ask(adapterCalls.attempt, id);
  card = (token: string) => this.#ask(adapterCalls.card, token);
  payee = (id: string, name: string) => this.#ask(adapterCalls.payee, id, { name });
  submitRefund = (id: string, body: z.infer<typeof newRefund>) => this.#must(adapterCalls.submitRefund, id, body);
  refund = (id: string) => this.#ask(adapterCalls.refund, id);

  async #must<T extends z.ZodType>(call: AdapterCall & { answer: T }, id: string, body?: object): Promise<z.infer<T>> {
    const answer = await this.#ask(call, id, body);
    if (answer === undefined) throw new AdapterError('The acquirer answered 404.', 404);
    return answer;
  }

  /** Asks; undefined when the adapter does not know the object. */
  async #ask<T extends z.ZodType>(
    { method, path, answer, missing }: AdapterCall & { answer: T },
    id: string,
    body?: object,
  ): Promise<z.infer<T> | undefined> {
    const { url, secret } = this.address;
    const response = await fetch(`${url}${path.replace(/\{\w+\}/, encodeURIComponent(id))}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(this.milliseconds),
      ...(body && { body: JSON.stringify(body) }),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      if (response.status === 404 && missing !== undefined) return undefined;
      throw new AdapterError(`The acquirer answered ${response.status}.`, response.status);
    }
    const read = answer.safeParse(await jsonOf(response));
    if (!read.success) throw new AdapterError(`The acquirer's answer is not as the protocol has it: ${faultOf(read)}`);
    return read.data;
  }
}

/** The first thing that is wrong with a body. */
export function faultOf({ error }: { error: z.ZodError }): string {
  const [issue] = error.issues;
  return `${issue?.path.join('.') || 'body'}: ${issue?.message}`;
}

/** The JSON of a response of bounded length. */
async function jsonOf(response: Response): Promise<unknown> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > bodyBytesMax) throw new AdapterError(`The acquirer's answer has more than ${bodyBytesMax} bytes.`);
    parts.push(part);
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts)));
  } catch {
    throw new AdapterError("The acquirer's answer is not JSON in UTF-8.");
  }
}

/** What an adapter says of an attempt, as it is recorded. */
export function decisionOf(state: AttemptState): Decision & { details?: PaymentMethodDetails } {
  const details = state.details && { details: state.details };
  if (state.status === 'processing') return { status: 'processing', ...details };
  if (state.status === 'failed') return { status: 'failed', reasonCode: state.reason_code, ...details };
  const { amount, currency } = state;
  return { status: 'succeeded', amount: Amount.parseValue(amount), currency, ...details };
}

/** An acquirer behind an adapter, which speaks the protocol. */
function adapterOf(address: AdapterAddress, milliseconds?: number): Acquirer {
  const client = new AdapterClient(address, milliseconds);
  return {
    ...(address.fieldsUrl !== undefined && {
      cardFields: { url: address.fieldsUrl, cardOf: (token: string) => client.card(token) },
    }),
    // Instruments are checked by the card fields and by the payer's UPI app.
    fault: () => undefined,
    submit: async ({ id, amount, currency }, instrument) => {
      if (!('token' in instrument)) throw new Error('An adapter gets the token of a card alone.');
      return decisionOf(
        await client.submitAttempt(id, { amount: amountText(amount), currency, token: instrument.token }),
      );
    },
    pollStatus: async ({ id }) => {
      const state = await client.attempt(id);
      return state && decisionOf(state);
    },
    vpaOf: async ({ id, name }) => (await client.payee(id, name))?.vpa,
    refund: async ({ id, attemptId, amount, currency }) =>
      client.submitRefund(id, { attempt: attemptId, amount: amountText(amount), currency }),
  };
}

type AcquirerSetting = `${'' | 'TEST_'}ACQUIRER_${'URL' | 'SECRET' | 'FIELDS_URL'}`;
/** The settings of the adapters. */
export type AcquirerSettings = Pick<Config, AcquirerSetting>;

/** The acquirers of the settings: an adapter for each mode that has one, and otherwise the sandbox for test mode. */
export function acquirersOf(settings: AcquirerSettings): Acquirers {
  const live = addressOf(settings, '');
  const test = addressOf(settings, 'TEST_');
  return { ...delivered, ...(live && { live: adapterOf(live) }), ...(test && { test: adapterOf(test) }) };
}

/** The secrets of the adapter of a mode, the newest first; none without an adapter. */
export function secretsOf(settings: AcquirerSettings, livemode: boolean): string[] {
  const text = settings[`${livemode ? '' : 'TEST_'}ACQUIRER_SECRET`];
  return text?.split(',').map((part) => part.trim()) ?? [];
}

function addressOf(settings: AcquirerSettings, mode: '' | 'TEST_'): AdapterAddress | undefined {
  const url = settings[`${mode}ACQUIRER_URL`]?.replace(/\/$/, '');
  const [secret] = secretsOf(settings, mode === '');
  if (url === undefined || secret === undefined) return undefined;
  return { url, secret, fieldsUrl: settings[`${mode}ACQUIRER_FIELDS_URL`] };
}
