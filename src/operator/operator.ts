import type { AccountRow } from '../resources/account/table.js';
import type { ReconciledReceivableInput } from '../resources/deposit/inputs.js';
import type { LedgerCheckStatus } from '../resources/ledger/table.js';
import type { PayoutStatus } from '../resources/payout/table.js';
import type { PersonRow } from '../resources/person/table.js';
import type { Related } from './graph/related.js';
import { OperatorDesk } from './session.js';
import type { ListFilter } from './paging.js';
import {
  type AccountFilter,
  type NewRoot,
  type RootChanges,
  type IssuedAddress,
  createRoot,
  verify,
  hold,
  deactivate,
  updateRoot,
  issueAddress,
  listAccounts,
  verificationOf,
  taxCardNumber,
  keysOf,
  keyOf,
  exists,
  isEmpty,
} from './account/accounts.js';
import {
  type BankNotice,
  recordNotice,
  waitingNotices,
  duplicateNotices,
  withdrawNotice,
  mismatches,
  depositOf,
  reconcile,
} from './money/bank.js';
import { passTime, catchUp } from './job/test-clock.js';
import { listPayouts, payoutOf, endPayout, serviceHold, setRate, listRates } from './money/payouts.js';
import { auditLedger, listLedgerChecks, verifySeals } from './money/audit.js';
import { type ActionFilter, listActions, verifyActions } from './action/actions.js';
import { createOperator, listOperators, revokeOperator } from './access/operators.js';
import type { OperatorRole } from './table.js';
import { listGateways, listHolds, listNotices } from './console.js';
import { secretsInUse } from './access/secrets.js';
import { listJobs, listStuck, retryJob } from './job/jobs.js';

/**
 * The operations of the service's operator: create roots, decide about accounts, record what banks have issued and
 * sent. The command line and the operator's graph both call this class; each method calls one function of another file.
 */
export class Operator extends OperatorDesk {
  createRoot(root: NewRoot) {
    return createRoot(this, root);
  }
  verify(row: AccountRow, outcome: 'activated' | 'hold') {
    return verify(this, row, outcome);
  }
  hold(row: AccountRow) {
    return hold(this, row);
  }
  deactivate(row: AccountRow) {
    return deactivate(this, row);
  }
  updateRoot(row: AccountRow, changes: RootChanges) {
    return updateRoot(this, row, changes);
  }
  issueAddress(row: AccountRow, given: IssuedAddress) {
    return issueAddress(this, row, given);
  }
  accounts(filter: AccountFilter) {
    return listAccounts(this, filter);
  }
  verification(row: AccountRow, related?: Related) {
    return verificationOf(this, row, related);
  }
  taxCardNumber(row: PersonRow) {
    return taxCardNumber(this, row);
  }
  keys(row: AccountRow) {
    return keysOf(this, row);
  }
  key(id: string) {
    return keyOf(this, id);
  }
  exists(id: string) {
    return exists(this, id);
  }
  empty() {
    return isEmpty(this);
  }

  passTime(root: Pick<AccountRow, 'tenantId'>, seconds: number) {
    return passTime(this, root, seconds);
  }
  catchUp(root: AccountRow) {
    return catchUp(this, root);
  }

  bankNotice(given: BankNotice) {
    return recordNotice(this, given);
  }
  waitingNotices() {
    return waitingNotices(this);
  }
  duplicateNotices() {
    return duplicateNotices(this);
  }
  withdrawNotice(addressId: string, reference: string) {
    return withdrawNotice(this, addressId, reference);
  }
  mismatches() {
    return mismatches(this);
  }
  deposit(id: string, tenantId?: string) {
    return depositOf(this, id, tenantId);
  }
  reconcile(id: string, receivables: ReconciledReceivableInput[], tenantId?: string) {
    return reconcile(this, id, receivables, tenantId);
  }

  payouts(filter: ListFilter<PayoutStatus>) {
    return listPayouts(this, filter);
  }
  payout(id: string) {
    return payoutOf(this, id);
  }
  endPayout(id: string, to: 'completed' | 'failed') {
    return endPayout(this, id, to);
  }
  serviceHold(row: AccountRow, held: boolean) {
    return serviceHold(this, row, held);
  }
  setRate(root: Pick<AccountRow, 'tenantId'>, source: string, target: string, value: string) {
    return setRate(this, root, source, target, value);
  }
  rates(root: Pick<AccountRow, 'tenantId'>) {
    return listRates(this, root);
  }

  audit() {
    return auditLedger(this);
  }
  ledgerChecks(filter: ListFilter<LedgerCheckStatus>) {
    return listLedgerChecks(this, filter);
  }
  verifySeals() {
    return verifySeals(this);
  }
  secretsInUse() {
    return secretsInUse(this);
  }
  jobs(after?: string) {
    return listJobs(this, after);
  }
  actions(filter: ActionFilter) {
    return listActions(this, filter);
  }
  verifyActions(since?: { entries: number; lastHash: string }) {
    return verifyActions(this, since);
  }
  operators() {
    return listOperators(this);
  }
  createOperator(name: string, role: OperatorRole, by: string) {
    return createOperator(this, name, role, by);
  }
  revokeOperator(nameOrId: string) {
    return revokeOperator(this, nameOrId);
  }
  notices(limit: number, after?: string) {
    return listNotices(this, limit, after);
  }
  holds(limit: number, after?: string) {
    return listHolds(this, limit, after);
  }
  gateways() {
    return listGateways(this);
  }
  stuckWork(after?: string, limit?: number) {
    return listStuck(this, after, limit);
  }
  retryJob(id: string) {
    return retryJob(this, id);
  }
}
