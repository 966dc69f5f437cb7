import { spawn } from 'node:child_process';
import { parse } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { codeOf, type Language, languages } from '../../src/sites/explorer/code.js';
import { givenIn, type Speaker, useWorld } from '../support/world.js';

/*
 * The explorer shows the query at hand as code. Each language is run as it is shown: by a shell, or by Node with the
 * real packages.
 */
const world = useWorld({ worker: true });
const given = givenIn(world);
let platform: Speaker;
let user: Speaker;

beforeAll(async () => {
  platform = await given.platform(1);
  user = await platform.connectedUser();
});

/** A text that ends every kind of literal, if it is not escaped. */
const hostile = `O'Brien "x" \\ \`id\` $(exit 9) \${process.exit(9)} </script>`;
const partner = {
  type: 'PARTNER',
  businessDetails: {
    ...{ legalName: 'Code', email: 'ap@code.example', type: 'COMPANY' },
    physicalAddress: { country: 'US', postalCode: '94105' },
  },
};
const header = { 'x-note': `it's $(exit 9) \`id\` "x" \\ \${process.exit(9)}` };

/** Runs code until it ends, or until it has printed what is awaited; returns what it has printed. */
function output(language: Language, code: string, awaited?: RegExp): Promise<string> {
  const [command, options] =
    language === 'curl'
      ? ['sh', ['-c', code]]
      : [process.execPath, ['--experimental-websocket', '--no-warnings', '--input-type=module', '-e', code]];
  const child = spawn(command as string, options as string[], {
    env: { ...process.env, TIDEGATE_KEY: platform.key },
    detached: true,
  });
  let [out, err] = ['', ''];
  return new Promise((resolve, reject) => {
    child.stderr.on('data', (data: Buffer) => (err += data.toString()));
    child.stdout.on('data', (data: Buffer) => {
      out += data.toString();
      // The shell's own child is in its group.
      if (awaited?.test(out)) process.kill(-child.pid!);
    });
    child.on('close', (status) => {
      if (status === 0 || awaited?.test(out)) resolve(out);
      else reject(new Error(`${language} ended with ${status}: ${err}${out}`));
    });
  });
}

const shown = (text: string, variables: object, headers: Record<string, string> = {}) => ({
  ...{ url: `${world.origin}/graphql`, document: parse(text), variables },
  headers: { 'on-behalf-of': user.id, ...header, ...headers },
});

/** The data in the output: the answer of the gateway, or what a client gives of it. */
const dataOf = (text: string) => {
  const value = JSON.parse(text) as { data?: any };
  return (value.data ?? value) as any;
};

describe.each(languages)('the code for %s', (language) => {
  it('asks a query with its variables, for the account that is acted for', async () => {
    const text = `query Find($text: String!) { viewer { account { id } } accounts(search: $text) { totalCount } }`;
    const data = dataOf(await output(language, codeOf(language, shown(text, { text: "O'Bri" }))));
    expect(data).toMatchObject({ viewer: { account: { id: user.id } }, accounts: { totalCount: expect.any(Number) } });
  });

  it('sends a mutation with a key of its own, and hostile texts as they are', async () => {
    const text = `mutation Create($input: CreateAccountInput!) {
      createAccount(input: $input) { account { id nickname metadata } } }`;
    const nickname = `${language} ${hostile}`;
    const code = codeOf(language, shown(text, { input: { ...partner, nickname, metadata: { note: hostile } } }));
    const { createAccount } = dataOf(await output(language, code));
    expect(createAccount.account).toMatchObject({ nickname, metadata: { note: hostile } });
    expect(code).toMatch(/idempotency-key/i);
    // The code for a shell has the key itself: the same code is the same request.
    if (language === 'curl') expect(dataOf(await output(language, code))).toEqual({ createAccount });
  });

  it('sends literals in the text of an operation as they are, without the other operations', async () => {
    const literal = JSON.stringify(`literal ${language} ${hostile}`);
    const text = `query Other { viewer { mode } } fragment Named on Account { nickname }
      mutation Create { createAccount(input: { type: PARTNER, nickname: ${literal}
        businessDetails: { legalName: "Code", email: "ap@code.example", type: COMPANY
          physicalAddress: { country: "US", postalCode: "94105" } } }) { account { ...Named } } }`;
    const code = codeOf(language, { ...shown(text, {}), operationName: 'Create' });
    expect(code).not.toContain('query Other');
    expect(dataOf(await output(language, code)).createAccount.account.nickname).toBe(JSON.parse(literal));
  });

  it('follows a subscription', async () => {
    const text = 'subscription Follow($after: SafeInt) { events(afterNumber: $after) { number type } }';
    const code = codeOf(language, shown(text, { after: 0 }));
    expect(await output(language, code, /"type":"account\.\w+"/)).toMatch(/"type":"account\.\w+"/);
  });
});

it('says why there is no code', () => {
  const asked = (text: string) => () => codeOf('curl', shown(text, {}));
  expect(asked('fragment A on Account { id }')).toThrow('The document has no operation.');
  expect(asked('query A { viewer { mode } } query B { viewer { mode } }')).toThrow('several operations');
});
