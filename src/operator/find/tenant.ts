import type { Row, Rows } from '../../db/list/statement.js';
import type { Scope } from '../../db/scope.js';
import { accountSetting } from '../../resources/account-setting/table.js';
import { depositListing } from '../../resources/deposit/listing.js';
import { deposit } from '../../resources/deposit/table.js';
import { event } from '../../resources/event/table.js';
import { dataExport } from '../../resources/export/table.js';
import { file } from '../../resources/file/table.js';
import { dataImport } from '../../resources/import/table.js';
import { importRow } from '../../resources/import-row/table.js';
import { apiKey } from '../../resources/key/table.js';
import { entry } from '../../resources/ledger/table.js';
import { payment } from '../../resources/payment/table.js';
import { payoutListing } from '../../resources/payout/listing.js';
import { payout } from '../../resources/payout/table.js';
import { person } from '../../resources/person/table.js';
import { receivableListing } from '../../resources/receivable/listing.js';
import { receivable } from '../../resources/receivable/table.js';
import { session } from '../../resources/session/table.js';
import { webhookDelivery } from '../../resources/webhook-delivery/table.js';
import { webhookEndpoint } from '../../resources/webhook-endpoint/table.js';
import type { Listing, PageArgs } from '../../types/pagination.js';
import type { Operator } from '../operator.js';
import { type FoundObject, ofPlaceMax, type Place, shown } from './objects.js';
import type { TextToFind } from './text.js';

/**
 * What the tenant of an account has of a text: an object by its id, in both modes; and in the mode of the account
 * payments, invoices and payouts by their exact amount, and payments and invoices by their texts, as its lists find
 * them. Refuses an account that is not there.
 */
export async function foundInTenant(
  operator: Operator,
  accountId: string,
  { amount, words, id }: TextToFind,
): Promise<Place[]> {
  const within = await operator.account(accountId, undefined, 'find.text');
  const scope = operator.scope(within);
  const places: Promise<Place>[] = [];
  const inTenant = (what: string) => `${what}, in the tenant of the account`;
  const ofId = id && kindsInTenant[id.noun];
  if (ofId) {
    // A root has one id in both modes, so the account does not tell the mode.
    const scopes = [true, false].map((livemode) => operator.scope({ tenantId: within.tenantId, livemode }));
    const objects = Promise.all(scopes.map((each) => ofId.find(each, id.text))).then((each) => each.flat());
    places.push(placeOf(inTenant(ofId.name), objects, (object) => object));
  }
  if (amount?.currency !== undefined) {
    const args = { orderBy: 'amount_desc', currency: [amount.currency], amount: { eq: amount.amount } };
    places.push(
      placeOf(inTenant('Payments by amount'), listed(scope, deposit, depositListing, args), shown.deposit),
      placeOf(inTenant('Invoices by amount'), listed(scope, receivable, receivableListing, args), shown.receivable),
      placeOf(inTenant('Payouts by amount'), listed(scope, payout, payoutListing, args), shown.payout),
    );
  }
  if (words !== undefined) {
    const args = { search: words };
    places.push(
      placeOf(inTenant('Payments by text'), listed(scope, deposit, depositListing, args), shown.deposit),
      placeOf(inTenant('Invoices by number'), listed(scope, receivable, receivableListing, args), shown.receivable),
    );
  }
  return Promise.all(places);
}

const kind = <T extends Rows>(name: string, table: T, of: (row: Row<T>) => FoundObject) => ({
  name,
  async find(scope: Scope, id: string): Promise<FoundObject[]> {
    const row = await scope.find(table, id);
    return row ? [of(row)] : [];
  },
});

/** The kinds of object that are found by their ids in a tenant alone: no index has the ids of all tenants. */
export const kindsInTenant: Readonly<Record<string, ReturnType<typeof kind> | undefined>> = {
  account_setting: kind('Account settings by id', accountSetting, shown.setting),
  bt: kind('Balance transactions by id', entry, shown.entry),
  delivery: kind('Deliveries of webhooks by id', webhookDelivery, shown.delivery),
  event: kind('Events by id', event, shown.event),
  export: kind('Exports by id', dataExport, shown.export),
  file: kind('Files by id', file, shown.file),
  import: kind('Imports by id', dataImport, shown.import),
  import_row: kind('Rows of imports by id', importRow, shown.importRow),
  key: kind('API keys by id', apiKey, shown.apiKey),
  payment: kind('Entries of balances by id', payment, shown.payment),
  person: kind('Persons by id', person, shown.person),
  session: kind('Sessions by id', session, shown.session),
  webhook: kind('Webhooks by id', webhookEndpoint, shown.endpoint),
};

async function listed<T extends Rows>(scope: Scope, table: T, listing: Listing, args: object) {
  const all = { ...args, scope: 'descendants' as const, first: ofPlaceMax + 1 } satisfies PageArgs;
  return (await scope.page(table, listing, all)).nodes;
}

async function placeOf<Row>(name: string, rows: Promise<Row[]>, of: (row: Row) => Place['objects'][number]) {
  return { name, objects: (await rows).map(of) };
}
