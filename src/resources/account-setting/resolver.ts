import { Mutation, Ctx, Resolver } from 'type-graphql';
import { UpdateAccountSettingPayload, AccountSetting } from './type.js';
import { UpdateAccountSettingInput } from './inputs.js';
import { Input } from '../../types/input.js';
import type { Context } from '../../operation/context.js';
import { accountSetting } from './table.js';
import { account } from '../account/table.js';
import { permitPayouts, applicability, distinct } from './rules.js';
import { DomainError } from '../../errors/problems.js';

@Resolver(() => AccountSetting)
export class AccountSettingResolver {
  /** Changes a setting. Spec: Endpoints, POST /v1/account_settings/:id. */
  @Mutation(() => UpdateAccountSettingPayload, {
    description:
      'Changes a setting. Switching a kind on, or adding a currency, also issues ' +
      'addresses to accounts that are activated already.',
  })
  async updateAccountSetting(
    @Input(() => UpdateAccountSettingInput) input: UpdateAccountSettingInput,
    @Ctx() context: Context,
  ) {
    const { id, ...changes } = input;
    const setting = await context.scope.one(accountSetting, id);
    const owner = await context.scope.one(account, setting.accountId);
    permitPayouts(context, owner, input.payouts);
    const problems = applicability(setting, input);
    if (problems.length > 0) throw new DomainError(...problems);
    if (Object.values(changes).every((value) => value === undefined)) return { accountSetting: setting };
    return {
      accountSetting: await context.write('update_account_setting', accountSetting, {
        ...input,
        addressCurrency: distinct(input.addressCurrency),
      }),
    };
  }
}
