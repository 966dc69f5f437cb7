/**
 * An adapter: it speaks the protocol in `schema/acquirer.json` to a gateway, and on the other side the interface of an
 * acquirer, here the stand-in. See the README beside it.
 */
import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fieldsPage, StandIn } from './stand-in.mjs';

const { ACQUIRER_SECRET: secret = '', MODE: mode = 'test', PORT: port = '4100' } = process.env;
/** The origin of the gateway: it gets the reports, and its pages may show the card fields. */
let gateway = process.env.GATEWAY ?? '';
if (!/^whsec_[\w+/]{43,}=*$/.test(secret)) throw new Error('ACQUIRER_SECRET must be whsec_ and 32 bytes in base64.');

const bodyBytesMax = 65_536;
const acquirer = new StandIn();

/** What has become of a payment, as the protocol has it. `amount` is what was really taken. */
function attemptOf({ state, refusal, amount, currency, card, vpa }) {
  const paidWith = card ? { details: { card } } : vpa ? { details: { upi: { vpa } } } : {};
  if (state === 'paid') return { status: 'succeeded', amount, currency, ...paidWith };
  if (state === 'refused') return { status: 'failed', reason_code: refusal, ...paidWith };
  return { status: 'processing', ...paidWith };
}

function refundOf({ state, reference, refusal }) {
  if (state === 'paid') return { status: 'succeeded', ...(reference && { reference }) };
  if (state === 'refused') return { status: 'failed', ...(refusal && { failure_reason: refusal }) };
  return { status: 'pending' };
}

/** What the reasons of the acquirer are in the protocol; any other is `general`. */
const disputeReasons = {
  'card stolen': 'high_risk',
  'charged twice': 'duplicate',
  'not received': 'cancelled',
  'wrong amount': 'incorrect_amount',
};

/** What there is to report of a dispute: that it was opened, or how it was decided. */
function disputeReport(id, { payment, state, amount, currency, reason, deadline }) {
  const data = { id, attempt: payment };
  if (state !== 'open') return { type: 'dispute.decided', data: { ...data, status: state } };
  const reason_code = disputeReasons[reason] ?? 'general';
  const opened = { ...data, amount, currency, reason_code, reason, ...(deadline && { respond_by: deadline }) };
  return { type: 'dispute.opened', data: opened };
}

/** The reports about what the acquirer has decided. */
const reports = {
  attempt: (id) => ({ type: 'attempt.decided', data: { id, ...attemptOf(acquirer.payment(id)) } }),
  refund: (id) => ({ type: 'refund.decided', data: { id, ...refundOf(acquirer.refundOf(id)) } }),
  dispute: (id) => disputeReport(id, acquirer.dispute(id)),
};

/** The requests of the gateway: each returns the answer, or undefined for what is not known. */
const protocol = {
  'PUT attempts': (id, body) => attemptOf(acquirer.charge(id, body)),
  'GET attempts': (id) => acquirer.payment(id) && attemptOf(acquirer.payment(id)),
  'GET tokens': (token) => acquirer.card(token),
  'PUT payees': (id) => ({ vpa: acquirer.vpa(id) }),
  'PUT refunds': (id, { attempt, amount, currency }) =>
    refundOf(acquirer.refund(id, { payment: attempt, amount, currency })),
  'GET refunds': (id) => acquirer.refundOf(id) && refundOf(acquirer.refundOf(id)),
};

/** Sends a report until the gateway has taken it, or says that it never will. */
async function report(kind, id) {
  const body = JSON.stringify(reports[kind](id));
  const messageId = `msg_${randomUUID()}`;
  for (let wait = 1_000; ; wait = Math.min(wait * 2, 600_000)) {
    const timestamp = Math.floor(Date.now() / 1_000);
    const signature = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
      .update(`${messageId}.${timestamp}.${body}`)
      .digest('base64');
    const headers = {
      'content-type': 'application/json',
      'webhook-id': messageId,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': `v1,${signature}`,
    };
    const options = { method: 'POST', headers, body, signal: AbortSignal.timeout(10_000) };
    const status = await fetch(`${gateway}/acquirer/${mode}/reports`, options).then(
      (response) => response.status,
      () => 503,
    );
    if (status < 500 && status !== 429) return;
    await sleep(wait);
  }
}
acquirer.decided = (kind, id) => {
  if (gateway) void report(kind, id);
};

/** What plays the payer and the acquirer's staff; only programs on this machine reach it. */
const standIn = {
  'PUT attempts': (id, change) => acquirer.decide(id, change),
  'PUT refunds': (id, change) => acquirer.decideRefund(id, change),
  'PUT disputes': (id, change) => acquirer.contest(id, change),
  'PUT gateway': (_, { origin }) => {
    gateway = origin;
  },
};

/** Whether a request has the secret, in a time that does not depend on how much of it is right. */
function isGateway({ headers: { authorization = '' } }) {
  const digest = (text) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(authorization), digest(`Bearer ${secret}`));
}

async function bodyOf(request) {
  let text = '';
  for await (const part of request.setEncoding('utf8')) {
    text += part;
    if (text.length > bodyBytesMax) throw new Error('the body is too large');
  }
  return text === '' ? {} : JSON.parse(text);
}

async function answer(request, response) {
  const send = (status, body) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}));
  const [, kind, id, standInId] = new URL(request.url, 'http://localhost').pathname.split('/').map(decodeURIComponent);
  if (kind === 'fields') {
    const { script, page } = fieldsPage(gateway ? [gateway] : []);
    const hash = createHash('sha256').update(script).digest('base64');
    const policy =
      `default-src 'none'; connect-src 'self'; img-src data:; style-src 'unsafe-inline'; ` +
      `script-src 'sha256-${hash}'; frame-ancestors ${gateway || "'none'"}`;
    return response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy }).end(page);
  }
  const body = await bodyOf(request);
  if (kind === 'tokens' && request.method === 'POST') return send(200, { token: acquirer.tokenize(body) });
  if (kind === 'stand-in') {
    standIn[`${request.method} ${id}`](standInId, body);
    return send(200);
  }
  if (!isGateway(request)) return send(401);
  const found = protocol[`${request.method} ${kind}`]?.(id, body);
  return send(found === undefined ? 404 : 200, found);
}

const server = http.createServer((request, response) => {
  answer(request, response).catch(() => response.headersSent || response.writeHead(400).end('{}'));
});
server.listen(Number(port), '127.0.0.1', () => {
  process.stdout.write(`The adapter listens on http://127.0.0.1:${server.address().port}\n`);
});
