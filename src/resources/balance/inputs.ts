import { Field, ArgsType } from 'type-graphql';
import { DateTime } from '../../types/scalars.js';
import { AccountScope } from '../../types/account-scope.js';
import { scopeText } from './acting-accounts.js';

@ArgsType()
export class AsOfArgs {
  @Field(() => DateTime, { nullable: true, description: 'The end of this second; answered from the ledger.' })
  asOf?: number | null;
  @Field(() => AccountScope, { defaultValue: AccountScope.SELF, description: scopeText })
  scope: AccountScope;
}
