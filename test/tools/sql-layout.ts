import * as prettier from 'prettier';
import { doc } from 'prettier';
import * as sql from 'prettier-plugin-sql-cst';

export const widthMax = 120;

const { group, indent, line } = doc.builders;
const printer = sql.printers['sql-cst']!;

/** A node of the syntax tree, as far as the layouts below look at it. */
interface Node {
  type: string;
  selectKw?: { name: string };
  columns?: { items: Node[] };
  right?: Node;
}

/**
 * Two layouts for plpgsql that replace misleading ones of the plugin: a call by `perform` is on one line with its
 * keyword, and the query of a loop is indented below its `for`.
 */
const print: prettier.Printer<Node>['print'] = (path, settings, part, ...rest) => {
  const { type, selectKw, columns, right } = path.node;
  if (selectKw?.name === 'PERFORM' && columns?.items.length === 1 && columns.items[0]!.type === 'func_call')
    return [part('selectKw'), ' ', part('columns')];
  if (type === 'for_loop_stmt' && /(select|insert)_stmt$/.test(right?.type ?? '')) {
    const query = [part('forKw'), ' ', part('left'), ' ', part('inKw'), indent([line, part('right')]), line];
    return [group(query), part('loop')];
  }
  return printer.print(path, settings, part, ...rest);
};

const options: prettier.Options & sql.SqlPluginOptions = {
  parser: 'postgresql',
  plugins: [{ ...sql, printers: { 'sql-cst': { ...printer, print } } }],
  printWidth: widthMax,
  sqlKeywordCase: 'lower',
  sqlLiteralCase: 'lower',
  sqlTypeCase: 'lower',
  sqlIdentifierCase: 'preserve',
  sqlFunctionCase: 'preserve',
  sqlCanonicalSyntax: false,
  sqlFinalSemicolon: true,
  sqlParamTypes: [],
  sqlExperimentalPlpgsql: true,
};

// Without this, Prettier leaves a function body that the parser cannot read as it is, and reports nothing.
process.env['PRETTIER_DEBUG'] = 'true';

const comment = /^( *)-- (.*)$/;

/** Wraps each run of whole-line comments in which a line is too long. */
function wrapComments(text: string): string {
  const wrapped: string[] = [];
  let run: string[] = [];
  const flush = () => {
    wrapped.push(...(run.some((line) => line.length > widthMax) ? wrap(run) : run));
    run = [];
  };
  for (const line of text.split('\n')) {
    const indent = comment.exec(line)?.[1];
    if (run.length > 0 && comment.exec(run[0]!)?.[1] !== indent) flush();
    if (indent === undefined) wrapped.push(line);
    else run.push(line);
  }
  flush();
  return wrapped.join('\n');
}

function wrap(run: string[]): string[] {
  const begin = `${comment.exec(run[0]!)![1]!}-- `;
  return filled(
    run.flatMap((line) => comment.exec(line)![2]!.split(' ')),
    begin,
    begin,
  );
}

/** Lines of words, as long as they may be. The first one and each further one have their own beginning. */
function filled(words: string[], first: string, further: string): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && longer.length <= widthMax) lines[lines.length - 1] = longer;
    else lines.push(`${lines.length > 0 ? further : first}${word}`);
  }
  return lines;
}

/** Wraps each declaration of arguments in which a line is too long. */
const wrapDeclarations = (text: string): string =>
  text.replaceAll(/(?<=\bargs_of\(\n)( *)('[^']*')/g, (declaration: string, indent: string, argumentsText: string) =>
    declaration.split('\n').every((line) => line.length <= widthMax)
      ? declaration
      : filled(argumentsText.split(/(?<=,)\s+/), indent, `${indent}  `).join('\n'),
  );

/**
 * The text of a file of SQL functions as Prettier formats it. Prettier breaks neither comments nor texts, so that this
 * wraps comments and declarations of arguments that are too long.
 */
export async function formatted(text: string): Promise<string> {
  // PostgreSQL accepts both forms; the parser knows only the second.
  const readable = text.replaceAll(/^( *)elsif\b/gm, '$1elseif');
  return wrapComments(wrapDeclarations(await prettier.format(readable, options)));
}
