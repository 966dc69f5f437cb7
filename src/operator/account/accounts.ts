import { eq, sql } from 'drizzle-orm';
import {
  accountProblems,
  addressKeyOf,
  businessDetailsOf,
  initialSetting,
  nicknameOf,
  accountMoves,
} from '../../resources/account/rules.js';
import type { BusinessDetailsInput, TosAcceptanceInput } from '../../resources/account/inputs.js';
import { type AccountRow, AccountStatus, type AccountSubType, account } from '../../resources/account/table.js';
import { bankAccountProblems, bankDetailsOf, lastFour } from '../../resources/address/rules.js';
import { type AddressRow, address, type BankAccountObject } from '../../resources/address/table.js';
import { type NewToken, newKey } from '../../auth/tokens.js';
import { editions } from '../../editions/editions.js';
import { amountProblems } from '../../operation/amount-problems.js';
import { textProblems } from '../../operation/text-problems.js';
import { checkFiles } from '../../resources/file/reference.js';
import { type FileRow, file } from '../../resources/file/table.js';
import { type ApiKeyRow, apiKey } from '../../resources/key/table.js';
import { taxCardNumberOf } from '../../resources/person/encryption.js';
import { type PersonRow, person } from '../../resources/person/table.js';
import { type Operator, OperatorError, refuse } from '../operator.js';
import { searchedAccounts } from './search.js';
import { listed, type ListPage, type ListFilter } from '../paging.js';

/** A root account that is to be created in both modes. */
export interface NewRoot {
  type: 'platform' | 'user';
  edition: 1 | 2;
  subType?: AccountSubType | undefined;
  nickname?: string | undefined;
  businessDetails: BusinessDetailsInput;
  /** Only the demo gives these two, because it derives its tenants and keys from the pepper. */
  tenantId?: string;
  key?: (livemode: boolean) => NewToken;
}

/** The changes of a root account; absent members do not change. */
export interface RootChanges {
  nickname?: string;
  businessDetails?: BusinessDetailsInput;
  logoId?: string;
  tosAcceptance?: TosAcceptanceInput;
  liveFx?: boolean;
}

/** An address that the bank has issued. */
export interface IssuedAddress {
  category: 'service_receive' | 'service_fee_advance';
  currency: string;
  bankAccount: BankAccountObject;
}

/** An account with the persons and files that the operator verifies. */
export interface Verification {
  account: AccountRow;
  persons: PersonRow[];
  files: FileRow[];
}

const rootKinds: readonly string[] = ['platform', 'direct_user'];

/** Creates a platform or direct user in both modes, with one key in each. Spec: What the service does, 5. */
export async function createRoot(
  operator: Operator,
  { type, edition: number, subType, nickname, businessDetails, tenantId: given, key }: NewRoot,
) {
  const edition = editions[number];
  if (subType && !(type === 'platform' && edition.subTypes.includes(subType)))
    throw new OperatorError(`--sub-type ${subType} is for platforms of Edition 2.`);
  refuse([
    ...textProblems({ nickname, businessDetails }, 'account'),
    ...amountProblems({ businessDetails }, 'account'),
    ...accountProblems(nickname === undefined ? {} : { nickname }),
  ]);
  const kind = type === 'platform' ? 'platform' : 'direct_user';
  const tenantId = given ?? (await newTenant(operator));
  const make = key ?? ((livemode: boolean) => newKey(operator.secrets, tenantId, livemode));
  const keys = { test: make(false), live: make(true) };
  const row = await operator.write(
    'create_root',
    { tenantId, livemode: false },
    'createRoot',
    {
      kind,
      edition: number,
      subType: subType ?? null,
      addressKey: addressKeyOf(kind, null, edition),
      onRootList: true,
      nickname: nickname ?? null,
      businessDetails,
      setting: initialSetting(kind, subType ?? null, edition),
      keys: [
        { livemode: false, permission: 'full', ...stored(keys.test) },
        { livemode: true, permission: 'full', ...stored(keys.live) },
      ],
    },
    account,
  );
  return { account: row, keys: { test: keys.test.secret, live: keys.live.secret } };
}

async function newTenant(operator: Operator): Promise<string> {
  const [row] = await operator.call('new_id', ['account']);
  return String(row!.new_id).replace('account_', '');
}

/** Decides a verification, or lifts a hold. */
export function verifyAccount(operator: Operator, row: AccountRow, outcome: 'activated' | 'hold') {
  const moves = rootKinds.includes(row.kind) ? accountMoves.verifyRoot : accountMoves.verify;
  return move(operator, row, moves[outcome], outcome);
}

/** Puts an account on hold. */
export function holdAccount(operator: Operator, row: AccountRow) {
  return move(operator, row, accountMoves.hold, 'hold');
}

/** Deactivates an account of any kind. */
export function deactivateAccount(operator: Operator, row: AccountRow) {
  return move(operator, row, accountMoves.close, 'deactivated');
}

function move(
  operator: Operator,
  row: AccountRow,
  from: readonly AccountStatus[],
  to: AccountStatus,
): Promise<AccountRow> {
  return operator.write('move_account', row, to, { id: row.id, from, to }, account);
}

/** Changes the details of a root account in both modes. */
export async function updateRoot(operator: Operator, row: AccountRow, changes: RootChanges) {
  if (!rootKinds.includes(row.kind))
    throw new OperatorError(
      'Only a platform or a direct user is updated by the operator; a connected user by its platform.',
    );
  if (changes.liveFx !== undefined && (row.kind !== 'platform' || !editions[row.edition].liveFx))
    throw new OperatorError('--live-fx is for platforms of Edition 1.');
  refuse([...textProblems(changes, 'account'), ...amountProblems(changes, 'account'), ...accountProblems(changes)]);
  await checkFiles(operator.scope(row), [{ id: changes.logoId, field: 'account.logo_id', purposes: ['logo'] }]);
  const stored = {
    ...changes,
    businessDetails: businessDetailsOf(changes.businessDetails),
    nickname: nicknameOf(changes.nickname),
  };
  return operator.write('update_root', row, 'updateRoot', stored, account);
}

/** Records an address that the bank has issued in live mode. Spec: Address, service_receive. */
export async function issueAddress(operator: Operator, row: AccountRow, given: IssuedAddress): Promise<AddressRow> {
  if (!row.livemode)
    throw new OperatorError(
      'In test mode the sandbox bank issues addresses; this records those of live mode. Name an account of live mode.',
    );
  const details = bankDetailsOf(given.bankAccount);
  if (!details.number && !details.iban)
    throw new OperatorError(
      'A number or an IBAN is required. Give one of them.',
      'parameter_missing',
      'address.bank_account.number',
    );
  refuse([...textProblems(given, 'address'), ...bankAccountProblems(given.bankAccount)]);
  const bank = {
    ...details,
    last4: lastFour(details.number ?? details.iban),
    type: 'all',
  };
  const args = {
    ...given,
    type: 'bank_account',
    linkedId: row.id,
    name: row.businessDetails.legalName ?? null,
    bankAccount: bank,
  };
  return operator.write('record_issued_address', row, 'issueAddress', args, address);
}

/** Which accounts to list, and whether the newest come first; by default the oldest do, as in a queue. */
export type AccountFilter = ListFilter<AccountStatus> & {
  newestFirst?: boolean | undefined;
  /** A text to search for, which goes with the mode alone. */
  search?: string | undefined;
};

/** Lists accounts of all tenants. The operator has to decide about those in status `verifying`. */
export function listAccounts(operator: Operator, { search, ...filter }: AccountFilter): Promise<ListPage<AccountRow>> {
  if (search !== undefined) return searchedAccounts(operator, search, filter);
  const { newestFirst = false } = filter;
  const name = newestFirst ? 'operator_accounts:newest' : 'operator_accounts';
  return listed(operator, name, account, Object.values(AccountStatus), filter, newestFirst);
}

/** Reads the persons and files of an account for its verification. */
export async function verificationOf(
  operator: Operator,
  row: AccountRow,
  related = operator.related(),
): Promise<Verification> {
  const persons = await related.all(person, person.accountId, row, row.id);
  const { idDocument, ownershipStructureDocument, physicalAddressDocument } = row.supportingDocumentation;
  const ids = [
    idDocument,
    ownershipStructureDocument,
    physicalAddressDocument,
    ...persons.flatMap((p) => [p.identification.taxCardImage, p.identification.passportImage]),
  ];
  const files = await Promise.all(ids.filter((id) => id != null).map((id) => related.one(file, file.id, row, id)));
  return { account: row, persons, files: files.filter((f): f is FileRow => f !== null) };
}

/**
 * A person's tax card number in the clear; null when the person has none. Refuses when its encryption key is not
 * configured, or it was altered.
 */
export function taxCardNumber(
  operator: Operator,
  { tenantId, livemode, id, identification }: PersonRow,
): string | null {
  const place = { tenantId, livemode, id };
  const number = taxCardNumberOf(operator.secrets, place, identification);
  if (number === undefined)
    throw new OperatorError(
      operator.secrets.altered(identification.taxCardSealed!, place)
        ? 'The encrypted number was altered in the database.'
        : 'The number was encrypted under a key that is not in ENCRYPTION_KEY or API_KEY_PEPPER.',
    );
  return number;
}

/** The API keys of an account in its mode, newest first. */
export function keysOf(operator: Operator, row: AccountRow): Promise<ApiKeyRow[]> {
  return operator.scope(row).all(apiKey, apiKey.accountId, row.id);
}

/** The API key with this id. */
export async function keyOf(operator: Operator, id: string): Promise<ApiKeyRow> {
  const [row] = await operator.read<ApiKeyRow>(
    'operator_key',
    (db) =>
      db
        .select()
        .from(apiKey)
        .where(eq(apiKey.id, sql.placeholder('id'))),
    { id },
  );
  if (!row) throw new OperatorError('There is no such key. Check the id.', 'resource_missing', 'api_key.id');
  return row;
}

/** Whether an account with this id exists in either mode. */
export async function accountExists(operator: Operator, id: string): Promise<boolean> {
  return (await operator.byId('operator_account', account, id)).length > 0;
}

/** Whether the database has no account yet. The demo is seeded only then. */
export async function hasNoAccounts(operator: Operator): Promise<boolean> {
  const rows = await operator.read('operator_any', (db) => db.select().from(account).limit(1), {});
  return rows.length === 0;
}

/** The members of a new key that are stored: all but the secret. */
function stored({ digest, prefix, pepperId }: NewToken): Omit<NewToken, 'secret'> {
  return { digest, prefix, pepperId };
}
