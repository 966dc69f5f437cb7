import { Arg, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { account } from '../../resources/account/table.js';
import { requestLog } from '../../resources/request-log/table.js';
import type { OperatorContext } from '../context.js';
import { find } from '../find/find.js';
import { FoundObject, FoundObjects, OperatorRequestLog } from '../graph/found-type.js';
import { edgesOf, one, type OperatorModule } from '../graph/module.js';
import { OperatorAccount } from '../graph/type.js';

/** The operator finds an object of any tenant by one text. Silent: all of it. */
@Resolver(() => FoundObject)
class OperatorFind {
  @Query(() => FoundObjects, {
    description:
      'Finds the objects of all tenants that have a text: an id of any kind, also of a logged request; the reference ' +
      'that a bank has given to a transfer, also in capitals; the account number of a receiving address; the address ' +
      "of a checkout's page; or words of the name of an account, as `accounts(search:)` finds it. Beside the id of " +
      'an account (`393.27 USD account_…`, `INV-5001 account_…`), the text is sought in the tenant and mode of that ' +
      'account: an exact amount with its currency, the texts of payments and invoices, and the ids of payments, ' +
      'persons and webhook endpoints.',
  })
  find(
    @Arg('text', () => String, { description: 'What to find: 1 to 300 characters, with a letter or a digit.' })
    text: string,
    @Ctx() { operator }: OperatorContext,
  ): Promise<FoundObjects> {
    return find(operator, text);
  }

  @FieldResolver(() => OperatorAccount, { nullable: true, description: 'The account that it belongs to.' })
  account(
    @Root() { tenantId, livemode, accountId }: FoundObject,
    @Ctx() { related }: OperatorContext,
  ): Promise<OperatorAccount | null> | null {
    return tenantId === null || accountId === null
      ? null
      : related.one(account, account.id, { tenantId, livemode }, accountId);
  }

  @FieldResolver(() => OperatorRequestLog, { nullable: true, description: 'Of a logged request what the log has.' })
  request(
    @Root() { type, id, tenantId, livemode }: FoundObject,
    @Ctx() { related }: OperatorContext,
  ): Promise<OperatorRequestLog | null> | null {
    return type === 'request' && tenantId !== null
      ? related.one(requestLog, requestLog.id, { tenantId, livemode }, id)
      : null;
  }
}

export default {
  resolvers: [OperatorFind],
  fields: { find: 'find' },
  edges: [
    edgesOf(OperatorRequestLog, {
      onBehalfOfAccount: one(
        OperatorAccount,
        account,
        account.id,
        'onBehalfOf',
        'The account that a platform acted for.',
      ),
    }),
  ],
  sizes: { 'FoundObjects.objects': 50 },
} satisfies OperatorModule;
