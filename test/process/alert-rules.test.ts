import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';

const program = [process.env.PROMTOOL ?? '', '/usr/bin/promtool', '/usr/local/bin/promtool'].find((file) =>
  fs.existsSync(file),
);
const missing = program ? '' : ' (skipped: no promtool is installed)';
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-rules-'));
afterAll(() => fs.rmSync(folder, { recursive: true }));

const file = path.resolve('docs/operations/alerts.yml');
const rules = parse(fs.readFileSync(file, 'utf8')).groups[0].rules as { alert: string; expr: string }[];
const up = 'up{job="tidegate",instance="a:9464"}';
const bucket = (name: string, le: string, labels: string) => `${name}_bucket{instance="a",le="${le}",${labels}}`;

/** What a scrape of a quiet gateway has: no rule may fire on it, whatever the time. */
const well: Record<string, string> = {
  [up]: '1x10000',
  'tidegate_errors_total{instance="a",api="rest",code="service_fault"}': '0x10000',
  'tidegate_errors_total{instance="a",api="graphql",code="service_unavailable"}': '0x10000',
  'tidegate_http_requests_total{instance="a",api="rest",operation="x",status="200"}': '0+100x10000',
  'tidegate_http_requests_total{instance="a",api="rest",operation="x",status="503"}': '0x10000',
  'tidegate_last_commit_age_seconds{instance="a"}': '1x10000',
  'tidegate_oldest_due_seconds{instance="a",of="payout"}': '0x10000',
  'tidegate_stuck{instance="a",of="job",mode="live"}': '0x10000',
  'tidegate_stuck{instance="a",of="job",mode="test"}': '0x10000',
  'tidegate_ledgers{instance="a",state="violated"}': '0x10000',
  'tidegate_ledgers{instance="a",state="unchecked"}': '0x10000',
  'tidegate_ledger_check_age_seconds{instance="a"}': '3600x10000',
  'tidegate_health{instance="a",check="servers",level="now"}': '0x10000',
  'tidegate_webhook_attempt_seconds_count{instance="a",outcome="undecryptable"}': '0x10000',
  'tidegate_processes_replaced_total{instance="a",reason="ended"}': '0x10000',
  'tidegate_worker_failures_total{instance="a",work="number_events"}': '0x10000',
};

/** Each rule, with what changes from the tenth minute on, and when it fires after that, in minutes; 1 is at once. */
const changes: [alert: string, series: Record<string, string>, fires: number][] = [
  ['TidegateDown', { [up]: '1x9 0x10000' }, 2],
  ['TidegateDown', { [up]: '1x9 _x10000' }, 7],
  ['TidegateGatewayLost', { 'tidegate_health{instance="a",check="gateways",level="look"}': '0x9 1x10000' }, 61],
  ['TidegateNoCommits', { 'tidegate_last_commit_age_seconds{instance="a"}': '1x9 16+60x10000' }, 1],
  // The first fault of a process, whose counter was born at 0.
  ['TidegateFaults', { 'tidegate_errors_total{instance="a",api="rest",code="service_fault"}': '0x9 1x10000' }, 1],
  [
    'TidegateUndecryptable',
    { 'tidegate_webhook_attempt_seconds_count{instance="a",outcome="undecryptable"}': '0x9 1x10000' },
    1,
  ],
  ['TidegateProcessReplaced', { 'tidegate_processes_replaced_total{instance="a",reason="ended"}': '0x9 1x10000' }, 1],
  [
    'TidegateUnavailable',
    { 'tidegate_http_requests_total{instance="a",api="rest",operation="x",status="503"}': '0x9 0+100x10000' },
    7,
  ],
  // The graph answers 200 with the error of its field.
  [
    'TidegateUnavailable',
    { 'tidegate_errors_total{instance="a",api="graphql",code="service_unavailable"}': '0x9 0+100x10000' },
    7,
  ],
  [
    'TidegateSlow',
    {
      [bucket('tidegate_http_request_duration_seconds', '1', 'api="rest"')]: '0x9 0+1x10000',
      [bucket('tidegate_http_request_duration_seconds', '2.5', 'api="rest"')]: '0x9 0+100x10000',
      [bucket('tidegate_http_request_duration_seconds', '+Inf', 'api="rest"')]: '0x9 0+100x10000',
    },
    12,
  ],
  ['TidegateRetries', { 'tidegate_statement_repeats_total{instance="a",pool="write"}': '0x9 0+600x10000' }, 7],
  ['TidegateEventLoop', { 'tidegate_event_loop_delay_seconds{instance="a"}': '0x9 0.3x10000' }, 6],
  ['TidegateNodeAway', { 'tidegate_database_node_up{instance="a",node="n"}': '1x9 0x10000' }, 2],
  ['TidegateReplicaLag', { 'tidegate_replica_lag_seconds{instance="a",replica="r"}': '0x9 31x10000' }, 6],
  ['TidegateLate', { 'tidegate_oldest_due_seconds{instance="a",of="payout"}': '0x9 121x10000' }, 4],
  ['TidegateWorkFails', { 'tidegate_worker_failures_total{instance="a",work="number_events"}': '0x9 0+1x10000' }, 22],
  ['TidegateStuck', { 'tidegate_stuck{instance="a",of="job",mode="live"}': '0x9 1x10000' }, 61],
  ['TidegateStuckTest', { 'tidegate_stuck{instance="a",of="job",mode="test"}': '0x9 1x10000' }, 61],
  [
    'TidegateWorkWaits',
    {
      [bucket('tidegate_worker_turn_seconds', '5', 'work="number_events"')]: '0x9 0+1x10000',
      [bucket('tidegate_worker_turn_seconds', '10', 'work="number_events"')]: '0x9 0+100x10000',
      [bucket('tidegate_worker_turn_seconds', '+Inf', 'work="number_events"')]: '0x9 0+100x10000',
    },
    17,
  ],
  ['TidegateLedgerViolated', { 'tidegate_ledgers{instance="a",state="violated"}': '0x9 1x10000' }, 1],
  ['TidegateLedgerUnchecked', { 'tidegate_ledgers{instance="a",state="unchecked"}': '0x9 1x10000' }, 361],
  // The last check of a ledger is three days old, and nothing is unchecked.
  ['TidegateLedgerUnchecked', { 'tidegate_ledger_check_age_seconds{instance="a"}': '259200x9 259201x10000' }, 361],
  [
    'TidegateCertificate',
    { 'tidegate_certificate_expires_seconds{instance="a"}': `5000000x9 ${13 * 86_400}x10000` },
    61,
  ],
  ['TidegateBackupOld', { 'tidegate_last_backup_age_seconds{instance="a",by="tidegate"}': '0x9 172801x10000' }, 61],
  ['TidegateHealth', { 'tidegate_health{instance="a",check="servers",level="now"}': '0x9 1x10000' }, 1],
];

/** Of these, what a counter says within a window, in which the process may begin again. */
const restarts = changes.filter(([name]) =>
  rules.some(({ alert, expr }) => alert === name && /\b(?:rate|increase)\(/.test(expr)),
);

/** An alert fires in so many minutes of change, with no other, and no sooner. */
const firingFrom = (alert: string, minutes: number) =>
  [
    [10 + Math.max(minutes - 2, -1), []],
    [10 + minutes - 1, [alert]],
  ] as const;

const firing = 'count by (alertname) (ALERTS{alertstate="firing"})';

/** Runs promtool on series, with the alerts that have to fire at some minutes and no others, and values at some. */
function tried(
  series: Record<string, string>,
  expected: readonly (readonly [minute: number, alerts: readonly string[]])[],
  values: readonly (readonly [minute: number, expr: string, value: number])[] = [],
) {
  const named = path.join(folder, 'rules.yml');
  fs.copyFileSync(file, named);
  const test = path.join(folder, 'test.yml');
  const tests = [
    {
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [
        ...expected.map(([minute, alerts]) => ({
          expr: firing,
          eval_time: `${minute}m`,
          exp_samples: alerts.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
        })),
        ...values.map(([minute, expr, value]) => ({
          expr,
          eval_time: `${minute}m`,
          exp_samples: [{ labels: '{}', value }],
        })),
      ],
    },
  ];
  fs.writeFileSync(test, stringify({ rule_files: [named], evaluation_interval: '1m', tests }));
  const run = spawnSync(program!, ['test', 'rules', test], { encoding: 'utf8' });
  expect([run.status, run.stdout + run.stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
}

// `.ci/run` installs Prometheus with its promtool where it can; PROMTOOL names another one.
describe.skipIf(!program)(`the alert rules${missing}`, () => {
  it('and the example of a configuration are read by promtool', () => {
    expect(execFileSync(program!, ['check', 'rules', file], { encoding: 'utf8' })).toContain(`${rules.length} rules`);
    // As it is shipped: it finds the rules.
    const example = path.resolve('docs/operations/deploy/prometheus.yml');
    const checked = execFileSync(program!, ['check', 'config', example], { encoding: 'utf8' });
    expect(checked).toContain(`${rules.length} rules`);
  });

  it('are each tried', () => {
    expect([...new Set(changes.map(([alert]) => alert))]).toEqual(rules.map(({ alert }) => alert));
  });

  it('do not fire while a gateway is well', () => {
    tried(well, [
      [10, []],
      [1_000, []],
    ]);
  });

  // The runbook of TidegateDown says so, with what to do.
  it('do not see that one of two gateways vanishes from discovery', () => {
    const second = 'up{job="tidegate",instance="b:9464"}';
    tried({ ...well, [second]: '1x9 0x2 _x10000' }, [
      [12, ['TidegateDown']],
      [20, []],
    ]);
    tried(
      { ...well, [second]: '1x9 _x10000' },
      [...Array(20).keys()].map((minute) => [9 + minute, []]),
    );
  });

  it('do not take a restart, which sets counters to 0, for a fault, and count what comes after it', () => {
    const requests = 'tidegate_http_requests_total{instance="a",api="rest",operation="x",';
    // Faults of long ago are in each counter; it begins again with the process, and soon has more than before.
    const restarted = {
      ...well,
      [up]: '1x59 0 1x10000',
      'tidegate_errors_total{instance="a",api="rest",code="service_fault"}': '7x59 _ 0x10000',
      'tidegate_webhook_attempt_seconds_count{instance="a",outcome="undecryptable"}': '7x59 _ 0x10000',
      'tidegate_processes_replaced_total{instance="a",reason="ended"}': '7x59 _ 0x10000',
      'tidegate_worker_failures_total{instance="a",work="number_events"}': '7x59 _ 0x10000',
      'tidegate_statement_repeats_total{instance="a",pool="write"}': '900x59 _ 0x10000',
      [`${requests}status="200"}`]: '100000+600x59 _ 0+600x10000',
      [`${requests}status="503"}`]: '5000x59 _ 0x10000',
    };
    const quiet = Array.from({ length: 30 }, (_, i) => [58 + i, []] as const);
    const rate = 'sum(rate(tidegate_http_requests_total[5m]))';
    tried(restarted, quiet, [
      [59, rate, 10],
      [70, rate, 10],
    ]);
    // Of as many requests one in fifty is a 503, from the restart on.
    const refused = { ...restarted, [`${requests}status="503"}`]: '5000x59 _ 0+12x10000' };
    tried(refused, [
      [60, []],
      [90, ['TidegateUnavailable']],
    ]);
  });

  it('tell of the few requests of a quiet night that fail, although balancers ask often', () => {
    const failing = {
      'tidegate_http_requests_total{instance="a",api="rest",operation="x",status="200"}': '0+3x9 27x10000',
      'tidegate_http_requests_total{instance="a",api="rest",operation="x",status="503"}': '0x9 0+3x10000',
      'tidegate_http_requests_total{instance="a",api="probe",operation="p",status="200"}': '0+1200x10000',
    };
    tried({ ...well, ...failing }, firingFrom('TidegateUnavailable', 7));
  });

  it.each(restarts)('%s counts what comes after a restart within its window, and nothing else: %j', (...row) => {
    const [alert, series, minutes] = row;
    const requests = 'tidegate_http_requests_total{instance="a",api="rest",operation="x",status="200"}';
    const restarted = { ...well, [requests]: '0+100x9 0+100x10000' };
    const names = Object.keys(series);
    // Nearly everything was slow before the restart, and nothing is later; the first scrape finds much counted already.
    const quiet = names.map((name, n) => [name, `${n === 0 ? 9 : 900}x9 ${names.length > 1 ? '100+100' : '0'}x10000`]);
    const minutesLater = Array.from({ length: 40 }, (_, n) => [9 + n, []] as const);
    tried({ ...restarted, ...Object.fromEntries(quiet) }, minutesLater);
    const counted = names.map((name) => [name, series[name]!.replace(/^0x9 /, '900x9 ')]);
    tried({ ...restarted, ...Object.fromEntries(counted) }, firingFrom(alert, minutes));
  });

  it.each(changes)('%s fires when it should, with no other: %j', (alert, series, minutes) => {
    tried({ ...well, ...series }, firingFrom(alert, minutes));
  });
});
