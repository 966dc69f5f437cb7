import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { until } from './child.js';
import { freePort } from './ports.js';

const places = [process.env.PROMETHEUS ?? '', '/usr/bin/prometheus', '/usr/local/bin/prometheus'];

/** The Prometheus of the variable PROMETHEUS or of this machine. */
export const prometheusProgram = places.find((file) => fs.existsSync(file));

const docs = path.resolve('docs/operations');

/** A real Prometheus with the alert rules and the intervals of the documentation, which scrapes the given addresses. */
export class Prometheus {
  readonly #folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-prometheus-'));
  #running: ChildProcess | undefined;
  #origin = '';

  async start(targets: string[]): Promise<void> {
    const config = parse(fs.readFileSync(path.join(docs, 'deploy/prometheus.yml'), 'utf8'));
    const { job_name } = config.scrape_configs[0];
    config.rule_files = [path.resolve(docs, 'deploy', config.rule_files[0])];
    // Tests ask Prometheus what fires.
    delete config.alerting;
    config.scrape_configs = [{ job_name, static_configs: [{ targets }] }];
    const file = path.join(this.#folder, 'prometheus.yml');
    fs.writeFileSync(file, stringify(config));
    const address = `127.0.0.1:${await freePort()}`;
    this.#origin = `http://${address}`;
    this.#running = spawn(
      prometheusProgram!,
      [
        `--config.file=${file}`,
        `--storage.tsdb.path=${path.join(this.#folder, 'data')}`,
        `--web.listen-address=${address}`,
        '--log.level=error',
      ],
      { stdio: 'ignore' },
    );
    // Everything is scraped, and no rule fires.
    await until(async () => (await this.query('sum(up)')) === targets.length, 200);
  }

  /** The alerts that fire now, by their names. */
  firing = (): Promise<Set<string>> => this.#inState('firing');

  /** The alerts that would fire if what they say went on for as long as they wait, by their names. */
  pending = (): Promise<Set<string>> => this.#inState('pending');

  async #inState(wanted: string): Promise<Set<string>> {
    const found = (await this.#get('/api/v1/alerts')) as { alerts: { state: string; labels: { alertname: string } }[] };
    return new Set(found.alerts.filter(({ state }) => state === wanted).map(({ labels }) => labels.alertname));
  }

  /** The first value of an expression; undefined when there is none. */
  async query(expression: string): Promise<number | undefined> {
    const found = (await this.#get(`/api/v1/query?query=${encodeURIComponent(expression)}`)) as
      | { result: { value: [number, string] }[] }
      | undefined;
    const [first] = found?.result ?? [];
    return first && Number(first.value[1]);
  }

  async #get(at: string): Promise<unknown> {
    const reply = await fetch(this.#origin + at).catch(() => undefined);
    return reply?.ok ? ((await reply.json()) as { data: unknown }).data : undefined;
  }

  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (running && running.exitCode === null) {
      const ended = new Promise((resume) => running.once('exit', resume));
      running.kill('SIGKILL');
      await ended;
    }
    fs.rmSync(this.#folder, { recursive: true, force: true });
  }
}
