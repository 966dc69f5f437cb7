import type { PgTable } from 'drizzle-orm/pg-core';
import { account } from '../account/table.js';
import { accountV1 } from '../account/v1.js';
import { accountSetting } from '../account-setting/table.js';
import { accountSettingV1 } from '../account-setting/v1.js';
import { address } from '../address/table.js';
import { addressV1 } from '../address/v1.js';
import { checkout } from '../checkout/table.js';
import { checkoutV1 } from '../checkout/v1.js';
import { testClock } from '../clock/table.js';
import { clockV1 } from '../clock/v1.js';
import { fromRow } from '../../db/row-mapper.js';
import { deposit } from '../deposit/table.js';
import { bankNoticeV1, depositV1 } from '../deposit/v1.js';
import { file } from '../file/table.js';
import { fileV1 } from '../file/v1.js';
import { apiKey } from '../key/table.js';
import { apiKeyV1 } from '../key/v1.js';
import { payment } from '../payment/table.js';
import { paymentV1 } from '../payment/v1.js';
import { payout, payoutBlock } from '../payout/table.js';
import { payoutBlockV1, payoutV1, rateV1 } from '../payout/v1.js';
import { person } from '../person/table.js';
import { personV1 } from '../person/v1.js';
import { receivable } from '../receivable/table.js';
import { receivableV1 } from '../receivable/v1.js';
import { transaction } from '../transaction/table.js';
import { transactionV1 } from '../transaction/v1.js';
import type { EventRow } from './table.js';
import { rate } from '../exchange-rate/table.js';
import { bankNotice } from '../../operator/table.js';

/** Each object that events are about: its table, and how /v1 spells it. */
const shapes: Record<string, [table: PgTable, shape: (row: never) => object]> = {
  account: [account, accountV1],
  account_setting: [accountSetting, accountSettingV1],
  address: [address, addressV1],
  api_key: [apiKey, apiKeyV1],
  bank_notice: [bankNotice, bankNoticeV1],
  checkout: [checkout, checkoutV1],
  clock: [testClock, clockV1],
  deposit: [deposit, depositV1],
  file: [file, fileV1],
  payment: [payment, paymentV1],
  payout: [payout, payoutV1],
  payout_block: [payoutBlock, payoutBlockV1],
  person: [person, personV1],
  rate: [rate, rateV1],
  receivable: [receivable, receivableV1],
  transaction: [transaction, transactionV1],
};

/** The object of an event as it then became, as /v1 spells it. */
export function eventObjectV1({ object, data }: EventRow): object {
  const known = shapes[object];
  if (!known) throw new Error(`events are not about ${object}`);
  const [table, shape] = known;
  return shape(fromRow(table, data as Record<string, unknown>) as never);
}

/** An event as /v1 spells it. Silent: all fields. */
export function eventV1(e: EventRow) {
  return {
    id: e.id,
    object: 'event',
    created: e.created,
    livemode: e.livemode,
    type: e.type,
    data: { object: eventObjectV1(e) },
  };
}
