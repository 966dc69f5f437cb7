import { Ctx, Mutation, Resolver } from 'type-graphql';
import { ValidationErrorsIBAN, validateIBAN } from 'ibantools';
import { account } from '../account/table.js';
import type { Context } from '../../operation/context.js';
import { checkFiles, verificationPurposes } from '../file/reference.js';
import type { Listing } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';
import { ownAccounts, related } from '../../auth/permissions.js';
import { listedValues, type Problem, problem, DomainError, snake } from '../../errors/problems.js';
import { type BankAccountInput, CreateAddressInput, UpdateAddressInput } from './inputs.js';
import { address } from './table.js';
import { Address } from './type.js';
import { Input } from '../../types/input.js';

/** The problems of a new address: a category or type that clients cannot create, or an invalid bank account. */
export function addressProblems({ category, type, bankAccount }: Partial<CreateAddressInput>): Problem[] {
  const problems: Problem[] = [];
  if (category !== undefined && category !== 'user_payout') {
    problems.push(
      problem(
        'parameter_invalid',
        'address.category',
        listedValues(['user_payout'], ([category]) => `must be ${category}: the service creates the others`),
      ),
    );
  }
  if (type !== undefined && type !== 'bank_account')
    problems.push(
      problem(
        'parameter_invalid',
        'address.type',
        listedValues(['bank_account'], ([type]) => `must be ${type}`),
      ),
    );
  return [...problems, ...bankAccountProblems(bankAccount)];
}

const numberLength = { min: 4, max: 34 } as const;

/**
 * The problems of a bank account: an IBAN with a wrong country, length or checksum, a number of an implausible length,
 * or a control character within a text, as copies from files have them.
 * Silent: the forms.
 */
export function bankAccountProblems(bank: BankAccountInput | null | undefined): Problem[] {
  const problems = Object.entries(bank ?? {}).flatMap(([name, text]: [string, unknown]) =>
    typeof text === 'string' && /\p{Cc}/u.test(text.trim())
      ? [
          problem(
            'parameter_invalid',
            `address.bank_account.${snake(name)}`,
            'contains a control character. Remove it.',
          ),
        ]
      : [],
  );
  if (problems.length > 0) return problems;
  const given = (text: string | null | undefined): text is string => text != null && text.trim() !== '';
  if (given(bank?.number)) {
    const { length } = bank.number.trim().replaceAll(/[ -]/g, '');
    if (!/^[A-Za-z0-9 -]+$/.test(bank.number.trim()) || length < numberLength.min || length > numberLength.max)
      problems.push(
        problem(
          'parameter_invalid',
          'address.bank_account.number',
          `must have ${numberLength.min} to ${numberLength.max} letters and digits`,
        ),
      );
  }
  if (given(bank?.iban) && !isIban(bank.iban))
    problems.push(
      problem(
        'parameter_invalid',
        'address.bank_account.iban',
        'must be an IBAN: its country, length or checksum is wrong',
      ),
    );
  return problems;
}

/** Bank details as they are stored: without white space around them, and null where nothing is left. */
export function bankDetailsOf<T extends BankAccountInput>(bank: T): T {
  const texts = Object.entries(bank) as [string, string | null | undefined][];
  return {
    ...bank,
    ...Object.fromEntries(texts.map(([name, text]) => [name, text == null ? text : text.trim() || null])),
  };
}

/**
 * Whether a text is an IBAN, with the check digits, length and form of its country; blanks and hyphens between its
 * parts and small letters are fine. The check digits that some countries have inside are not checked.
 */
function isIban(text: string): boolean {
  const { errorCodes } = validateIBAN(text.replaceAll(/[\s-]/g, '').toUpperCase());
  return errorCodes.every((code) => code === ValidationErrorsIBAN.WrongAccountBankBranchChecksum);
}

/**
 * The last four characters of a number. It counts code points, because PostgreSQL cannot store half of a surrogate
 * pair.
 */
export function lastFour(number: string | null | undefined): string | null {
  return number == null ? null : [...number].slice(-4).join('');
}

/** How addresses are listed. Spec: List Addresses. */
export const addressListing: Listing = {
  object: 'address',
  filters: {
    category: address.category,
    currency: address.currency,
    isReusable: address.isReusable,
    linkedId: address.linkedId,
    status: address.status,
    type: address.type,
    'wallet.provider': address.walletProvider,
    'vpa.upi.onetime': address.vpaUpiOnetime,
    'vpa.upi.recurring': address.vpaUpiRecurring,
  },
  byAccount: ['linkedId'],
  parents: [address.linkedId],
  own: address.linkedId,
};

const CreateAddressPayload = payloadOf('CreateAddress', 'address', Address);
const UpdateAddressPayload = payloadOf('UpdateAddress', 'address', Address);

@Resolver(() => Address)
export class AddressResolver {
  /** Creates a payout address, activated at once. Spec: Create an Address. */
  @Mutation(() => CreateAddressPayload, {
    description: 'Creates a payout address. Payouts of a currency use the newest address; it replaces the older ones.',
  })
  async createAddress(@Input(() => CreateAddressInput) input: CreateAddressInput, @Ctx() context: Context) {
    const owner = await context.scope.one(account, input.linkedId, 'address.linked_id');
    if (owner.kind === 'partner')
      throw new DomainError(
        problem('parameter_invalid', 'address.linked_id', 'must be an account of type user or platform'),
      );
    if (!related(context.caller, ownAccounts, owner)) {
      throw new DomainError(
        problem(
          'permission_denied',
          'address.linked_id',
          'A payout address is created by the user itself, or by its platform. Use a key of one of them.',
        ),
      );
    }
    const documents = input.supportingDocumentation;
    await checkFiles(context.scope, [
      {
        id: documents?.idDocument,
        field: 'address.supporting_documentation.id_document',
        purposes: verificationPurposes,
      },
    ]);
    const { linkedObject: _, bankAccount, billingDetails, supportingDocumentation, ...rest } = input;
    const bank = bankDetailsOf(bankAccount);
    const row = await context.write('create_address', address, {
      ...rest,
      bankAccount: { ...bank, last4: lastFour(bank.number ?? bank.iban) },
      billingDetails,
      supportingDocumentation: supportingDocumentation ?? null,
      // With its own key, also on behalf of the user.
      byPlatform: context.caller.kind === 'platform',
    });
    return { address: row };
  }

  /** Changes an address's metadata. Spec: Endpoints, POST /v1/addresses/:id. */
  @Mutation(() => UpdateAddressPayload, { description: 'Changes the metadata of an address.' })
  async updateAddress(@Input(() => UpdateAddressInput) input: UpdateAddressInput, @Ctx() context: Context) {
    const { id, metadata } = input;
    const before = await context.scope.one(address, id);
    if (metadata === undefined) return { address: before };
    return { address: await context.write('update_address', address, { id, metadata }) };
  }
}
