import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { StatementObserver } from '../../src/db/connect/observer.js';
import { pdf, png } from '../support/bodies.js';
import { type Edition, givenIn, must, type Speaker, useWorld } from '../support/world.js';
import { filesIn, jpeg, purposes, sha256 } from './file-fixture.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
const { download } = filesIn(world);

/** Notes the connections of the statements that read contents; returns a function that ends this. */
function contentsRead(pools: string[]): () => void {
  const observer: StatementObserver = {
    began: ({ name, pool }) => {
      if (name === 'file_content') pools.push(pool);
      return () => {};
    },
  };
  const { observers } = world.database;
  observers.push(observer);
  return () => observers.splice(observers.indexOf(observer), 1);
}

describe('reading a file', () => {
  it.each([
    ['application/pdf', pdf],
    ['image/png', png],
    ['image/jpeg', jpeg],
  ] as const)(
    "returns the bytes as %s, as a download that a browser does not render in the gateway's origin",
    async (type, content) => {
      const user = await given.directUser(1);
      const { id } = await must(user.upload('logo', content, "p(a)ge'*.html"));

      const answer = await download(user, id);

      expect(answer.status).toBe(200);
      expect([...answer.content]).toEqual([...content]);
      const shown = Object.fromEntries(
        [
          'content-type',
          'content-length',
          'content-disposition',
          'content-security-policy',
          'x-content-type-options',
          'cache-control',
        ].map((name) => [name, answer.headers.get(name)]),
      );
      expect(shown).toEqual({
        'content-type': type,
        'content-length': String(content.length),
        'content-disposition': "attachment; filename*=UTF-8''p%28a%29ge%27%2A.html",
        'content-security-policy': expect.stringContaining('sandbox'),
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      });
      expect(answer.headers.get('request-id')).toBeTruthy();
    },
  );

  describe('of several parts', () => {
    const part = 512 * 1024;
    const content = (size: number) => new Uint8Array(Buffer.concat([pdf, randomBytes(size)]).subarray(0, size));

    it.each([
      ['a byte less than two parts', 2 * part - 1, 2],
      ['two parts', 2 * part, 3],
      ['a byte more', 2 * part + 1, 3],
    ])('reads them one by one, on connections for expensive reads: %s', async (_, size, statements) => {
      const user = await given.directUser(1);
      const whole = content(size);
      const { id } = await must(user.upload('invoice', whole));
      const pools: string[] = [];
      const end = contentsRead(pools);

      const back = await download(user, id);

      end();
      expect(pools).toEqual(Array(statements).fill('slow'));
      expect([back.status, back.headers.get('content-length')]).toEqual([200, String(size)]);
      expect(sha256(back.content)).toBe(sha256(whole));
    });

    it('answers HEAD with the length, and reads none', async () => {
      const user = await given.directUser(1);
      const { id } = await must(user.upload('invoice', content(part + 1)));
      const pools: string[] = [];
      const end = contentsRead(pools);
      const { status, headers } = await fetch(`${world.origin}/v1/files/${id}/content`, {
        method: 'HEAD',
        headers: { authorization: `Bearer ${user.key}` },
      });
      end();
      expect([status, headers.get('content-length'), pools]).toEqual([200, String(part + 1), []]);
    });
  });

  it('returns the same object through the graph, without the content', async () => {
    const user = await given.directUser(1);
    const file = await must(user.upload('logo', png, 'logo.png', { 'metadata[a]': '1' }));
    const fields = 'id created livemode purpose filename contentType size sha256 metadata account { id }';

    const graph = await must(
      user.graph(
        `query ($id: ID!) { file(id: $id) { ${fields} } node(id: $id) { id __typename } files { nodes { ` +
          `${fields} } } }`,
        {
          id: file.id,
        },
      ),
    );
    const content = await user.graph('query ($id: ID!) { file(id: $id) { content } }', { id: file.id });

    expect(graph.data.file).toEqual({
      id: file.id,
      created: new Date(file.created * 1000).toISOString().replace('.000Z', 'Z'),
      livemode: false,
      purpose: 'LOGO',
      filename: 'logo.png',
      contentType: 'image/png',
      size: png.length,
      sha256: sha256(png),
      metadata: { a: '1' },
      account: { id: user.id },
    });
    expect(graph.data.node).toEqual({ id: file.id, __typename: 'File' });
    expect(graph.data.files.nodes).toEqual([graph.data.file]);
    expect(content.status).toBe(400);
  });

  it('works for its account and the platform above; for others neither the file nor its content exists', async () => {
    const platform = await given.platform(1);
    const [user, other] = await Promise.all([platform.connectedUser(), platform.connectedUser()]);
    const outsider = await given.directUser(1);
    const [ofUser, ofPlatform] = await Promise.all([
      must(user.upload('logo', png)),
      must(platform.upload('logo', png)),
    ]);

    const reached = await Promise.all([download(user, ofUser.id), download(platform, ofUser.id)]);
    expect(reached.map(({ status }) => status)).toEqual([200, 200]);
    const missed = await Promise.all(
      [
        [other, ofUser],
        [outsider, ofUser],
        [user, ofPlatform],
        [user, { id: `file_${'0'.repeat(32)}` }],
        [platform.actingFor(other.id), ofUser],
      ].flatMap(([speaker, { id }]: any) => [speaker.get(`/v1/files/${id}`), speaker.get(`/v1/files/${id}/content`)]),
    );
    expect(missed.map(({ status, codes, fieldNames }) => [status, codes, fieldNames])).toEqual(
      missed.map(() => [404, ['resource_missing'], ['file.id']]),
    );
  });

  it('finds it only in its mode', async () => {
    const { test, live } = await given.directUserBoth(1);
    const [inTest, inLive] = await Promise.all([must(test.upload('logo', png)), must(live.upload('logo', png))]);
    expect([inTest.livemode, inLive.livemode]).toEqual([false, true]);
    const crossed = await Promise.all([live.get(`/v1/files/${inTest.id}/content`), test.get(`/v1/files/${inLive.id}`)]);
    expect(crossed.map(({ status }) => status)).toEqual([404, 404]);
  });
});

describe('listing files', () => {
  it('shows the files of the acting account, newest first, and filters by purpose and account', async () => {
    const platform = await given.platform(1);
    const [user, other] = await Promise.all([platform.connectedUser(), platform.connectedUser()]);
    const logo = (await must(user.upload('logo', png))).id;
    const deed = (await must(user.upload('identity_document', pdf))).id;
    const foreign = (await must(other.upload('logo', png))).id;
    const own = (await must(platform.upload('invoice', pdf))).id;
    const acted = (await must(platform.actingFor(user.id).upload('tax_document', pdf))).id;
    const rows: [Speaker, string, string[]][] = [
      [platform, '', [acted, own, foreign, deed, logo]],
      [user, '', [acted, deed, logo]],
      [platform.actingFor(user.id), '', [acted, deed, logo]],
      [platform, '?purpose=logo', [foreign, logo]],
      [platform, '?purpose=logo&purpose=invoice', [own, foreign, logo]],
      [platform, '?purpose=tax_document,identity_document', [acted, deed]],
      [platform, '?purpose=additional_verification', []],
      [platform, `?account_id=${user.id}`, [acted, deed, logo]],
      [platform, `?account_id=${user.id}&purpose=logo`, [logo]],
      [user, `?account_id=${other.id}`, []],
      [platform, '?limit=2', [acted, own]],
      [platform, `?starting_after=${own}`, [foreign, deed, logo]],
    ];
    for (const [speaker, query, expected] of rows) {
      const list = await must(speaker.get(`/v1/files${query}`));
      expect([query, list.data.map(({ id }: { id: string }) => id)]).toEqual([query, expected]);
    }
    const odd = await platform.get('/v1/files?purpose=selfie&filename=a');
    expect([odd.status, odd.codes.toSorted(), odd.fieldNames.toSorted()]).toEqual([
      400,
      ['parameter_invalid', 'parameter_unknown'],
      ['file.filename', 'file.purpose'],
    ]);
  });

  // The parameter takes one account: with two, neither the first nor the last is used.
  it('refuses an account_id that is given twice', async () => {
    const user = await given.directUser(1);
    const reply = await user.get(`/v1/files?account_id=${user.id}&account_id=${user.id}`);
    expect([reply.status, reply.codes, reply.fieldNames]).toEqual([400, ['parameter_invalid'], ['file.account_id']]);
  });
});

describe('using a file', () => {
  const verification = ['additional_verification', 'identity_document', 'tax_document'] as const;
  const parameters: { edition: Edition; name: string; takes: readonly string[]; body: (id: string) => object }[] = [
    { edition: 1, name: 'logo_id', takes: ['logo'], body: (id) => ({ logo_id: id }) },
    { edition: 2, name: 'logo_id', takes: ['logo'], body: (id) => ({ logo_id: id }) },
    ...(
      [
        [1, 'id_document'],
        [1, 'ownership_structure_document'],
        [2, 'id_document'],
        [2, 'physical_address_document'],
      ] as const
    ).map(([edition, name]) => ({
      edition,
      name: `supporting_documentation.${name}`,
      takes: verification,
      body: (id: string) => ({ supporting_documentation: { [name]: id } }),
    })),
  ];

  it.each(parameters)(
    'as account.$name takes $takes only, Edition $edition',
    async ({ edition, name, takes, body }) => {
      const platform = await given.platform(edition);
      const user = await platform.connectedUser();
      for (const purpose of purposes) {
        const { id } = await must(platform.upload(purpose, png));
        const reply = await platform.post(`/v1/accounts/${user.id}`, body(id));
        expect([purpose, reply.status, reply.codes, reply.fieldNames]).toEqual(
          takes.includes(purpose) ? [purpose, 200, [], []] : [purpose, 400, ['parameter_invalid'], [`account.${name}`]],
        );
        if (takes.includes(purpose)) expect(reply.body).toMatchObject(body(id));
      }
    },
  );

  it.each(parameters)(
    "as account.$name requires a file in the account's visibility, Edition $edition",
    async ({ edition, name, body }) => {
      const [platform, outsider] = await Promise.all([given.platform(edition), given.platform(edition)]);
      const user = await platform.connectedUser();
      const purpose = name === 'logo_id' ? 'logo' : 'tax_document';
      const foreign = (await must(outsider.upload(purpose, png))).id;

      const replies = await Promise.all(
        [foreign, `file_${'0'.repeat(32)}`, user.id].map((id) => platform.post(`/v1/accounts/${user.id}`, body(id))),
      );

      expect(replies.map(({ status, codes, fieldNames }) => [status, codes, fieldNames])).toEqual(
        replies.map(() => [404, ['resource_missing'], [`account.${name}`]]),
      );
    },
  );

  it('reports every file that is not suitable, and changes nothing', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const before = await must(platform.get(`/v1/accounts/${user.id}`));
    const invoice = (await must(platform.upload('invoice', pdf))).id;
    const reply = await platform.post(`/v1/accounts/${user.id}`, {
      logo_id: invoice,
      metadata: { a: 'b' },
      supporting_documentation: { id_document: invoice, ownership_structure_document: invoice },
    });
    expect([reply.status, reply.fieldNames.toSorted()]).toEqual([
      400,
      [
        'account.logo_id',
        'account.supporting_documentation.id_document',
        'account.supporting_documentation.ownership_structure_document',
      ],
    ]);
    expect(await must(platform.get(`/v1/accounts/${user.id}`))).toEqual(before);
  });
});
