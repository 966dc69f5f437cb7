import type postgres from 'postgres';

/** The limits that a role may have for requests, which a copy of everything exceeds. A server knows some of them. */
const limits = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout'];

/** Lifts the time limits of a transaction, and sets how its values are written as text. */
export async function withoutLimits(tx: postgres.TransactionSql): Promise<void> {
  await tx.unsafe(`select set_config(name, '0', true) from pg_settings where name in ('${limits.join("', '")}')`);
  for (const [name, value] of Object.entries({
    ...{ timezone: 'UTC', datestyle: 'ISO, YMD', intervalstyle: 'postgres', bytea_output: 'hex' },
    ...{ extra_float_digits: '1', client_encoding: 'UTF8' },
  }))
    await tx.unsafe(`set local ${name} = '${value}'`);
}
