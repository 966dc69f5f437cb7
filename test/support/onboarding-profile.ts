import { pdfOf, personBody } from './bodies.js';
import { advanceAndRun, noon } from './jobs.js';
import { type Edition, must, nickname, payoutAddress, payoutAddressBody, type Reply, type Speaker } from './world.js';

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

const uploaded = new WeakMap<Speaker, Promise<Record<Purpose, string>>>();

/** Ids of a document of each purpose, uploaded once per speaker. */
export function documentsOf(speaker: Speaker): Promise<Record<Purpose, string>> {
  const upload = async (purpose: Purpose) => (await must(speaker.upload(purpose, pdfOf(purpose)))).id as string;
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

/** A connected user of the platform that is activated, with a payout address in INR. */
export async function activatedUser(platform: Speaker): Promise<Speaker> {
  await noon(platform);
  const businessDetails =
    platform.edition === 1
      ? {
          legalName: 'Asha Rao',
          type: 'INDIVIDUAL',
          physicalAddress: { line1: '1 Road', city: 'Pune', postalCode: '411001', country: 'IN' },
        }
      : {
          ...{ legalName: 'Asha Courses', dba: 'Asha', email: 'a@asha.example', website: 'https://asha.example' },
          ...{ dateOfIncorporation: '2014-04-01', type: 'COMPANY', ids: { business: 'U52100' } },
          physicalAddress: { line1: '1 Road', city: 'Oslo', state: 'Oslo', postalCode: '0150', country: 'NO' },
          ...{ merchantCategoryCode: '5131', merchantSize: 'small' },
          ...{ productCategory: 'goods', productDescription: 'Courses.' },
        };
  const user = await platform.connectedUser({ businessDetails });
  const role = platform.edition === 1 ? 'owner' : 'director';
  for (const full_name of ['Asha Rao', 'Jonas Lind'].slice(0, platform.edition))
    await must(platform.post('/v1/persons', { ...personBody(user.id, [role]), full_name }));
  await payoutAddress(platform, 'INR', user.id);
  await must(platform.post(`/v1/accounts/${user.id}/activate`));
  await advanceAndRun(platform, 61);
  return user;
}

/** The statuses of an account that is no root, and what moves it from one to another. */
export type Status = 'draft' | 'verifying' | 'activated' | 'hold' | 'deactivated';
export type Move = 'activate' | 'deactivate' | 'verify' | 'verify to hold' | 'hold' | 'close';
export type Kind = 'connected user' | 'partner';

/** The calls of /v1 that move an account. */
export const movedBy: Record<Move, (speaker: Speaker, id: string) => Promise<Reply>> = {
  activate: (speaker, id) => speaker.post(`/v1/accounts/${id}/activate`),
  deactivate: (speaker, id) => speaker.post(`/v1/accounts/${id}/deactivate`),
  verify: (speaker, id) => speaker.post(`/v1/test_helpers/accounts/${id}/verify`),
  'verify to hold': (speaker, id) => speaker.post(`/v1/test_helpers/accounts/${id}/verify`, { outcome: 'hold' }),
  hold: (speaker, id) => speaker.post(`/v1/test_helpers/accounts/${id}/hold`),
  close: (speaker, id) => speaker.post(`/v1/test_helpers/accounts/${id}/deactivate`),
};

/** The moves that lead from a draft to each status. */
const paths: Record<Status, Move[]> = {
  draft: [],
  verifying: ['activate'],
  activated: ['activate', 'verify'],
  hold: ['activate', 'verify to hold'],
  deactivated: ['close'],
};

/** An account in this status, which the calls have led there; a worker would lead it on. */
export async function accountIn(platform: Speaker, kind: Kind, status: Status, name?: string): Promise<string> {
  const id = kind === 'partner' ? (await platform.partner()).id : await assemble(platform, complete(platform.edition));
  if (name !== undefined) await must(platform.post(`/v1/accounts/${id}`, { nickname: name }));
  for (const move of paths[status]) await must(movedBy[move](platform, id));
  return id;
}
