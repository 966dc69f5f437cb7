/** A statement of the specification: where it is in both APIs, and the tests that hold it. */
export interface Statement {
  /** The section and what the statement is about, in a few words. */
  about: string;
  /** Fields, arguments and values of the graph, such as `Account.status`; or in brackets why there is none. */
  graph: readonly string[];
  /** Keys of objects and parameters of routes on /v1, such as `GET /v1/accounts status`; or why there is none. */
  v1: readonly string[];
  /** Titles of tests, each after the name of its file. */
  tests: readonly string[];
}

/** The title of a test or of a group of tests, as it is in the file `<file>.test.ts` of one of the folders. */
export const held = (file: string, title: string): string => `${file}: ${title}`;

/** A tree of names: `a b { c d }` has the names `a`, `b`, `b.c` and `b.d`. */
export function namesOf(text: string): string[] {
  const path: string[] = [];
  const names: string[] = [];
  let last = '';
  for (const token of text.split(/\s+/).filter((each) => each !== '')) {
    if (token === '{') path.push(last);
    else if (token === '}') path.pop();
    else names.push([...path, (last = token)].join('.'));
  }
  return names;
}
