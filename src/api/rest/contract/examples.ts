import fs from 'node:fs';

/** An entry of schema/events.json: a type of events with an example. */
export interface CatalogueEntry {
  type: string;
  object: string;
  when: string;
  modes: readonly string[];
  /** An event of this type, as /v1 and webhook endpoints get it. */
  example: unknown;
}

/** A recorded request with its response. */
export interface Example {
  path: string;
  request?: unknown;
  response: unknown;
}

/** Recorded requests and responses; `schema/examples.json`. */
export interface Examples {
  /** One for each operation. */
  operations: Record<string, Example>;
  /** A value of each header of responses, by its name in small letters. */
  headers: Record<string, string>;
  /** One response for each error code that the recorded run caused. */
  errors: Partial<Record<string, unknown>>;
  /** An event of each type. */
  events: Partial<Record<string, unknown>>;
  /** The edition of those operations and events whose example one edition alone can have. */
  only: Partial<Record<string, 1 | 2>>;
  /** Those of the other edition, for the operations and events of `only`. */
  others: { operations: Record<string, Example>; events: Record<string, unknown> };
}

const [examplesFile, eventsFile] = ['examples', 'events'].map(
  (name) => new URL(`../../../../schema/${name}.json`, import.meta.url),
) as [URL, URL];
export { eventsFile, examplesFile };

/** The recorded examples of the contract: those of the operations, and the events of the catalogue. */
export function recordedExamples(): Examples {
  const catalogue = fs.existsSync(eventsFile)
    ? (JSON.parse(fs.readFileSync(eventsFile, 'utf8')) as CatalogueEntry[])
    : [];
  return {
    ...(JSON.parse(fs.readFileSync(examplesFile, 'utf8')) as Omit<Examples, 'events'>),
    events: Object.fromEntries(catalogue.map(({ type, example }) => [type, example])),
  };
}

/** The examples that an edition can have. What an operation was asked for stays in its path. */
export function examplesOf(edition: 1 | 2, all: Examples): Examples {
  const { operations, events, only, others } = all;
  const has = (name: string) => only[name] === undefined || only[name] === edition;
  return {
    ...all,
    operations: Object.fromEntries(
      Object.entries(operations).map(([id, { path, ...example }]) => [
        id,
        has(id) ? { path, ...example } : (others.operations[id] ?? { path, response: undefined }),
      ]),
    ),
    events: Object.fromEntries(
      Object.entries(events).map(([type, event]) => [type, has(type) ? event : others.events[type]]),
    ),
  };
}
