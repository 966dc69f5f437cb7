import type { Acquirer, CardDetails, Decision } from '../../src/hosted/acquirer.js';

/** What the acquirer says of a payment. */
interface Payment {
  state: 'pending' | 'paid' | 'refused';
  refusal?: 'declined' | 'insufficient_funds';
  card?: CardDetails;
  vpa?: string;
}

/** An acquirer with a REST API and card fields of its own. The id of an attempt is the id of its payment there. */
export function exampleAcquirer(address: { api: string; fields: string; secret: string }): Acquirer {
  /** Sends a request; undefined when the acquirer does not know the object. */
  async function call<T>(method: 'GET' | 'PUT', path: string, body?: object): Promise<T | undefined> {
    const response = await fetch(`${address.api}${path}`, {
      method,
      headers: { authorization: `Bearer ${address.secret}`, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(8_000),
      ...(body && { body: JSON.stringify(body) }),
    });
    if (response.status === 404) return undefined;
    // An unclear answer is an error: the attempt stays open, and the worker asks again.
    if (!response.ok) throw new Error(`The acquirer answered ${response.status}.`);
    return (await response.json()) as T;
  }

  const decisionOf = ({ state, refusal }: Payment): Decision => {
    if (state === 'refused') return { status: 'failed', reasonCode: refusal ?? 'declined' };
    return { status: state === 'paid' ? 'succeeded' : 'processing' };
  };

  return {
    cardFields: {
      url: address.fields,
      cardOf: (token) => call<CardDetails>('GET', `/tokens/${encodeURIComponent(token)}`),
    },
    // Live instruments are checked by the card fields and by the payer's UPI app.
    fault: () => undefined,
    submit: async ({ id, amount, currency }, instrument) => {
      if ('card' in instrument) throw new Error('A live card comes as a token.');
      // PUT, so that the same attempt submitted again is the same payment.
      const payment = await call<Payment>('PUT', `/payments/${id}`, { amount, currency, ...instrument });
      return payment ? decisionOf(payment) : { status: 'processing' };
    },
    pollStatus: async (id, details) => {
      const payment = await call<Payment>('GET', `/payments/${id}`);
      if (!payment) return undefined;
      const { card, vpa } = payment;
      const paidWith = card ? { card } : vpa === undefined ? details : { upi: { vpa } };
      return { ...decisionOf(payment), ...(paidWith && { details: paidWith }) };
    },
  };
}
