import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { RequestApi, RequestOutcome } from '../../resources/request-log/table.js';
import { Amount, Currency, DateTime } from '../../types/scalars.js';
import { FoundType } from '../find/objects.js';
import { livemode, OperatorObject, tenantId } from './type.js';

registerEnumType(FoundType, {
  name: 'FoundType',
  description: 'The kinds of object that `find` finds.',
  valuesConfig: {
    ACCOUNT: { description: 'A platform, a user or a partner, in one mode.' },
    ACCOUNT_SETTING: { description: 'The settings of an account.' },
    ADDRESS: { description: 'A destination for stored value.' },
    ADJUSTMENT: { description: 'A correction of available money.' },
    API_KEY: { description: 'A key of an account. Its secret is not stored.' },
    BALANCE_TRANSACTION: { description: 'What a payment moved in one part of a balance.' },
    BANK_LINE: { description: 'A transfer of an imported file of a bank.' },
    BANK_NOTICE: { description: 'A notice of a bank.' },
    CHANGE_REQUEST: { description: 'Details of an account that its owner asks to change.' },
    CHECKOUT: { description: 'A checkout of an account.' },
    DEPOSIT: { description: 'Funds that came into an account.' },
    DISPUTE: { description: 'A dispute of a deposit.' },
    EVENT: { description: 'Something that happened to an object of an account.' },
    EXPORT: { description: 'A whole list of an account as a file.' },
    FILE: { description: 'A file that an account has uploaded.' },
    IMPORT: { description: 'A sheet from which objects of an account are created.' },
    IMPORT_ROW: { description: 'A row of a sheet that an account imports.' },
    PAYMENT: { description: 'What moved a balance, as a payment of the API: of a deposit, a payout and so on.' },
    PAYMENT_ORDER: { description: 'An order by which a bank pays payouts.' },
    PAYOUT: { description: 'Funds on their way to a payout address.' },
    PERSON: { description: 'A director, owner or representative of an account.' },
    RECEIVABLE: { description: 'An invoice that collected funds pay.' },
    REFUND: { description: 'Money of a deposit on its way back.' },
    REQUEST: { description: 'A request of an account to the API, which is kept for some days.' },
    SESSION: { description: 'A session of a browser, which a key of an account has made.' },
    TRANSACTION: { description: 'An attempt to pay a checkout.' },
    UNEXPLAINED: { description: 'Money that an acquirer or a bank took, or took back, and that is in no balance.' },
    WEBHOOK_DELIVERY: { description: 'An event on its way to a webhook endpoint.' },
    WEBHOOK_ENDPOINT: { description: "An address to which an account's events are sent." },
  },
});

@ObjectType({ simpleResolvers: true, description: 'An object of any kind, by what tells it apart from others.' })
export class FoundObject {
  @Field(() => FoundType, { description: 'Its kind.' })
  type: FoundType;
  @Field(() => ID, {
    description: "Its id. A bank notice has the bank's reference, and a line of a bank's file the id of the file.",
  })
  id: string;
  @Field(() => ID, {
    nullable: true,
    description: `${tenantId} Null for a payment order, and for a line of a bank's file that is of none.`,
  })
  tenantId: string | null;
  @Field(() => Boolean, { description: livemode })
  livemode: boolean;
  @Field(() => DateTime, { description: 'When it was created.' })
  created: number;
  @Field(() => String, {
    nullable: true,
    description:
      'Its status in small letters, as on /v1. Of a bank notice what happened, of a request its outcome; of an API ' +
      'key or a session `revoked` once it is. Null where it has none.',
  })
  status: string | null;
  @Field(() => Amount, { nullable: true, description: 'Its amount, such as `250.00`. Null where it has none.' })
  amount: bigint | null;
  @Field(() => Currency, { nullable: true, description: 'The currency of the amount, or the one of an address.' })
  currency: string | null;
  @Field(() => String, {
    nullable: true,
    description:
      "The bank's reference, the number of an invoice or of a bank account, the reason of an adjustment, the " +
      'name of a person or a file, the address of a webhook endpoint, the beginning of an API key, the id of the key ' +
      'of a session, the list of an export, what an import creates, what a payment is of; of a request its ' +
      'operation, the HTTP status and the codes of its errors; of an event its type and the id of its object, and of ' +
      'a webhook delivery the type and the id of its event.',
  })
  reference: string | null;
  @Field(() => ID, { nullable: true, description: 'The account that it belongs to, if it belongs to one.' })
  accountId: string | null;
  @Field(() => ID, {
    nullable: true,
    description:
      'The deposit that it is, or that it is about; of a receivable the one that the newest money of it came from.',
  })
  depositId: string | null;
  @Field(() => ID, { nullable: true, description: 'The payout that it is, or that it is about.' })
  payoutId: string | null;
}

@ObjectType('RequestLog', {
  simpleResolvers: true,
  description: 'A request of an account to the API, without content.',
})
export class OperatorRequestLog extends OperatorObject {
  @Field(() => RequestApi, { description: 'The API that it was sent to.' })
  api: RequestApi;
  @Field(() => String, {
    description: 'The root field of a GraphQL operation, or `several`; of a request to /v1 its method and route.',
  })
  operation: string;
  @Field(() => Int, { description: 'The HTTP status of the answer.' })
  status: number;
  @Field(() => RequestOutcome, { description: 'Whether the answer has errors.' })
  outcome: RequestOutcome;
  @Field(() => [String], { description: 'The codes of the errors in the answer, each once; 10 at most.' })
  codes: string[];
  @Field(() => Int, { description: 'From the arrival of the request to the end of its answer, in milliseconds.' })
  durationMilliseconds: number;
  @Field(() => ID, { nullable: true, description: 'The API key of the request, or the one that made its session.' })
  apiKeyId: string | null;
  @Field(() => ID, { nullable: true, description: 'The session of the request; null for a request with a key.' })
  sessionId: string | null;
}

@ObjectType({ simpleResolvers: true, description: 'What `find` has found, and where it has looked.' })
export class FoundObjects {
  @Field(() => [FoundObject], { description: 'The objects: at most five of each place.' })
  objects: FoundObject[];
  @Field(() => Boolean, { description: 'Whether a place has more objects than these.' })
  hasMore: boolean;
  @Field(() => [String], { description: 'The places that were searched, in words, such as `Payments by id`.' })
  searched: string[];
  @Field(() => String, {
    nullable: true,
    description: 'What to add to the text so that more places are searched, as a sentence. Null where all were.',
  })
  hint: string | null;
}
