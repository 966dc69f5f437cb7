import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../examples/acquirer/adapter.mjs', import.meta.url));

/** The example of an adapter, as a process of its own, with what plays its payers and its acquirer. */
export class AdapterProcess {
  readonly secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
  origin = '';
  #child: ChildProcess | undefined;

  /** Starts it; `port` is that of an earlier start, or 0 for a free one. */
  async start(mode: 'test' | 'live' = 'live', port = 0): Promise<void> {
    const env = { PATH: process.env.PATH, ACQUIRER_SECRET: this.secret, MODE: mode, PORT: String(port) };
    this.#child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(this.#child.stdout!.setEncoding('utf8'), 'data')) as [string];
    this.origin = /http:\S+/.exec(line)![0];
  }

  async stop(): Promise<void> {
    if (this.#child?.exitCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill();
    await ended;
  }

  /** The settings of a gateway with this adapter in live mode. */
  get environment(): Record<string, string> {
    return {
      ACQUIRER_URL: this.origin,
      ACQUIRER_SECRET: this.secret,
      ACQUIRER_FIELDS_URL: `${this.origin}/fields`,
    };
  }

  /** The settings of one with it in test mode, in place of the sandbox. */
  get testEnvironment(): Record<string, string> {
    return Object.fromEntries(Object.entries(this.environment).map(([name, value]) => [`TEST_${name}`, value]));
  }

  /** Says which gateway gets its reports, and may show its card fields. */
  gateway = (origin: string) => this.#play('gateway/0', { origin });
  /** Decides a payment, such as of a code that a payer has paid. */
  decide = (id: string, change: object) => this.#play(`attempts/${id}`, change);
  /** Decides a refund. */
  decideRefund = (id: string, change: object) => this.#play(`refunds/${id}`, change);
  /** A payer contests a payment, or a dispute is decided. */
  contest = (id: string, change: object) => this.#play(`disputes/${id}`, change);

  /** What the adapter says of an object. */
  async look(path: string): Promise<unknown> {
    const response = await fetch(`${this.origin}/${path}`, { headers: { authorization: `Bearer ${this.secret}` } });
    return response.status === 200 ? response.json() : response.status;
  }

  /** The token of a card, as its card fields make one. */
  async token(number: string): Promise<string> {
    const body = JSON.stringify({ number, expiry: '12/34' });
    const response = await fetch(`${this.origin}/tokens`, { method: 'POST', body });
    return ((await response.json()) as { token: string }).token;
  }

  async #play(path: string, body: object): Promise<void> {
    await fetch(`${this.origin}/stand-in/${path}`, { method: 'PUT', body: JSON.stringify(body) });
  }
}
