import { type Edition, must, nickname, payoutAddressBody, type Speaker } from './world.js';

export type Purpose = 'additional_verification' | 'identity_document' | 'tax_document';
export type Role = 'director' | 'owner' | 'representative';
export const businessTypes = [
  'company',
  'limited_liability_partnership',
  'business',
  'partnership',
  'sole_proprietor',
  'individual',
] as const;
export type BusinessType = (typeof businessTypes)[number];

/** What a connected user brings to its activation; `details` are business_details in the format of /v1. */
export interface OnboardingProfile {
  nickname: boolean;
  details: Record<string, unknown>;
  /** The purpose of the file in supporting_documentation.id_document. */
  document: Purpose | null;
  /** The roles of each person. */
  persons: Role[][];
  payoutAddress: boolean;
}

/** The members of business_details that Edition 2 requires of a connected user, in the specification's order. */
export const secondDetails = [
  'date_of_incorporation',
  'dba',
  'email',
  'ids.business',
  'legal_name',
  'merchant_size',
  'merchant_category_code',
  'physical_address.city',
  'physical_address.country',
  'physical_address.line1',
  'physical_address.postal_code',
  'physical_address.state',
  'product_category',
  'product_description',
  'type',
  'website',
] as const;

/** A profile that activates, without anything that its edition and type of business do not require. */
export function complete(edition: Edition, type: BusinessType = 'company'): OnboardingProfile {
  if (edition === 2) {
    return {
      nickname: true,
      details: {
        legal_name: 'Lighthouse Courses Pte. Ltd.',
        dba: 'Lighthouse',
        email: 'ap@lighthouse.example',
        website: 'https://lighthouse.example',
        date_of_incorporation: '2014-04-01',
        type,
        ids: { business: '201412345N' },
        physical_address: { line1: '1 Quay', city: 'Singapore', state: 'SG', postal_code: '018956', country: 'SG' },
        merchant_category_code: '8299',
        merchant_size: 'small',
        product_category: 'education',
        product_description: 'Courses held online.',
      },
      document: null,
      persons: [['director'], ['director']],
      payoutAddress: true,
    };
  }
  const alone = type === 'sole_proprietor' || type === 'individual';
  const identified =
    type === 'partnership' ? { ids: { tax_gst: '08ABCDE1234F1Z5' } } : { ids: { business: 'U52100RJ' } };
  return {
    nickname: true,
    details: {
      type,
      ...(alone
        ? { physical_address: { line1: '1 Wharf', city: 'Pune', postal_code: '411001', country: 'IN' } }
        : identified),
    },
    document: type === 'partnership' ? 'identity_document' : null,
    persons: alone ? [['owner']] : [['director'], ['owner'], ['representative']],
    payoutAddress: true,
  };
}

/** The same hash without the member at this dotted path. */
export function without(hash: Record<string, unknown>, path: string): Record<string, unknown> {
  const [name = '', ...rest] = path.split('.');
  const { [name]: member, ...others } = hash;
  return rest.length === 0
    ? others
    : { ...others, [name]: without((member ?? {}) as Record<string, unknown>, rest.join('.')) };
}

/** The smallest thing that is a PDF by its content. */
export const pdf = (text = 'certificate') => new TextEncoder().encode(`%PDF-1.4\n%${text}\n%%EOF\n`);

const uploaded = new WeakMap<Speaker, Promise<Record<Purpose, string>>>();

/** Ids of a document of each purpose, uploaded once per speaker. */
export function documentsOf(speaker: Speaker): Promise<Record<Purpose, string>> {
  const upload = async (purpose: Purpose) => (await must(speaker.upload(purpose, pdf(purpose)))).id as string;
  const made =
    uploaded.get(speaker) ??
    Promise.all([upload('additional_verification'), upload('identity_document'), upload('tax_document')]).then(
      ([additional_verification, identity_document, tax_document]) => ({
        additional_verification,
        identity_document,
        tax_document,
      }),
    );
  uploaded.set(speaker, made);
  return made;
}

/** A person who passes both editions. */
export const personBody = (accountId: string, roles: readonly Role[]) => ({
  account_id: accountId,
  full_name: 'Meera Rao',
  relationship: Object.fromEntries(roles.map((role) => [role, true])),
  identification: { tax_card_number: 'ABCPE1234F' },
});

/** A connected user of the platform with this profile, in draft; its id. */
export async function assemble(platform: Speaker, profile: OnboardingProfile): Promise<string> {
  const made = await platform.graph(
    'mutation ($input: CreateConnectedUserInput!) { createConnectedUser(input: $input) { account { id } } }',
    // Metadata, so that the input is never empty: whether it may be is asked elsewhere.
    { input: { metadata: { profile: 'yes' }, ...(profile.nickname && { nickname: nickname() }) } },
  );
  const id = made.body.data?.createConnectedUser.account.id as string | undefined;
  if (!id) throw new Error(made.text);
  // Persons come before the type of the business: the rules of creation would not let some of them in.
  await Promise.all([
    ...profile.persons.map((roles) => must(platform.post('/v1/persons', personBody(id, roles)))),
    ...(profile.payoutAddress ? [must(platform.post('/v1/addresses', payoutAddressBody(id)))] : []),
  ]);
  const document = profile.document && (await documentsOf(platform))[profile.document];
  await must(
    platform.post(`/v1/accounts/${id}`, {
      ...(Object.keys(profile.details).length > 0 && { business_details: profile.details }),
      ...(document && { supporting_documentation: { id_document: document } }),
    }),
  );
  return id;
}
