import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { folder, functionFiles } from '../schema/schema-version.js';

/** One argument of a write function, as its declaration says. */
export interface Declared {
  key: string;
  type: string;
  optional: boolean;
  nullable: boolean;
  /** Whether only gateways of the previous version send it, and this version does not. */
  retired: boolean;
  /** The members of the object, or of each object of the list, where they are declared. */
  members: Declared[] | undefined;
}

/** A function as its file defines it. */
export interface DefinedFunction {
  name: string;
  file: string;
  /** The names of its parameters. */
  parameters: string[];
  /** The types of its parameters, by which PostgreSQL tells functions of one name apart. */
  types: string[];
  /** How many of the last parameters a call may leave out. */
  defaults: number;
  returns: string;
  body: string;
  /** Whether only gateways of the previous release call it, under an old name; its body says so. */
  retired: boolean;
}

/** A write function: the table that it returns a row of, and the arguments that it declares. */
export interface WriteFunction extends DefinedFunction {
  args: Declared[];
}

const definition = new RegExp(
  String.raw`^create or replace function (\w+)\(([^)]*)\)\s+(?:returns (table \([^)]*\)|[^\n]+)\n)?` +
    String.raw`(?:language plpgsql\n|volatile\n|stable\n|immutable\n|set \w+ = \w+\n)*as \$\$\n([\s\S]*?)\n\$\$;`,
  'gm',
);

/** Every function that the files in drizzle/functions define. */
export function definedFunctions(): DefinedFunction[] {
  return functionFiles().flatMap((file) => definedIn(file, fs.readFileSync(path.join(folder, file), 'utf8')));
}

/** The functions that the text of a file defines. */
export function definedIn(file: string, text: string): DefinedFunction[] {
  return [...text.matchAll(definition)].map(([, name, parameters, returns, body]) => {
    const declared = parameters!
      .split(',')
      .map((each) => each.trim().split(/\s+/))
      .filter(([first]) => first);
    return {
      name: name!,
      file,
      parameters: declared.map(([parameter]) => parameter!),
      types: declared.map(([, ...type]) => type.join(' ').replace(/ (default|=) .*/, '')),
      defaults: declared.filter((words) => /^(default|=)$/.test(words.at(-2) ?? '')).length,
      returns: returns ?? '',
      body: body!,
      retired: isRetired(body!),
    };
  });
}

/** Whether a body says that only gateways of the previous release call the function. */
export const isRetired = (body: string) => /^\s*begin\s+-- Retired: /.test(body);

/** The declarations in a function's body, each with the checked value and the variable that holds the result. */
export function declarationsIn(body: string): { variable: string; checked: string; args: Declared[] }[] {
  const found = body.matchAll(/(\w+)(?: jsonb)? := check_args\(\s*([^;]*?),\s*args_of\(\s*'([^']*)'\s*\)\s*\);/g);
  return [...found].map(([, variable, checked, text]) => ({
    variable: variable!,
    checked: checked!,
    args: declaredIn(text!),
  }));
}

/** The arguments of a declaration. A comma inside braces separates members. */
function declaredIn(text: string): Declared[] {
  return text.split(/,(?![^{]*\})/).map((part) => declared(part.trim()));
}

function declared(part: string): Declared {
  const [, key, optional, type, members, nullable, retired] =
    /^(\w+)(\?)? ([a-z]+(?:\[\])?)(?: \{([^{}]+)\})?( null)?( retired)?$/.exec(part) ?? [];
  if (key === undefined || type === undefined) throw new Error(`an argument cannot be declared by "${part}"`);
  return {
    key,
    type,
    optional: optional !== undefined,
    nullable: nullable !== undefined,
    retired: retired !== undefined,
    members: members === undefined ? undefined : declaredIn(members),
  };
}

/** The parameters of a function that writes. Another one may follow: a content, which is too large for JSON. */
export const isWriting = (parameters: readonly string[] | null) =>
  /^p_tenant,p_live,p_envelope,p_args(?:,p_content)?$/.test(parameters?.join() ?? '');

/** The functions that a gateway may write with: those that take a write envelope and arguments. */
export function writeFunctions(): WriteFunction[] {
  return definedFunctions()
    .filter(({ parameters, retired }) => !retired && isWriting(parameters))
    .map((fn) => {
      const args = declarationsIn(fn.body).find(({ checked }) => checked === 'p_args')?.args;
      if (!args) throw new Error(`${fn.name} does not declare its arguments`);
      return { ...fn, args };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

const types: Record<string, string> = {
  text: 'string',
  bigint: 'bigint',
  int: 'number',
  boolean: 'boolean',
  object: 'object',
  'text[]': 'readonly string[]',
  'object[]': 'readonly object[]',
};

/** Arguments as members of an interface. An optional one may be undefined, because JSON omits undefined members. */
function membersOf(args: Declared[], indent: string): string[] {
  return args
    .filter(({ retired }) => !retired)
    .flatMap(({ key, type, optional, nullable, members }) => {
      const name = `${indent}${key}${optional ? '?' : ''}:`;
      const others = `${nullable ? ' | null' : ''}${optional ? ' | undefined' : ''};`;
      if (!members) return `${name} ${types[type]}${others}`;
      const [open, close] = type === 'object' ? ['{', '}'] : ['readonly {', '}[]'];
      if (others === ';') return [`${name} ${open}`, ...membersOf(members, `${indent}  `), `${indent}${close};`];
      // As the formatter writes a union.
      const union = others.replaceAll(' | ', `\n${indent}  | `);
      return [name, `${indent}  | ${open}`, ...membersOf(members, `${indent}      `), `${indent}    ${close}${union}`];
    });
}

/** The text of write-functions.ts: the write functions and the write envelope as TypeScript. */
export function writeFunctionsText(): string {
  const envelope = definedFunctions()
    .flatMap(({ body }) => declarationsIn(body))
    .find(({ checked }) => checked === 'p_envelope');
  if (!envelope) throw new Error('no function declares the write envelope');
  return [
    '// Generated by `npm run schema` from the declarations in drizzle/functions; do not edit.',
    '',
    '/** The write envelope as the functions read it. */',
    'export interface StoredEnvelope {',
    ...membersOf(envelope.args, '  '),
    '}',
    '',
    '/** Each function that writes: the table that it returns rows of, and its arguments. */',
    'export interface WriteFunctions {',
    ...writeFunctions().flatMap(({ name, returns, args }) => [
      `  ${name}: {`,
      `    returns: '${returns.replace('setof ', '')}';`,
      '    args: {',
      ...membersOf(args, '      '),
      '    };',
      '  };',
    ]),
    '}',
    '',
  ].join('\n');
}

/**
 * Writes the file. `npm run schema` runs this before the build, which needs it. A test compares it with the committed
 * file.
 */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  fs.writeFileSync(new URL('./write-functions.ts', import.meta.url), writeFunctionsText());
}
