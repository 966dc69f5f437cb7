import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectionOf, replicasOf } from '../../src/db/connect/driver/address.js';
import { Database } from '../../src/db/database.js';
import { pollMilliseconds } from '../../src/db/replicas/replica.js';
import { lsnOf, timelineOf, walPositionOf } from '../../src/db/replicas/wal-positions.js';
import { until, useChildren } from '../support/child.js';
import { caughtUp, positionOf, type Server, Servers } from '../support/standby.js';

const children = useChildren();
const servers = new Servers(children.folder());
const opened: Database[] = [];
const account = ['tenant false account'];
const walLsn = (text: string) => lsnOf(walPositionOf(0, text));

/** A gateway's view of a primary and the standbys beside it, and why it does not use them. */
function through(primary: Server, ...standbys: Server[]) {
  const url = (...ports: number[]) =>
    `postgres://tidegate@${ports.map((port) => `127.0.0.1:${port}`).join(',')}/tidegate`;
  const database = new Database(connectionOf(url(primary.port)), undefined, {
    replicas: { connections: replicasOf(url(...standbys.map(({ port }) => port))), lagSeconds: 60, reads: true },
  });
  opened.push(database);
  const reasons: (string | undefined)[] = [];
  const replicas = database.replicas!;
  database.signals.on('replica', (_, reason) => void reasons.push(reason));
  return { replicas, reasons };
}

/** Fills more of a server's log than two promotions take. */
const filled = (server: Server) =>
  server.sql`select pg_logical_emit_message(false, 'test', repeat('x', 1000000), true) from generate_series(1, 3)`;

let first: Server;
/** Has replayed more of the old timeline than was promoted. */
let ahead: Server;
/** Follows the promoted server over the promotion. */
let follower: Server;
let promoted: Server;

beforeAll(async () => {
  const folders: string[] = [];
  for (const name of ['first', 'ahead', 'follower', 'promoted']) folders.push(await servers.copy(name));
  first = await servers.start(folders[0]!);
  const standby = (n: number) => servers.start(folders[n]!, [], first);
  [ahead, follower, promoted] = await Promise.all([standby(1), standby(2), standby(3)]);
  for (const each of [ahead, follower, promoted]) await caughtUp(first, each);
  // What the follower has of the old timeline, the promoted server must have, too: the first goes on writing its log.
  await servers.end(follower);
  await caughtUp(first, promoted);
  await servers.end(promoted);
  await filled(first);
  await caughtUp(first, ahead);
  await servers.end(first);
  // Its upstream is gone, so it ends where it was.
  promoted = await servers.start(promoted.data, ['wal_keep_size=512MB'], first);
  await promoted.sql`select pg_promote()`;
});
afterAll(async () => {
  await Promise.all(opened.map((database) => database.close()));
  await servers.endAll();
});

describe('a standby that has more of the old timeline than was promoted', () => {
  it('is not used, neither before the new primary has come further nor after that', async () => {
    const { replicas, reasons } = through(promoted, ahead);
    const [{ at: replayed }] = await ahead.sql<[{ at: string }]>`select pg_last_wal_replay_lsn()::text as at`;
    const isBehind = async () => {
      const [row] = await promoted.sql<
        [{ behind: boolean }]
      >`select pg_current_wal_flush_lsn() < ${replayed} as behind`;
      return row.behind;
    };
    await until(() => reasons.length > 0);
    expect([await isBehind(), replicas.choose(0n)]).toEqual([true, undefined]);
    // A commit in the part of the log that the two servers have differently.
    const written = await replicas.ownWrites.wrote(account);
    expect(timelineOf(written!)).toBe(2);
    while (await isBehind()) await filled(promoted);
    // Two looks at each server, so that the standby has been compared with the primary that is further.
    const further = lsnOf(await positionOf(promoted)) - walLsn(replayed);
    await until(() => replicas.states[0]!.lag!.bytes >= further);
    await sleep(3 * pollMilliseconds);
    expect([replicas.choose(0n), replicas.choose(replicas.ownWrites.required(account)!)]).toEqual([
      undefined,
      undefined,
    ]);
    expect(reasons).toEqual(['it is not known to follow the timeline of the primary']);
  });

  it('is used as soon as it is a copy of the new primary', async () => {
    const { port, data } = ahead;
    await servers.end(ahead);
    await servers.backUp(promoted, data);
    ahead = await servers.start(data, [], promoted, port);
    const { replicas } = through(promoted, ahead);
    const position = await positionOf(promoted);
    await until(() => replicas.choose(position) !== undefined);
  });
});

describe('a standby that follows a promoted server', () => {
  it('is used if a role that may see statistics asks, and for any other role from its next restart point', async () => {
    follower = await servers.start(follower.data, [], promoted, follower.port);
    await caughtUp(promoted, follower);
    const { replicas } = through(promoted, follower);
    const used = async () => {
      const position = await positionOf(promoted);
      await until(() => replicas.choose(position) !== undefined);
    };
    await promoted.sql`grant pg_read_all_stats to tidegate`;
    await used();
    await promoted.sql`revoke pg_read_all_stats from tidegate`;
    await caughtUp(promoted, follower);
    await promoted.sql`checkpoint`;
    await caughtUp(promoted, follower);
    await follower.sql`checkpoint`;
    const [row] = await follower.sql`select timeline_id from pg_control_checkpoint()`;
    expect(row).toEqual({ timeline_id: 2 });
    await used();
  });
});

describe('the functions that say timelines', () => {
  it('may be called by any role', async () => {
    const rows = await promoted.sql`
      select proname from pg_proc where proacl is not null and proname in
        ('pg_walfile_name', 'pg_current_wal_insert_lsn', 'pg_control_checkpoint', 'pg_control_recovery',
          'pg_stat_get_wal_receiver', 'pg_control_system')`;
    expect([...rows]).toEqual([]);
  });
});
