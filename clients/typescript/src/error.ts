import type { Error as ErrorObject } from './generated/types.js';

/** The codes of the catalogue. Later versions may add codes. */
export type ErrorCode = ErrorObject['errors'][number]['code'] | (string & {});

/** One thing that is wrong with a request. */
export interface Problem {
  code: ErrorCode;
  /** What is wrong and what to do, for people. */
  message: string;
  /** The parameter, such as `deposit.amount`, if one is wrong. */
  param: string | undefined;
}

/** A refusal of the gateway: the first problem, with all of them in `problems`. */
export class TidegateError extends Error {
  override readonly name = 'TidegateError';
  readonly code: ErrorCode;
  readonly param: string | undefined;

  constructor(
    /** The status of the answer. */
    readonly status: number,
    readonly problems: readonly Problem[],
    /** The id of the request, by which its entry in the log is found. */
    readonly requestId: string | undefined,
  ) {
    super(problems.map(({ message }) => message).join(' ') || `The answer has the status ${status}.`);
    this.code = problems[0]?.code ?? 'unknown';
    this.param = problems[0]?.param;
  }
}

/** The error of an answer that is not 2xx. One of a proxy, without an error object, has no problems. */
export async function errorOf(response: Response): Promise<TidegateError> {
  const text = await response.text().catch(() => '');
  return new TidegateError(response.status, problemsOf(text), response.headers.get('request-id') ?? undefined);
}

/** The problems of an error object of /v1, or of the errors of a GraphQL answer. */
export function problemsOf(text: string): Problem[] {
  try {
    const { errors } = JSON.parse(text);
    return errors.map(
      ({ code, message, metadata, extensions }: Record<string, any>): Problem => ({
        code: code ?? extensions?.error?.code ?? extensions?.code,
        message,
        param: metadata?.field_name ?? extensions?.error?.metadata?.field_name,
      }),
    );
  } catch {
    return [];
  }
}
