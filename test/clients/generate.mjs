/**
 * Generates Python classes of the contract into the folder `generated`.
 */
import fs from 'node:fs';
import { InputData, JSONSchemaInput, quicktype } from 'quicktype-core';

const here = new URL('.', import.meta.url);
const contract = new URL('../../schema/openapi.json', here);
const generated = new URL('generated/', here);
fs.mkdirSync(generated, { recursive: true });

// quicktype reads JSON Schema, which the components of OpenAPI 3.1 are.
const { schemas } = JSON.parse(fs.readFileSync(contract, 'utf8')).components;
const definitions = JSON.parse(JSON.stringify(schemas).replaceAll('#/components/schemas/', '#/definitions/'));
const input = new JSONSchemaInput(undefined);
for (const name of Object.keys(schemas))
  await input.addSource({ name, schema: JSON.stringify({ $ref: `#/definitions/${name}`, definitions }) });
const inputData = new InputData();
inputData.addInput(input);
const { lines } = await quicktype({ inputData, lang: 'python', rendererOptions: { 'python-version': '3.7' } });
fs.writeFileSync(new URL('v1.py', generated), lines.join('\n'));
