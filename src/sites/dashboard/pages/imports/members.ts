/** How the cells of a column are read. */
type Kind = 'text' | 'amount' | 'day' | 'currency' | 'customer' | 'country' | 'choice';

/** A member of what an import creates. */
export interface Member {
  /** Its column in an import, as /v1 names it. */
  column: string;
  /** A column that gets the same value, unless a column of the sheet is it. */
  also?: string;
  /** The edition in which it does; both without one. */
  alsoIn?: number;
  label: string;
  kind: Kind;
  required?: true;
  /** How people head its column, in small letters without marks. */
  heads: readonly string[];
  /** Of a choice, the values with their names. */
  values?: readonly { value: string; name: string }[];
  hint?: string;
}

const transactionTypes = [
  { value: 'goods', name: 'Goods' },
  { value: 'services', name: 'Services' },
];

const receivable: readonly Member[] = [
  {
    ...{ column: 'invoice.reference_number', label: 'Invoice number', kind: 'text', required: true },
    heads: ['invoice', 'invoice number', 'invoice no', 'invoice id', 'number', 'no', 'reference', 'bill no', 'inv no'],
  },
  {
    ...{ column: 'customer_id', label: 'Customer', kind: 'customer' },
    heads: [
      'customer',
      'customer name',
      'customer id',
      'client',
      'client name',
      'buyer',
      'bill to',
      'billed to',
      'name',
    ],
    hint: 'By name, e-mail address or id.',
  },
  {
    ...{ column: 'invoice.amount', label: 'Amount', kind: 'amount', required: true },
    heads: ['amount', 'total', 'invoice amount', 'total amount', 'value', 'invoice value', 'amount due', 'grand total'],
  },
  {
    ...{ column: 'currency', also: 'invoice.currency', label: 'Currency', kind: 'currency', required: true },
    heads: ['currency', 'currency code', 'ccy', 'invoice currency'],
  },
  {
    ...{ column: 'invoice.creation_date', label: 'Invoice date', kind: 'day', required: true },
    heads: ['invoice date', 'date', 'issued', 'issue date', 'date of issue', 'created', 'bill date'],
  },
  {
    ...{ column: 'invoice.due_date', label: 'Due date', kind: 'day', required: true },
    heads: ['due', 'due date', 'due on', 'payment due', 'pay by', 'date due'],
  },
  {
    ...{ column: 'transaction_type', label: 'Goods or services', kind: 'choice', required: true },
    heads: ['goods or services', 'transaction type', 'type', 'supply'],
    values: transactionTypes,
  },
  {
    ...{ column: 'purpose_code', label: 'Purpose code', kind: 'choice', required: true },
    heads: ['purpose', 'purpose code', 'rbi purpose code', 'rbi code'],
  },
  {
    ...{ column: 'description', label: 'Description', kind: 'text' },
    heads: ['description', 'memo', 'note', 'notes', 'details', 'particulars', 'subject'],
  },
  {
    ...{ column: 'amount_maximum_reconcilable', label: 'Amount to be paid here', kind: 'amount' },
    heads: ['amount to be paid here'],
  },
];

const details = 'business_details';
const address = `${details}.physical_address`;

const customer: readonly Member[] = [
  {
    ...{ column: `${details}.legal_name`, label: 'Legal name', kind: 'text', required: true },
    // In Edition 1 a customer needs a short name.
    ...{ also: 'nickname', alsoIn: 1 },
    heads: ['legal name', 'customer', 'customer name', 'company', 'company name', 'name', 'business name', 'client'],
  },
  { ...{ column: 'nickname', label: 'Short name', kind: 'text' }, heads: ['short name', 'nickname', 'alias'] },
  {
    ...{ column: `${details}.type`, label: 'Legal form', kind: 'choice', required: true },
    heads: ['legal form', 'form', 'type', 'customer type'],
    values: [
      { value: 'business', name: 'Business' },
      { value: 'company', name: 'Company' },
      { value: 'individual', name: 'Individual' },
      { value: 'limited_liability_partnership', name: 'Limited liability partnership' },
      { value: 'partnership', name: 'Partnership' },
      { value: 'sole_proprietor', name: 'Sole proprietor' },
    ],
  },
  { ...{ column: `${details}.email`, label: 'E-mail', kind: 'text' }, heads: ['e mail', 'email', 'email address'] },
  { ...{ column: `${details}.website`, label: 'Website', kind: 'text' }, heads: ['website', 'web', 'url'] },
  {
    ...{ column: `${address}.line1`, label: 'Street', kind: 'text' },
    heads: ['street', 'address', 'address line 1', 'line 1', 'street address', 'billing address'],
  },
  { ...{ column: `${address}.city`, label: 'City', kind: 'text' }, heads: ['city', 'town', 'place'] },
  { ...{ column: `${address}.state`, label: 'State', kind: 'text' }, heads: ['state', 'province', 'region'] },
  {
    ...{ column: `${address}.postal_code`, label: 'Postal code', kind: 'text' },
    heads: ['postal code', 'postcode', 'zip', 'zip code', 'pin', 'pin code'],
  },
  { ...{ column: `${address}.country`, label: 'Country', kind: 'country' }, heads: ['country', 'country code'] },
];

/** What differs between the imports of both kinds. */
export const kinds = {
  RECEIVABLES: {
    members: receivable,
    noun: 'invoice',
    list: { href: '/receivables', name: 'Receivables' },
    title: 'Import invoices',
  },
  PARTNERS: {
    members: customer,
    noun: 'customer',
    list: { href: '/customers', name: 'Customers' },
    title: 'Import customers',
  },
} as const;

export type ImportKind = keyof typeof kinds;

/** The member of a column of an import, which is called as /v1 calls it where no member has it. */
export function labelOf(kind: ImportKind, column: string): string {
  return kinds[kind].members.find((each) => each.column === column || each.also === column)?.label ?? column;
}

const plain = (head: string) =>
  head
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, ' ')
    .trim();

/** Columns that an import takes as they are named, beside those of the members. */
const asNamed = /^(metadata|invoice|business_details|supporting_documentation)\.[\w.]{1,100}$/;

/** The columns of the import that the columns of a sheet seem to be; an empty text for those that are none. */
export function guesses(kind: ImportKind, names: readonly string[]): string[] {
  const { members } = kinds[kind];
  const free = new Set(members);
  const take = (found: Member | undefined) => {
    if (found) free.delete(found);
    return found?.column;
  };
  // What is named as on /v1 is meant before what only looks like it.
  const exact = names.map((name) => take([...free].find(({ column }) => column === name)));
  return names.map(
    (name, i) =>
      exact[i] ??
      (asNamed.test(name) ? name : undefined) ??
      take([...free].find(({ heads, label }) => [...heads, plain(label)].includes(plain(name)))) ??
      '',
  );
}
