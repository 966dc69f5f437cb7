import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import postgres from 'postgres';
import { listening, readers, setting } from './setting.ts';

/**
 * A REST server written by hand for these few routes: Fastify, one statement each, no layers. It requires HTTPS and the
 * key as the product does, caches a key as long as the product, and restricts every row to the key's
 * tenant, mode and list.
 */
const sql = readers();
const writer = postgres({ ...setting.login, max: 5, types: { bigint: postgres.BigInt } });
const app = Fastify();

interface Caller {
  tenant: string;
  live: boolean;
  account: string;
  until: number;
}
/** A cache by the text of the header, so that a key that was just looked up is neither checked nor hashed again. */
const callers = new Map<string, Caller>();
const freshMilliseconds = 750;
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
  }
}
app.decorateRequest('caller', null as never);

app.addHook('onRequest', async (request, reply) => {
  if (request.headers['x-forwarded-proto'] !== 'https') return refuse(reply, 403, 'https_required');
  const authorization = request.headers.authorization ?? '';
  const known = callers.get(authorization);
  if (known && known.until > performance.now()) {
    request.caller = known;
    return;
  }
  const match = /^Bearer (sk_(test|live)_([0-9a-f]{32})_[0-9A-Za-z]{32})([0-9A-Za-z]{6})$/.exec(authorization);
  if (!match || !same(match[4]!, checksum(match[1]!))) return refuse(reply, 401, 'api_key_invalid');
  const digest = createHmac('sha256', setting.pepper).update(`${match[1]}${match[4]}`).digest('hex');
  const [tenant, live] = [match[3]!, match[2] === 'live'];
  const [holder] = await sql`
    select k.account_id, a.kind from api_key k join account a on a.tenant_id = k.tenant_id and a.livemode = k.livemode
    and a.id = k.account_id
    where k.tenant_id = ${tenant} and k.livemode = ${live} and k.digest = ${digest} and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > extract(epoch from clock_timestamp())::bigint)`;
  if (!holder) return refuse(reply, 401, 'api_key_invalid');
  request.caller = { tenant, live, account: holder.account_id, until: performance.now() + freshMilliseconds };
  callers.set(authorization, request.caller);
});

app.get('/v1/accounts/:id', async (request: FastifyRequest<{ Params: { id: string } }>, reply) => {
  const { tenant, live } = request.caller;
  const [row] = await sql`select ${accountColumns} from account where tenant_id = ${tenant} and livemode = ${live}
      and id = ${request.params.id}`;
  return row ? accountV1(row) : refuse(reply, 404, 'resource_missing');
});

app.get('/v1/accounts', async (request: FastifyRequest<{ Querystring: { limit?: string } }>) => {
  const { tenant, live } = request.caller;
  const limit = Math.min(Number(request.query.limit ?? 10), 10);
  const rows = await sql`select ${accountColumns} from account where tenant_id = ${tenant} and livemode = ${live}
      and on_root_list = true order by created desc, id desc limit ${limit + 1}`;
  return { object: 'list', data: rows.slice(0, limit).map(accountV1), has_next: rows.length > limit };
});

app.get('/v1/deposits', async (request: FastifyRequest<{ Querystring: { starting_after?: string } }>) => {
  const { tenant, live } = request.caller;
  const after = request.query.starting_after;
  const rows = after
    ? await sql`
        select ${depositColumns} from deposit where tenant_id = ${tenant} and livemode = ${live} and on_root_list = true
          and (created, id) < (select c.created, c.id from deposit c where c.tenant_id = ${tenant}
          and c.livemode = ${live} and c.id = ${after})
        order by created desc, id desc limit 11`
    : await sql`select ${depositColumns} from deposit where tenant_id = ${tenant} and livemode = ${live}
      and on_root_list = true order by created desc, id desc limit 11`;
  return { object: 'list', data: rows.slice(0, 10).map(depositV1), has_next: rows.length > 10 };
});

app.get('/v1/balance', async (request: FastifyRequest<{ Querystring: { account_id: string } }>, reply) => {
  const { tenant, live } = request.caller;
  const id = request.query.account_id;
  const rows = await sql`
    select a.kind, b.currency, b.available, b.pending, b.processing, b.payout_processing, b.fee_advance
    from account a left join balance b on b.tenant_id = a.tenant_id and b.livemode = a.livemode and b.account_id = a.id
    where a.tenant_id = ${tenant} and a.livemode = ${live} and a.id = ${id} order by b.currency`;
  if (rows.length === 0) return refuse(reply, 404, 'resource_missing');
  const each = (name: string) =>
    rows.map((row) => ({ amount: amountText(row[name] ?? 0n), currency: row.currency ?? 'USD' }));
  return {
    object: 'balance',
    account_id: id,
    livemode: live,
    available: each('available'),
    pending: each('pending'),
    processing: each('processing'),
    payout_processing: each('payout_processing'),
    fee_advance: rows[0]!.kind === 'platform' ? each('fee_advance') : [],
  };
});

interface NewDeposit {
  amount: string;
  currency: string;
  to?: { account_id?: string };
  statement_descriptor?: string;
}
app.post('/v1/deposits', async (request: FastifyRequest<{ Body: NewDeposit }>, reply) => {
  const { tenant, live, account } = request.caller;
  const { amount, currency, to, statement_descriptor: statementDescriptor } = request.body;
  if (!/^\d{1,13}\.\d{2}$/.test(amount) || !/^[A-Z]{3}$/.test(currency)) return refuse(reply, 400, 'parameter_invalid');
  const [found] = await writer`
    select a.id, d.id as address_id from account a
    join address d on d.tenant_id = a.tenant_id and d.livemode = a.livemode and d.linked_id = a.id
    where a.tenant_id = ${tenant} and a.livemode = ${live} and a.id = ${to?.account_id ?? account}
    and d.category = 'service_receive' and d.status = 'activated'
    order by d.currency = ${currency} desc limit 1`;
  if (!found) return refuse(reply, 402, 'address_unusable');
  const call = { account, key: randomUUID(), operation: 'createDeposit', request: {}, requestId: request.id };
  const args = {
    amount: amount.replace('.', ''),
    currency,
    toAccountId: found.id,
    toAddressId: found.address_id,
    fromAccountId: null,
    fromAddressId: null,
    paymentMethod: 'domestic_credit',
    statementDescriptor,
  };
  const [row] =
    await writer`select * from create_deposit(${tenant}, ${live}, ${writer.json(call)}, ${writer.json(args)})`;
  return depositV1(row!);
});

const accountColumns = sql`id, created, livemode, type, sub_type, status, nickname, address, business_details,
  capability_status, logo_id, metadata, supporting_documentation, tos_acceptance, owner_id`;
const depositColumns = sql`id, created, livemode, amount, currency, from_account_id, from_address_id, to_account_id,
  to_address_id, payment_method, payment_method_details, reason_code, statement_descriptor, status, metadata`;

function accountV1(a: postgres.Row) {
  const b = a.business_details;
  const [ids, at, volume] = [b.ids ?? {}, b.physicalAddress ?? {}, b.estimatedMonthlyVolume];
  return {
    id: a.id,
    object: 'account',
    created: Number(a.created),
    livemode: a.owner_id === null ? null : a.livemode,
    type: a.type,
    sub_type: a.sub_type,
    status: a.status,
    nickname: a.nickname,
    address: a.address,
    business_details: {
      legal_name: b.legalName ?? null,
      dba: b.dba ?? null,
      email: b.email ?? null,
      website: b.website ?? null,
      date_of_incorporation: b.dateOfIncorporation ?? null,
      type: b.type ?? null,
      ids: {
        business: ids.business ?? null,
        tax: ids.tax ?? null,
        tax_deduction: ids.taxDeduction ?? null,
        tax_gst: ids.taxGst ?? null,
        tax_trade: ids.taxTrade ?? null,
      },
      physical_address: {
        line1: at.line1 ?? null,
        line2: at.line2 ?? null,
        city: at.city ?? null,
        state: at.state ?? null,
        postal_code: at.postalCode ?? null,
        country: at.country ?? null,
      },
      merchant_category_code: b.merchantCategoryCode ?? null,
      merchant_size: b.merchantSize ?? null,
      product_category: b.productCategory ?? null,
      product_description: b.productDescription ?? null,
      estimated_monthly_volume: volume
        ? { amount: amountText(BigInt(volume.amount)), currency: volume.currency }
        : null,
    },
    capability: { multicurrency_exports_v1: a.capability_status },
    logo_id: a.logo_id,
    metadata: a.metadata,
    parent_account_id: null,
    supporting_documentation: {
      id_document: a.supporting_documentation.idDocument ?? null,
      ownership_structure_document: a.supporting_documentation.ownershipStructureDocument ?? null,
    },
    tos_acceptance: {
      ip: a.tos_acceptance.ip ?? null,
      time: a.tos_acceptance.time ?? null,
      user_agent: a.tos_acceptance.userAgent ?? null,
    },
    link: null,
  };
}

function depositV1(d: postgres.Row) {
  return {
    id: d.id,
    object: 'deposit',
    created: Number(d.created),
    livemode: d.livemode,
    amount: amountText(d.amount),
    currency: d.currency,
    from: { account_id: d.from_account_id, address_id: d.from_address_id },
    to: { account_id: d.to_account_id, address_id: d.to_address_id },
    payment_method: d.payment_method,
    payment_method_details: d.payment_method_details,
    reason_code: d.reason_code,
    statement_descriptor: d.statement_descriptor,
    status: d.status,
    metadata: d.metadata,
  };
}

function amountText(minor: bigint): string {
  const text = (minor < 0n ? -minor : minor).toString().padStart(3, '0');
  return `${minor < 0n ? '-' : ''}${text.slice(0, -2)}.${text.slice(-2)}`;
}

function checksum(text: string): string {
  let [rest, out] = [crc32(text), ''];
  for (let i = 0; i < 6; i++) {
    out = digits[rest % 62] + out;
    rest = Math.floor(rest / 62);
  }
  return out;
}

function same(a: string, b: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}

function refuse(reply: FastifyReply, status: number, code: string) {
  return reply.code(status).send({ object: 'error', http_status_code: status, errors: [{ code }] });
}

await app.listen({ port: setting.port, host: '127.0.0.1' });
listening();
