/**
 * Generates the TypeScript types or the Python classes of the contract, as its argument says, into the folder
 * `generated`. For `own`, the contract is that of the caller whose key is in KEY, as the gateway at ORIGIN answers it.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

const here = new URL('.', import.meta.url);
const contract = new URL('../../schema/openapi.json', here);
const generated = new URL('generated/', here);
fs.mkdirSync(generated, { recursive: true });

if (process.argv[2] === 'typescript') {
  const bin = new URL('node_modules/openapi-typescript/bin/cli.js', here).pathname;
  execFileSync(process.execPath, [bin, contract.pathname, '-o', new URL('v1.d.ts', generated).pathname], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
} else if (process.argv[2] === 'own') {
  const { default: openapiTS, astToString } = await import('openapi-typescript');
  const headers = { authorization: `Bearer ${process.env.KEY}` };
  const own = await fetch(`${process.env.ORIGIN}/openapi.json`, { headers });
  fs.writeFileSync(new URL('own.d.ts', generated), astToString(await openapiTS(await own.text())));
} else {
  const { InputData, JSONSchemaInput, quicktype } = await import('quicktype-core');
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
}
