/** An event as /v1 shows it. */
export interface EventV1 {
  id: string;
  created: number;
  type: string;
  account_id: string;
  number: number;
  data: { object: { id?: string } };
}

/** An object of /v1. */
export interface Answered {
  id: string;
  [member: string]: unknown;
}

/** The account of a key, as far as recipes depend on it. */
export interface KeyAccount {
  id: string;
  type: 'PLATFORM' | 'USER';
  subType: string | null;
  edition: 1 | 2;
}

/** A recipe that cannot be followed: the gateway refused a step, or the key's account cannot cause the event. */
export class TriggerError extends Error {}

/**
 * A gateway, as a client with a test key sees it. Each request that changes something is reported as a step. It runs in
 * Node and in the explorer's page, and uses what both have.
 */
export class TestGateway {
  constructor(
    private readonly origin: string,
    /** The headers that say who asks, such as `authorization`. */
    private readonly credential: Readonly<Record<string, string>>,
    /** Receives what was done, as a line. */
    private readonly say: (step: string) => void = () => {},
    /** The account for which requests are sent, if it is not that of the key. */
    private readonly onBehalfOf?: string,
  ) {}

  /** The same gateway for a connected user of the key's platform. */
  for(id: string): TestGateway {
    return new TestGateway(this.origin, this.credential, this.say, id);
  }

  /** Whether the gateway is on this machine. */
  get local(): boolean {
    const { hostname } = new URL(this.origin);
    return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  }

  async account(): Promise<KeyAccount> {
    const { viewer } = await this.graph<{ viewer: Viewer }>('{ viewer { edition mode account { id type subType } } }');
    if (viewer.mode !== 'TEST') throw new TriggerError('Events are triggered in test mode only. Use a test key.');
    return { ...viewer.account, edition: viewer.edition };
  }

  async get(path: string): Promise<Answered> {
    return (await this.#sent('GET', `/v1${path}`)).body;
  }

  async list<T = Answered>(path: string): Promise<T[]> {
    return (await this.get(path)).data as T[];
  }

  async post(path: string, body: object = {}): Promise<Answered> {
    const { body: answer } = await this.#sent('POST', `/v1${path}`, JSON.stringify(body));
    this.say(`POST /v1${path}  ${answer.id ?? ''}`.trim());
    return answer;
  }

  async graph<T>(query: string, variables: object = {}): Promise<T> {
    const { body } = await this.#sent('POST', '/graphql', JSON.stringify({ query, variables }));
    const errors = body.errors as { message: string }[] | undefined;
    if (errors) throw new TriggerError(errors.map(({ message }) => message).join(' '));
    return body.data as T;
  }

  /** Calls a mutation that /v1 does not have; `shown` names the field of the payload that is returned. */
  async mutate(name: string, input: object, shown: string): Promise<Answered> {
    const type = `${name[0]!.toUpperCase()}${name.slice(1)}Input!`;
    const query = `mutation ($input: ${type}) { ${name}(input: $input) { ${shown} { id } } }`;
    const answer = (await this.graph<Record<string, Record<string, Answered>>>(query, { input }))[name]![shown]!;
    this.say(`mutation ${name}  ${answer.id}`);
    return answer;
  }

  /** Uploads a file; by default a document. */
  async upload(purpose: string, text = '%PDF-1.4\n%trigger\n%%EOF\n', name = 'document.pdf'): Promise<Answered> {
    const form = new FormData();
    form.set('purpose', purpose);
    form.set('file', new Blob([text]), name);
    const { body } = await this.#sent('POST', '/v1/files', form);
    this.say(`POST /v1/files  ${body.id}`);
    return body;
  }

  /** The path of the page of a checkout. */
  async page(checkout: string): Promise<string> {
    const { headers } = await this.#sent('GET', `/v1/checkouts/${checkout}`);
    return new URL(/<([^<>]+)>; rel="payment"/.exec(headers.get('link') ?? '')![1]!).pathname;
  }

  /** Sends a form of a payment page, as its payer does. */
  async form(path: string, fields: Record<string, string>): Promise<void> {
    const response = await fetch(new URL(path, this.origin), {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams(fields),
      headers: { origin: this.origin },
    });
    await response.body?.cancel();
    if (response.status >= 400) throw new TriggerError(`The payment page answered with status ${response.status}.`);
    this.say(`POST ${path.replace(/\/checkout\/[^/]+/, '/checkout/…')}`);
  }

  async #sent(method: string, path: string, body?: string | FormData) {
    const response = await fetch(new URL(path, this.origin), {
      method,
      headers: {
        ...this.credential,
        ...(typeof body === 'string' && { 'content-type': 'application/json' }),
        ...(this.onBehalfOf && { 'on-behalf-of': this.onBehalfOf }),
      },
      ...(body !== undefined && { body }),
    }).catch((error: Error & { cause?: { code?: string } }) => {
      throw new TriggerError(`The gateway at ${this.origin} does not answer: ${error.cause?.code ?? error.message}.`);
    });
    const text = await response.text();
    let answer: Answered;
    try {
      answer = JSON.parse(text) as Answered;
    } catch {
      throw new TriggerError(`The address ${this.origin} is not that of a gateway. Check --gateway.`);
    }
    if (path.startsWith('/v1') && !response.ok) {
      const errors = (answer.errors ?? []) as { message: string; metadata?: { field_name?: string } }[];
      const reasons = errors.map(({ message }) => message);
      throw new TriggerError(`${method} ${path} was refused (${response.status}): ${reasons.join(' ')}`);
    }
    return { body: answer, headers: response.headers };
  }
}

interface Viewer {
  edition: 1 | 2;
  mode: string;
  account: Omit<KeyAccount, 'edition'>;
}
