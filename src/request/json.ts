import { visit } from 'jsonc-parser';
import { problemsMax } from './problems.js';

/** The body of a request, or what keeps it from being one. */
export interface JsonBody {
  value: unknown;
  /** The paths of keys that an object has more than once, such as `receivables[0].amount`; the first 100. */
  repeated: string[];
}

/**
 * JSON with the keys that it has more than once. JSON.parse keeps the last value of such a key and says nothing, so that
 * what a person or a proxy has read in the text may differ from what is done. Throws what JSON.parse throws, and a
 * RangeError for what is nested too deeply to be looked through.
 */
export function parsedJson(text: string): JsonBody {
  const value: unknown = JSON.parse(text);
  // The text has at least as many quotes before a colon as it has keys: as many as there are in the value, and none of
  // them is there twice. That is nearly every body, and costs a third of the visitor.
  return { value, repeated: keysIn(text) === keysOf(value) ? [] : repeatedKeys(text) };
}

function keysIn(text: string): number {
  let count = 0;
  const key = /"[ \t\r\n]*:/g;
  while (key.test(text)) count++;
  return count;
}

/** How many keys all objects of a value have together. */
function keysOf(value: unknown): number {
  let count = 0;
  const open = [value];
  while (open.length > 0) {
    const one = open.pop();
    if (typeof one !== 'object' || one === null) continue;
    if (Array.isArray(one)) for (const member of one) open.push(member);
    else
      for (const key of Object.keys(one)) {
        count++;
        open.push((one as Record<string, unknown>)[key]);
      }
  }
  return count;
}

/** The paths of repeated keys, exactly: the library decodes the keys, so that `"a"` and `"\u0061"` are one. */
function repeatedKeys(text: string): string[] {
  const found = new Set<string>();
  const objects: Set<string>[] = [];
  visit(text, {
    onObjectBegin: () => {
      objects.push(new Set());
    },
    onObjectEnd: () => {
      objects.pop();
    },
    onObjectProperty: (name, _, __, ___, ____, path) => {
      const keys = objects.at(-1)!;
      if (keys.has(name) && found.size < problemsMax) found.add(pathText([...path(), name]));
      keys.add(name);
    },
  });
  return [...found];
}

function pathText(path: (string | number)[]): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .slice(1);
}
