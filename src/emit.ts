import 'reflect-metadata';
import fs from 'node:fs';
import { printSchema } from 'graphql';
import { buildGraph } from './graph.js';

/** The public schema as text, as it is committed in schema/graph.graphql. */
export function graphText(): string {
  return `${printSchema(buildGraph())}\n`;
}

/** Writes the schemas; run by `npm run schema`. A test compares them with what is committed. */
if (process.argv[1] === new URL(import.meta.url).pathname) {
  fs.writeFileSync(new URL('../schema/graph.graphql', import.meta.url), graphText());
}
