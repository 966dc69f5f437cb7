import { sql } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { rivalPrimaries, Servers } from '../../db/connect/driver/servers.js';
import { fixedLimit } from '../../db/schema/drizzle-types.js';
import { programVersion } from '../../db/schema/schema-version.js';
import { workerFault } from '../../jobs/table.js';
import type { Operator } from '../operator.js';
import { counted, type HealthCheck, look, now, processesByVersion, span } from './finding.js';

/** A clock that differs by more makes times wrong that clients see. */
const clockSecondsMax = 5;
/** A table with more dead rows than living ones, and with as many as this, takes more room and time than it should. */
const deadRowsMin = 100_000;

/** The hosts of the address: who answers, who is the primary, on which timelines, and whose clock differs. */
export const servers: HealthCheck = {
  name: 'servers',
  alerts: ['TidegateNoCommits', 'TidegateUnavailable', 'TidegateDown', 'TidegateRetries'],
  well: 'Each host of DATABASE_URL answers, one of them is the primary, and the clocks agree.',
  async find(operator) {
    const states = await operator.servers();
    const rivals = rivalPrimaries(states);
    // The newest has what clients were told last. The others are to be its standbys.
    const newest = Math.max(...rivals.map(({ timeline }) => timeline!));
    const found = rivals.map(({ name, timeline }) =>
      now(
        `${name} takes itself for the primary, on timeline ${timeline}, and it is not the only one.`,
        timeline === newest
          ? 'select pg_walfile_name(pg_current_wal_lsn()), pg_postmaster_start_time()'
          : 'pg_ctl stop --mode=fast --pgdata=DATA',
      ),
    );
    const readOnly = states.some((state) => state.standby === false && state.readOnly);
    if (readOnly) found.push(now('The primary accepts no writes.', 'show default_transaction_read_only'));
    for (const { name, error, clockDifference = 0 } of states) {
      if (error !== undefined) found.push(look(`${name} does not answer: ${error}.`, 'curl -s http://GATEWAY/readyz'));
      if (Math.abs(clockDifference) > clockSecondsMax)
        found.push(
          look(`The clock of ${name} differs from this machine's by ${Math.round(clockDifference)} s.`, 'timedatectl'),
        );
    }
    return found;
  },
};

/** The room for what is written. The small commits of a gateway find room for longer than the writes of clients. */
export const disk: HealthCheck = {
  name: 'disk',
  alerts: ['TidegateNoCommits', 'TidegateUnavailable'],
  well: 'No disk of the database is known to be full.',
  async find({ audited }) {
    if ((await audited.readiness.unready()) !== 'disk full') return [];
    return [now('The disk of the database is full: writes are refused.', 'ssh SERVER df -h')];
  },
};

/** As many standbys as each commit waits for, by `synchronous_standby_names`. */
const standbysNeeded = (wanted: string): number =>
  Number(/^\s*(?:(?:first|any)\s*)?(\d+)\s*\(/i.exec(wanted.slice(0, 100))?.[1] ?? 1);

interface Standbys {
  wanted: string;
  attached: number;
  /** Whether the role sees which of them are synchronous. */
  seen: boolean;
  synchronous: number;
}

/** The synchronous standbys, without which no commit ends. */
const standbys: HealthCheck = {
  name: 'standbys',
  alerts: ['TidegateNoCommits'],
  well: 'No commit waits for a standby that is missing.',
  async find(operator) {
    const [row] = await operator.auditQuery<Standbys>(
      'health_standbys',
      (db) =>
        db
          .select({
            wanted: sql<string>`current_setting('synchronous_standby_names')`,
            attached: sql<number>`(select count(*)::int from pg_stat_replication)`,
            seen: sql<boolean>`(select count(*) = count(r.sync_state) from pg_stat_replication r)`,
            synchronous: sql<number>`(select count(*)::int from pg_stat_replication r
              where r.sync_state in ('sync', 'quorum'))`,
          })
          .from(sql`(select) nothing`),
      { present: true },
    );
    const { wanted, attached, seen, synchronous } = row!;
    if (wanted.trim() === '') return [];
    const needed = standbysNeeded(wanted);
    const there = seen ? synchronous : attached;
    if (there < needed)
      return [
        now(
          `${there === 0 ? 'No' : there} synchronous standby${there > 1 ? 's are' : ' is'} attached, and writes ` +
            `wait for ${needed === 1 ? 'one' : needed} (synchronous_standby_names = ${wanted}).`,
          'select application_name, state, sync_state from pg_stat_replication',
        ),
      ];
    return seen
      ? []
      : [look('This role may not see which standbys are synchronous.', 'grant pg_read_all_stats to ROLE')];
  },
};

/** The standbys for reads. */
const replicas: HealthCheck = {
  name: 'replicas',
  alerts: ['TidegateReplicaLag'],
  well: 'Each host of DATABASE_REPLICA_URL, if there is one, is a standby with data that are new enough.',
  async find(operator) {
    if (!operator.replicas) return [];
    const { connections, lagSeconds } = operator.replicas;
    const [states, hosts] = await Promise.all([new Servers(connections, 'any').states(), operator.servers()]);
    const written = Math.max(0, ...hosts.map(({ standby, position }) => (standby === false ? position! : 0)));
    const command = 'select application_name, state, replay_lag from pg_stat_replication';
    return states.flatMap(({ name, error, standby, position, replayedSeconds }) => {
      if (error !== undefined) return [look(`The replica ${name} does not answer: ${error}.`, command)];
      if (!standby)
        return [look(`The replica ${name} is no standby: nothing is read there.`, 'select pg_is_in_recovery()')];
      if (position! >= written || (replayedSeconds ?? Infinity) <= lagSeconds) return [];
      const behind = replayedSeconds == null ? 'has replayed nothing yet' : `is ${span(replayedSeconds)} behind`;
      return [look(`The replica ${name} ${behind}, and may be at most ${counted(lagSeconds, 'second')}.`, command)];
    });
  },
};

/** The nodes of a cluster. */
const nodes: HealthCheck = {
  name: 'nodes',
  alerts: ['TidegateNodeAway'],
  well: 'Each node of the cluster, if there is one, answers.',
  async find(operator) {
    const { crossTenant } = operator.audited;
    if (!(await crossTenant.distributed())) return [];
    // Each node is asked by itself, which fails when none answers.
    const one = (db: PostgresJsDatabase) => db.select({ one: sql`1` }).from(workerFault).limit(fixedLimit(1));
    const error: unknown = await crossTenant.read('nodes_that_answer', one).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    const away = crossTenant.nodes.filter(({ answers }) => !answers);
    if (error !== undefined && away.length === 0) throw error;
    return away.map(({ name }) =>
      now(
        `The node ${name} of the cluster does not answer: the requests of its tenants are refused.`,
        'select * from citus_check_cluster_node_health()',
      ),
    );
  },
};

const privileges: HealthCheck = {
  name: 'privileges',
  alerts: [],
  well: 'No role may change the append-only tables.',
  async find(operator) {
    const breaches = await operator.auditQuery<{ what: string }>('health_privileges', (db) =>
      db
        .select({ what: sql<string>`v.what` })
        .from(sql`violations v`)
        .where(sql`v.tenant_id is null and v.rule = 'append-only is not enforced'`),
    );
    const command = 'tidegate migrate --grant-to ROLE';
    return breaches.map(({ what }) => now(`An append-only table is not protected: ${what}.`, command));
  },
};

const versions: HealthCheck = {
  name: 'versions',
  alerts: ['TidegateDown', 'TidegateFaults'],
  well: 'The database, this program and the gateways have one version.',
  async find(operator) {
    const own = programVersion().version;
    const [row] = await operator.auditQuery<{ version: number }>('health_version', (db) =>
      db.select({ version: sql<number>`v.version` }).from(sql`drizzle.schema_version v`),
    );
    const found = row?.version ?? 0;
    if (found < own)
      return [now(`The database is at version ${found}, this program needs ${own}.`, 'tidegate migrate')];
    return found > own
      ? [look(`The database is at version ${found}, newer than this program's ${own}.`, processesByVersion)]
      : [];
  },
};

/** An index of more bytes is compared with what its entries need, and may have so many times of that. */
const [indexBytesMin, indexTimesMax] = [64 * 2 ** 20, 3];

/**
 * The B-trees that are much larger than their entries, which mostly few rows that were left of many have made. What the
 * entries need is reckoned from the statistics, rounded up, without equal keys that are stored once. Those of an index
 * on an expression are the owner's alone: without them `times` is null.
 */
const bloatedIndexes = (operator: Operator) =>
  operator.auditQuery<{ name: string; bytes: number; times: number | null }>('health_bloated_indexes', (db) =>
    db
      .select({
        name: sql<string>`b.oid::regclass::text`,
        bytes: sql<number>`b.bytes::float8`,
        times: sql<number | null>`(b.bytes / b.needed)::float8`,
      })
      .from(
        sql`(
          select c.oid, pg_relation_size(c.oid) as bytes,
            case when w.known then 8192 + c.reltuples * (20 + w.width) / 0.9 end as needed
          from pg_index i
          join pg_class c on c.oid = i.indexrelid
          join pg_class t on t.oid = i.indrelid
          join pg_am m on m.oid = c.relam and m.amname = 'btree'
          cross join lateral (
            select sum(s.avg_width) as width, count(*) = count(s.avg_width) as known
            from pg_attribute a
            left join pg_attribute k on k.attrelid = t.oid and k.attnum = i.indkey[a.attnum - 1] and k.attnum > 0
            left join pg_stats s on s.schemaname = 'public' and not s.inherited
              and s.tablename = case when k.attnum is null then c.relname else t.relname end
              and s.attname = coalesce(k.attname, a.attname)
            where a.attrelid = c.oid
          ) w
          where c.relnamespace = 'public'::regnamespace and c.relpages > ${sql.raw(String(indexBytesMin / 8192))}
            and c.reltuples >= 0 and (w.known or not pg_has_role(c.relowner, 'usage'))
        ) b`,
      )
      .where(sql`b.needed is null or b.bytes > b.needed * ${sql.raw(String(indexTimesMax))}`),
  );

const indexes: HealthCheck = {
  name: 'indexes',
  alerts: ['TidegateSlow', 'TidegateEventLoop'],
  well: 'Every index is valid and no larger than it need be, and no table has more dead rows than living ones.',
  async find(operator) {
    const invalid = await operator.auditQuery<{ name: string }>('health_indexes', (db) =>
      db
        .select({ name: sql<string>`i.indexrelid::regclass::text` })
        .from(sql`pg_index i join pg_class c on c.oid = i.indexrelid`)
        .where(sql`c.relnamespace = 'public'::regnamespace and not i.indisvalid`),
    );
    const found = await bloatedIndexes(operator);
    const unseen = found.filter(({ times }) => times === null).length;
    const dead = await operator.auditQuery<{ name: string; rows: number }>('health_dead_rows', (db) =>
      db
        .select({ name: sql<string>`t.relname`, rows: sql<number>`t.n_dead_tup::float8` })
        .from(sql`pg_stat_user_tables t`)
        .where(sql`t.schemaname = 'public' and t.n_dead_tup > greatest(t.n_live_tup, ${sql.raw(String(deadRowsMin))})`),
    );
    return [
      ...invalid.map(({ name }) => now(`The index ${name} is invalid.`, `reindex index concurrently ${name}`)),
      ...found.flatMap(({ name, bytes, times }) =>
        times === null
          ? []
          : look(
              `The index ${name} has ${Math.round(bytes / 2 ** 20)} MiB, some ${Math.round(times)} times what ` +
                'it needs.',
              `reindex index concurrently ${name}`,
            ),
      ),
      ...(unseen > 0
        ? [
            look(
              `This role may not see how many entries ${counted(unseen, 'large B-tree')} should hold.`,
              'DATABASE_URL=URL_OF_THE_OWNER tidegate doctor',
            ),
          ]
        : []),
      ...dead.map(({ name, rows }) =>
        look(`The table ${name} has ${counted(rows, 'dead row')}, more than living ones.`, `vacuum (verbose) ${name}`),
      ),
    ];
  },
};

export const databaseChecks: readonly HealthCheck[] = [
  servers,
  disk,
  standbys,
  replicas,
  nodes,
  versions,
  privileges,
  indexes,
];
