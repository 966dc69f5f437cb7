import { errorOf } from './error.js';
import { List, type Page, type Position } from './list.js';
import { type RetryOptions, retrying } from './retries.js';

/** What one call may have of its own. */
export interface CallOptions {
  /**
   * The key under which a write is done once. Give one that you store with what you do, such as the number of an order,
   * if the call may be made again by another process; otherwise each call gets a key of its own for its attempts.
   */
  idempotencyKey?: string;
  /** The user for which a platform calls. */
  onBehalfOf?: string;
  signal?: AbortSignal;
}

export interface ConnectionOptions extends RetryOptions {
  /** An API key, or in a browser the token of a session, or what returns one for each call. */
  key: string | (() => string | Promise<string>);
  /** Where the gateway is, such as `https://pay.example.com`. */
  origin: string;
  /** The user for which a platform calls, where a call names no other. */
  onBehalfOf?: string;
  /** `print` of the package `graphql`, if you send parsed documents, such as those of gql.tada. */
  print?: (document: any) => string;
}

type Value = string | number | boolean | null | undefined;

interface Input {
  query?: { [name: string]: Value | readonly Value[] } | undefined;
  body?: object | undefined;
  /** The body goes as a form, which can have a file. */
  form?: boolean;
  options?: CallOptions | undefined;
}

/** Sends requests to one gateway. */
export class Transport {
  readonly #options: ConnectionOptions;
  readonly #fetch: typeof fetch;
  /** The position of the last write, which later reads must have. */
  #consistency: string | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#fetch = retrying(options);
  }

  /** A transport with other options, which has read what this one has written. */
  with(options: Partial<ConnectionOptions>): Transport {
    const other = new Transport({ ...this.#options, ...options });
    other.#consistency = this.#consistency;
    return other;
  }

  /** The text of a document: of one that was parsed, what `print` makes of it. */
  textOf(document: unknown): string {
    const { print } = this.#options;
    if (typeof document === 'string' || document instanceof String) return String(document);
    if (!print) throw new TypeError('Give the client the option print, which makes a text of a parsed document.');
    return print(document);
  }

  /** Sends a request, and returns its answer whatever its status is. */
  async send(method: string, path: string, { query, body, form, options = {} }: Input = {}): Promise<Response> {
    const { key, origin, onBehalfOf } = this.#options;
    const url = new URL(path, origin);
    for (const [name, value] of Object.entries(query ?? {}))
      for (const each of Array.isArray(value) ? value : [value])
        if (each !== undefined && each !== null) url.searchParams.append(name, String(each));
    const headers = new Headers({ authorization: `Bearer ${typeof key === 'string' ? key : await key()}` });
    const user = options.onBehalfOf ?? onBehalfOf;
    if (user !== undefined) headers.set('on-behalf-of', user);
    if (options.idempotencyKey !== undefined) headers.set('idempotency-key', options.idempotencyKey);
    if (this.#consistency !== undefined) headers.set('tidegate-consistency', this.#consistency);
    const init: RequestInit = { method, headers };
    if (options.signal) init.signal = options.signal;
    if (form) init.body = formOf(body ?? {});
    else if (body !== undefined) {
      headers.set('content-type', 'application/json');
      init.body = JSON.stringify(body);
    }
    const response = await this.#fetch(url, init);
    this.#consistency = response.headers.get('tidegate-consistency') ?? this.#consistency;
    return response;
  }

  /** Calls an operation that answers an object. */
  async call<T>(method: string, path: string, input: Input): Promise<T> {
    const response = await this.download(method, path, input);
    return response.json();
  }

  /** Calls an operation that answers a list, once a page is read. */
  list<T extends { id: string }>(method: string, path: string, { query, options }: Input): List<T> {
    const read = (position: Position): Promise<Page<T>> =>
      this.call(method, path, { query: { ...query, ...position }, options });
    return new List(read, query?.ending_before !== undefined);
  }

  /** Calls an operation that answers a file or a stream. */
  async download(method: string, path: string, input: Input): Promise<Response> {
    const response = await this.send(method, path, input);
    if (!response.ok) throw await errorOf(response);
    return response;
  }
}

function formOf(body: object): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body))
    if (value instanceof Blob) form.append(name, value);
    else if (typeof value === 'object' && value !== null)
      for (const [key, each] of Object.entries(value)) form.append(`${name}[${key}]`, String(each));
    else form.append(name, String(value));
  return form;
}
