import { describe, expect, it } from 'vitest';
import { readable } from '../../src/operator/commands/output.js';

describe('a list of a command', () => {
  it('has a line of a bank with the number of its account, which is no account of the service', () => {
    const line = { id: 'bank_file_1.2', day: '2026-11-27', account: '123456789', amount: '50.00', currency: 'INR' };
    const text = readable({ lines: [line], next: 'bank_file_1.2' });
    expect(text).toMatch(/bank_file_1\.2 .* 2026-11-27 .* 123456789 .* 50\.00 INR/);
    expect(text).toContain('List the next page with --after bank_file_1.2');
    expect(readable({ statements: [{ account: null, day: '2026-11-27' }] })).toContain('2026-11-27');
  });

  it('fits a terminal, where its entries have many members', () => {
    const refund = { id: 'refund_1', created: 1_795_822_374, amount: '20.00', reason: 'x'.repeat(200) };
    const [head] = readable({ refunds: [refund] }).split('\n');
    expect(head).not.toContain('REASON');
  });

  it('has ages for the times of jobs on a terminal, and their objects where there is room', () => {
    const at = (seconds: number) => new Date(seconds * 1000).toISOString();
    const now = 1_800_000_000;
    const job = {
      ...{ id: 'job_1', mode: 'live', kind: 'pay_out', created: at(now - 7_200), due: at(now + 90) },
      ...{ tenant: 'account_1', tenant_name: 'Harbor', subject: 'account_2', attempts: 0, error: null },
    };
    const rows = (width: number) => readable({ jobs: [job] }, { width, colour: false, now }).split('\n');
    expect(rows(100)).toEqual([
      'ID     MODE  KIND     CREATED  DUE       TENANT     TENANT NAME  SUBJECT    ATTEMPTS  ERROR',
      'job_1  live  pay_out  2 h      in 1 min  account_1  Harbor       account_2  0',
      '',
    ]);
    expect(rows(80)[0]).toBe('ID     MODE  KIND     CREATED  DUE       TENANT NAME  ATTEMPTS  ERROR');
    expect(readable({ jobs: [job] })).toContain(at(now + 90));
  });

  it('says that it is empty', () => {
    expect(readable({ lines: [] })).toBe('None.\n');
  });
});
