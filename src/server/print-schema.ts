import 'reflect-metadata';
import fs from 'node:fs';
import { printSchema } from 'graphql';
import { buildGraph } from '../api/graphql/server.js';
import { hashOfFiles, type SchemaVersion } from '../db/schema-version.js';
import { buildOperatorGraph } from '../operator/graph.js';

/** The public schema as text, as it is committed in schema/graph.graphql. */
export function graphText(): string {
  return `${printSchema(buildGraph())}\n`;
}

/** The operator's schema as text, as it is committed in schema/operator.graphql. */
export function operatorText(): string {
  return `${printSchema(buildOperatorGraph())}\n`;
}

/** `drizzle/version.json` as text: the version rises when the migrations or function files are not those that it was written for. */
export function versionText(before: SchemaVersion): string {
  const sha256 = hashOfFiles();
  const version = before.sha256 === sha256 ? before.version : before.version + 1;
  return `${JSON.stringify({ ...before, version, sha256 }, null, 2)}\n`;
}

/** Writes the schemas and the version; run by `npm run schema`. A test compares them with what is committed. */
if (process.argv[1] === new URL(import.meta.url).pathname) {
  fs.writeFileSync(new URL('../../schema/graph.graphql', import.meta.url), graphText());
  fs.writeFileSync(new URL('../../schema/operator.graphql', import.meta.url), operatorText());
  const version = new URL('../../drizzle/version.json', import.meta.url);
  fs.writeFileSync(version, versionText(JSON.parse(fs.readFileSync(version, 'utf8')) as SchemaVersion));
}
