import 'reflect-metadata';
import fs from 'node:fs';
import { printSchema } from 'graphql';
import { buildGraph } from './graph.js';
import { buildOperatorGraph } from './operator/graph.js';

/** The public schema as text, as it is committed in schema/graph.graphql. */
export function graphText(): string {
  return `${printSchema(buildGraph())}\n`;
}

/** The operator's schema as text, as it is committed in schema/operator.graphql. */
export function operatorText(): string {
  return `${printSchema(buildOperatorGraph())}\n`;
}

/** Writes the schemas; run by `npm run schema`. A test compares them with what is committed. */
if (process.argv[1] === new URL(import.meta.url).pathname) {
  fs.writeFileSync(new URL('../schema/graph.graphql', import.meta.url), graphText());
  fs.writeFileSync(new URL('../schema/operator.graphql', import.meta.url), operatorText());
}
