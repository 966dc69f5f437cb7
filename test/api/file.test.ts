import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { StatementObserver } from '../../src/db/connect/observer.js';
import { pdf, pdfOf, png } from '../support/bodies.js';
import { eventually, givenIn, type Reply, must, type Speaker, useWorld } from '../support/world.js';
import { bytes, filesIn, frame, jpeg, jpegHead, purposes, sha256 } from './file-fixture.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
const { download } = filesIn(world);

/** A gateway whose writes wait for a lock for as long as a test holds it. */
const slow = useWorld({
  worker: false,
  environment: { STATEMENT_SECONDS: '60', LOCK_SECONDS: '60', REQUEST_SECONDS: '90' },
});

/** A PNG that claims a size. */
const pngOf = (width: number, height: number) => {
  const image = Buffer.from(png);
  image.writeUInt32BE(width, 16);
  image.writeUInt32BE(height, 20);
  return new Uint8Array(image);
};

/** Builds a multipart body by hand, for requests that a correct client does not send. */
function multipart(
  speaker: Speaker,
  parts: [name: string, value: string | { filename: string; content: Uint8Array }][],
) {
  const form = new FormData();
  for (const [name, value] of parts)
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, new Blob([value.content as BlobPart]), value.filename);
  return send(speaker, form);
}
async function send(
  speaker: Speaker,
  body: FormData,
  query = '',
): Promise<Pick<Reply, 'status' | 'body' | 'codes' | 'fieldNames'>> {
  const response = await fetch(`${world.origin}/v1/files${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${speaker.key}` },
    body,
  });
  const answer = (await response.json()) as any;
  const errors: any[] = answer.errors ?? [];
  return {
    status: response.status,
    body: answer,
    codes: errors.map(({ code }) => code),
    fieldNames: errors.map(({ metadata }) => metadata.field_name),
  };
}

describe('uploading a file', () => {
  it.each(purposes)('for %s returns the file with its keys in order', async (purpose) => {
    const user = await given.directUser(1);
    const content = pdfOf('a');

    const reply = await user.upload(purpose, content, 'certificate.pdf', { 'metadata[crm]': '42' });

    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^file_[0-9a-f]{32}$/),
      object: 'file',
      created: expect.any(Number),
      livemode: false,
      purpose,
      filename: 'certificate.pdf',
      content_type: 'application/pdf',
      size: content.length,
      sha256: sha256(content),
      metadata: { crm: '42' },
    });
    expect(Object.keys(reply.body)).toEqual(
      'id object created livemode purpose filename content_type size sha256 metadata'.split(' '),
    );
    expect(await must(user.get(`/v1/files/${reply.body.id}`))).toEqual(reply.body);
  });

  const contents: [filename: string, content: Uint8Array, type: string][] = [
    ['a.pdf', pdf, 'application/pdf'],
    ['a.png', png, 'image/png'],
    ['a.jpg', jpeg, 'image/jpeg'],
    ['a.png', pdf, 'application/pdf'],
    ['a.pdf', png, 'image/png'],
    ['a.html', jpeg, 'image/jpeg'],
    ['a', png, 'image/png'],
  ];
  it.each(contents)(
    'derives the type of %s from its content and not from its name',
    async (filename, content, type) => {
      const user = await given.directUser(2);
      const { body } = await user.upload('identity_document', content, filename);
      expect([body.content_type, body.filename, body.size]).toEqual([type, filename, content.length]);
    },
  );

  const images: [title: string, content: Uint8Array, message: string | undefined][] = [
    ['a PNG of 40 megapixels', pngOf(8_000, 5_000), undefined],
    ['a PNG of one pixel', pngOf(1, 1), undefined],
    ['a PNG of a pixel more', pngOf(40_000_001, 1), 'file must have at most 40 megapixels.'],
    ['a PNG of the largest size', pngOf(0xffffffff, 0xffffffff), 'file must have at most 40 megapixels.'],
    ['a PNG with a width of zero', pngOf(0, 100), 'file must be an image whose header has its width and height.'],
    ['a PNG with a height of zero', pngOf(100, 0), 'file must be an image whose header has its width and height.'],
    [
      'a PNG whose header is not its first chunk',
      bytes(Buffer.from(png).toString('latin1').replace('IHDR', 'tEXt')),
      'file must be a PDF, PNG or JPEG by its content.',
    ],
    ['a PNG that ends in its header', png.slice(0, 20), 'file must be an image whose header has its width and height.'],
    ['a JPEG of 40 megapixels', bytes(`${jpegHead}${frame('c2', 8_000, 5_000)}ffda`, 'hex'), undefined],
    [
      'a JPEG of more',
      bytes(`${jpegHead}${frame('c0', 65_535, 65_535)}ffda`, 'hex'),
      'file must have at most 40 megapixels.',
    ],
    [
      'a JPEG that says it twice',
      bytes(`${jpegHead}${frame('c0', 1, 1)}${frame('c1', 65_535, 65_535)}ffda`, 'hex'),
      'file must have at most 40 megapixels.',
    ],
    [
      'a JPEG with another one inside a comment',
      bytes(
        `${jpegHead}fffe0011${frame('c0', 1, 1)}0000${'ff'.repeat(3)}${frame('c3', 65_535, 65_535).slice(2)}ffda`,
        'hex',
      ),
      'file must have at most 40 megapixels.',
    ],
    [
      'a JPEG without height',
      bytes(`${jpegHead}${frame('c0', 1, 0)}ffda`, 'hex'),
      'file must be an image whose header has its width and height.',
    ],
    [
      'a JPEG without a frame',
      bytes(`${jpegHead}ffdb004300`, 'hex'),
      'file must be an image whose header has its width and height.',
    ],
    [
      'a JPEG whose segment has no length',
      bytes(`${jpegHead}fffe0000${frame('c0', 1, 1)}`, 'hex'),
      'file must be an image whose header has its width and height.',
    ],
  ];
  it.each(images)('checks the size that the header of an image states: %s', async (_, content, message) => {
    const user = await given.directUser(1);
    const reply = await user.upload('logo', content, 'image');
    expect([reply.status, reply.fieldNames, reply.body.errors?.[0].message]).toEqual(
      message === undefined ? [200, [], undefined] : [400, ['file.file'], message],
    );
    expect((await user.get('/v1/files')).body.data).toHaveLength(message === undefined ? 1 : 0);
  });

  const refusedContents: [title: string, content: Uint8Array, code: string][] = [
    ['text', bytes('Hello, I am a certificate.'), 'parameter_invalid'],
    ['a page', bytes('<!doctype html><script>alert(1)</script>'), 'parameter_invalid'],
    [
      'a drawing that can run scripts',
      bytes('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>'),
      'parameter_invalid',
    ],
    ['a GIF', bytes('GIF89a\u0001\u0000\u0001\u0000\u0000\u0000\u0000;'), 'parameter_invalid'],
    ['an archive', bytes('PK\u0003\u0004\u0014\u0000\u0000\u0000'), 'parameter_invalid'],
    ['a program', bytes('MZ\u0090\u0000\u0003\u0000'), 'parameter_invalid'],
    ['bytes of no format', new Uint8Array(65).map((_, n) => (n * 37) % 256), 'parameter_invalid'],
    ['the beginning of a PDF’s signature', bytes('%PD'), 'parameter_invalid'],
    ['the beginning of a PNG’s signature', bytes('\u0089PNG'), 'parameter_invalid'],
    ['one byte', bytes('%'), 'parameter_invalid'],
    ['an empty file', bytes(''), 'parameter_invalid_empty'],
  ];
  it.each(refusedContents)('refuses %s that is named as a PDF', async (_, content, code) => {
    const user = await given.directUser(1);
    const reply = await user.upload('identity_document', content, 'certificate.pdf');
    expect([reply.status, reply.codes, reply.fieldNames]).toEqual([400, [code], ['file.file']]);
    expect((await must(user.get('/v1/files'))).data).toEqual([]);
  });

  it('accepts 10 MB and returns every byte, and refuses one byte more as too large', async () => {
    const user = await given.directUser(1);
    const whole = new Uint8Array(Buffer.concat([pdf, randomBytes(10_000_000 - pdf.length)]));
    const [fits, over] = await Promise.all([
      user.upload('invoice', whole),
      user.upload('invoice', new Uint8Array(Buffer.concat([pdf, Buffer.alloc(10 * 1024 * 1024)]))),
    ]);

    expect([fits.status, fits.body.size, fits.body.sha256]).toEqual([200, 10_000_000, sha256(whole)]);
    expect([over.status, over.codes]).toEqual([400, ['body_too_large']]);
    expect(over.body).toEqual({ object: 'error', http_status_code: 400, errors: [expect.anything()] });
    const back = await download(user, fits.body.id);
    expect(sha256(back.content)).toBe(sha256(whole));
    expect((await must(user.get('/v1/files'))).data).toEqual([fits.body]);
  });

  const file = { filename: 'a.pdf', content: pdf };
  const parts: [title: string, Parameters<typeof multipart>[1], problems: string[]][] = [
    ['no part at all', [], ['parameter_missing file.purpose', 'parameter_missing file.file']],
    ['no purpose', [['file', file]], ['parameter_missing file.purpose']],
    ['no file', [['purpose', 'logo']], ['parameter_missing file.file']],
    [
      'an empty purpose',
      [
        ['purpose', ''],
        ['file', file],
      ],
      ['parameter_invalid_empty file.purpose'],
    ],
    [
      'a purpose that is none',
      [
        ['purpose', 'selfie'],
        ['file', file],
      ],
      ['parameter_invalid file.purpose'],
    ],
    [
      'a purpose in capitals',
      [
        ['purpose', 'LOGO'],
        ['file', file],
      ],
      ['parameter_invalid file.purpose'],
    ],
    [
      'an unknown field',
      [
        ['purpose', 'logo'],
        ['title', 'x'],
        ['file', file],
      ],
      ['parameter_unknown file.title'],
    ],
    [
      'a field that objects have by nature',
      [
        ['purpose', 'logo'],
        ['constructor', 'x'],
        ['file', file],
      ],
      // The parser refuses such a name before it reports which one it was.
      ['parameter_unknown file'],
    ],
    [
      'an unknown field after the file',
      [
        ['purpose', 'logo'],
        ['file', file],
        ['title', 'x'],
      ],
      ['parameter_unknown file.title'],
    ],
    [
      'an account',
      [
        ['purpose', 'logo'],
        ['account_id', 'account_1'],
        ['file', file],
      ],
      ['parameter_unknown file.account_id'],
    ],
    [
      'a second file',
      [
        ['purpose', 'logo'],
        ['file', file],
        ['file', file],
      ],
      ['parameter_invalid file.file'],
    ],
    [
      'the file under another name',
      [
        ['purpose', 'logo'],
        ['document', file],
      ],
      ['parameter_missing file.file', 'parameter_unknown file.document'],
    ],
    [
      'a metadata key without a name',
      [
        ['purpose', 'logo'],
        ['metadata[]', 'x'],
        ['file', file],
      ],
      ['parameter_invalid file.metadata.'],
    ],
    [
      'a metadata key that is too long',
      [
        ['purpose', 'logo'],
        [`metadata[${'k'.repeat(41)}]`, 'x'],
        ['file', file],
      ],
      [`parameter_invalid file.metadata.${'k'.repeat(41)}`],
    ],
    [
      'a metadata value that is too long',
      [
        ['purpose', 'logo'],
        ['metadata[a]', 'x'.repeat(501)],
        ['file', file],
      ],
      ['parameter_invalid file.metadata.a'],
    ],
    [
      'eleven metadata keys',
      [
        ['purpose', 'logo'],
        ...Array.from({ length: 11 }, (_, i): [string, string] => [`metadata[k${i}]`, 'v']),
        ['file', file],
      ],
      ['parameter_invalid file.metadata'],
    ],
    [
      'everything wrong at once',
      [
        ['purpose', 'selfie'],
        ['title', 'x'],
        ['file', { filename: 'a.pdf', content: bytes('text') }],
      ],
      ['parameter_invalid file.file', 'parameter_invalid file.purpose', 'parameter_unknown file.title'],
    ],
  ];
  it.each(parts)('reports the problems of %s', async (_, sent, problems) => {
    const user = await given.directUser(1);
    const reply = await multipart(user, sent);
    expect(reply.status).toBe(400);
    expect(reply.codes.map((code, i) => `${code} ${reply.fieldNames[i]}`).toSorted()).toEqual(problems.toSorted());
    expect((await must(user.get('/v1/files'))).data).toEqual([]);
  });

  const bodies: [title: string, type: string, body: string][] = [
    ['JSON', 'application/json', '{"purpose":"logo"}'],
    ['a form', 'application/x-www-form-urlencoded', 'purpose=logo'],
    ['a bare PDF', 'application/pdf', '%PDF-1.4'],
    ['multipart without a boundary', 'multipart/form-data', 'x'],
    [
      'multipart that ends in the middle',
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nlo',
    ],
    [
      'multipart that ends within the file',
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nlogo\r\n--b\r\nContent-Disposition: ' +
        'form-data; name="file"; filename="a.pdf"\r\n\r\n%PDF-1.4 and then',
    ],
    ['an empty multipart body', 'multipart/form-data; boundary=b', ''],
  ];
  it.each(bodies)('refuses %s with an error object', async (_, type, body) => {
    const user = await given.directUser(1);
    const reply = await user.post('/v1/files', body, { 'content-type': type });
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({ object: 'error', http_status_code: 400, errors: expect.any(Array) });
    expect((await must(user.get('/v1/files'))).data).toEqual([]);
  });

  it('merges metadata as every other write does, and stores none when all values are empty', async () => {
    const user = await given.directUser(1);
    const { body } = await user.upload('invoice', pdf, 'a.pdf', { 'metadata[a]': '1', 'metadata[b]': '' });
    expect(body.metadata).toEqual({ a: '1' });
    expect((await user.upload('invoice', pdf, 'a.pdf', { 'metadata[b]': '' })).body.metadata).toBeNull();
  });

  const names: [sent: string, kept: string][] = [
    ['Rechnung März.pdf', 'Rechnung März.pdf'],
    ['चालान.pdf', 'चालान.pdf'],
    ['発票 🧾.pdf', '発票 🧾.pdf'],
    // Only the last part is the file name; the client's folder is not stored.
    ['../../etc/passwd', 'passwd'],
    ["it's (1).pdf", "it's (1).pdf"],
  ];
  it.each(names)('stores the name %s', async (sent, kept) => {
    const user = await given.directUser(1);
    const { body } = await user.upload('invoice', pdf, sent);
    expect(body.filename).toBe(kept);
    const { headers } = await download(user, body.id);
    // The parameter of RFC 6266 is percent-encoded UTF-8, so that no name can end the header.
    const [, encoded = ''] =
      /^attachment; filename\*=UTF-8''([!-~]+)$/.exec(headers.get('content-disposition') ?? '') ?? [];
    expect(decodeURIComponent(encoded)).toBe(kept);
  });

  it('refuses query parameters on all of its paths', async () => {
    const user = await given.directUser(1);
    const { id } = await must(user.upload('logo', png));
    const form = new FormData();
    form.set('purpose', 'logo');
    form.set('file', new Blob([png as BlobPart]), 'a.png');

    const uploaded = await send(user, form, '?purpose=invoice');
    const read = await Promise.all(
      [`/v1/files/${id}`, `/v1/files/${id}/content`].map((path) => user.get(`${path}?purpose=invoice`)),
    );

    expect([uploaded, ...read].map(({ status, codes, fieldNames }) => [status, codes, fieldNames])).toEqual(
      Array(3).fill([400, ['parameter_unknown'], ['file.purpose']]),
    );
  });

  describe('while others are stored', () => {
    const givenSlow = givenIn(slow);
    /** Counts the stores that have begun while PostgreSQL stores none, until `free`. */
    async function held() {
      let begun = 0;
      const observer: StatementObserver = {
        began: ({ name }) => {
          if (name === 'store_file') begun++;
          return () => {};
        },
      };
      const { observers } = slow.database;
      const connection = await slow.sql.reserve();
      await connection.unsafe('begin; lock table file_content in exclusive mode');
      observers.push(observer);
      return {
        begun: (wanted: (count: number) => boolean) => eventually(() => Promise.resolve(begun), wanted),
        free: () => connection.unsafe('rollback'),
        [Symbol.asyncDispose]: async () => {
          await connection.unsafe('rollback');
          connection.release();
          observers.splice(observers.indexOf(observer), 1);
        },
      };
    }
    const large = (text: string) => new Uint8Array(Buffer.concat([pdfOf(text), Buffer.alloc(65_536)]));

    it('waits for a large one of its tenant when it is large itself, and for none of another tenant', async () => {
      const [user, other] = [await givenSlow.directUser(1), await givenSlow.directUser(1)];
      await using stores = await held();
      const mine = ['a', 'b', 'c'].map((text) => user.upload('invoice', large(text)));
      await stores.begun((count) => count === 1);
      const theirs = other.upload('invoice', large('d'));
      await stores.begun((count) => count === 2);
      const small = user.upload('invoice', pdf);
      await stores.begun((count) => count === 3);
      await stores.free();
      expect((await Promise.all([...mine, theirs, small])).map(({ status }) => status)).toEqual(Array(5).fill(200));
      await stores.begun((count) => count === 5);
    });

    it('is stored with many small ones that come at once', async () => {
      const user = await givenSlow.directUser(1);
      await using stores = await held();
      const all = Array.from({ length: 30 }, (_, i) => user.upload('invoice', pdfOf(String(i))));
      await stores.begun((count) => count > 1);
      await stores.free();
      expect((await Promise.all(all)).map(({ status }) => status)).toEqual(Array(30).fill(200));
    });
  });

  it('returns the same file for a retry with the same key, and refuses other bytes with it', async () => {
    const user = await given.directUser(1);
    const key = { 'idempotency-key': 'upload-1' };
    const first = await user.upload('invoice', pdfOf('a'), 'a.pdf', {}, key);
    const [again, other] = await Promise.all([
      user.upload('invoice', pdfOf('a'), 'a.pdf', {}, key),
      user.upload('invoice', pdfOf('b'), 'a.pdf', {}, key),
    ]);
    expect([again.status, again.headers.get('idempotent-replayed'), again.body]).toEqual([200, 'true', first.body]);
    expect([other.status, new Set(other.codes)]).toEqual([400, new Set(['idempotency_key_reused'])]);
    expect((await must(user.get('/v1/files'))).data).toEqual([first.body]);
  });
});
