import { createHash, randomBytes } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CardDetails } from '../../src/hosted/acquirer.js';

/** The script of the acquirer's card fields. It answers only the gateways that the acquirer knows. */
const fieldsScript = (parents: string[]) => `
const parents = ${JSON.stringify(parents)};
const form = document.querySelector('form');
let asker;
const answer = (message) => asker?.source.postMessage(message, asker.origin);
addEventListener('message', async (event) => {
  if (event.source !== parent || !parents.includes(event.origin) || event.data?.type !== 'tidegate:tokenize') return;
  asker = event;
  const number = form.elements.number.value.replace(/\\s/g, '');
  document.getElementById('error').textContent = number.length < 12 ? 'Enter the card number.' : '';
  if (number.length < 12) return answer({ type: 'tidegate:invalid' });
  const body = JSON.stringify({ number, expiry: form.elements.expiry.value });
  const made = await fetch('/tokens', { method: 'POST', body });
  answer({ type: 'tidegate:token', token: (await made.json()).token });
});
for (const origin of parents) parent.postMessage({ type: 'tidegate:height', height: 150 }, origin);
`;

const fieldsPage = (script: string) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>Card details</title>
<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">
<style>body{margin:0;font:16px/1.5 "Segoe UI",Roboto,"Open Sans",sans-serif}
label{display:block;font-size:14px;font-weight:500}
input{box-sizing:border-box;width:100%;min-height:44px;margin:4px 0 12px;padding:8px 12px;border:1px solid #81919a}
input{border-radius:8px;font:inherit;background:transparent;color:inherit}
#error{color:#a8161f;font-size:14px}</style>
<form><label for="number">Card number</label>
<input id="number" name="number" inputmode="numeric" autocomplete="cc-number">
<label for="expiry">Expiry date</label>
<input id="expiry" name="expiry" autocomplete="cc-exp" placeholder="MM/YY"></form><div id="error" role="alert"></div>
<script>${script}</script>`;

/** An acquirer on an origin of its own: card fields in a frame, tokens, and payments that succeed. */
export class SecondAcquirer {
  readonly secret = randomBytes(16).toString('hex');
  /** The payments that were submitted, by the ids of their attempts. */
  readonly payments = new Map<string, { amount: string; currency: string; token: string }>();
  readonly #tokens = new Map<string, CardDetails>();
  #server: http.Server | undefined;
  origin = '';

  /** Starts it for the pages of these origins. */
  async start(parents: string[]): Promise<void> {
    this.#server = http.createServer((request, response) => void this.#answer(request, response, parents));
    await new Promise<void>((resolve) => this.#server!.listen(0, '127.0.0.1', resolve));
    this.origin = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  async #answer(request: http.IncomingMessage, response: http.ServerResponse, parents: string[]): Promise<void> {
    let text = '';
    for await (const part of request.setEncoding('utf8')) text += part;
    const [, kind = '', id = ''] = (request.url ?? '').split('/');
    if (kind === 'fields') {
      const script = fieldsScript(parents);
      const hash = createHash('sha256').update(script).digest('base64');
      const policy =
        `default-src 'none'; connect-src 'self'; img-src data:; style-src 'unsafe-inline'; script-src ` +
        `'sha256-${hash}'; frame-ancestors ${parents.join(' ')}`;
      response
        .writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy })
        .end(fieldsPage(script));
      return;
    }
    const send = (body: unknown) =>
      response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}));
    if (kind === 'tokens' && request.method === 'POST') {
      const { number, expiry } = JSON.parse(text) as { number: string; expiry: string };
      const [month, year] = expiry.split('/').map(Number);
      const token = `tok_${randomBytes(12).toString('hex')}`;
      const brand = number.startsWith('4') ? 'visa' : null;
      this.#tokens.set(token, { brand, last4: number.slice(-4), expiry_month: month!, expiry_year: 2_000 + year! });
      send({ token });
      return;
    }
    if (request.headers.authorization !== `Bearer ${this.secret}`) {
      response.writeHead(401).end();
      return;
    }
    if (kind === 'tokens') send(this.#tokens.get(id));
    if (kind !== 'payments') return;
    if (request.method === 'PUT') this.payments.set(id, JSON.parse(text));
    const payment = this.payments.get(id);
    send(payment && { state: 'paid', card: this.#tokens.get(payment.token) });
  }
}
