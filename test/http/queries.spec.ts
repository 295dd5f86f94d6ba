import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer, clientOf } from './edge-client.js';
import { startEdge, type TestEdge } from './edge-harness.js';
import { sendRaw } from './raw-http.js';
import { SampleController } from './sample.controllers.js';

let edge: TestEdge;
const client = clientOf(() => edge);
const get = (path: string, key = 'agent') => client.get(path, bearer(key));

beforeAll(async () => {
  edge = await startEdge({ controllers: [SampleController] });
});
afterAll(async () => edge.close());

const refusal = async (path: string, key?: string): Promise<unknown[]> => {
  const { status, error } = await get(path, key);
  return [status, error['code'], error['param']];
};

describe('limit', () => {
  it.each([
    '',
    '0',
    '101',
    '1e1',
    '+5',
    '-1',
    '0x10',
    '05',
    '5.0',
    ' 5',
    '5 ',
    'ten',
    '99999999999999999999',
    '٥',
    'null',
    '1,2',
  ])('is refused as %j', async (limit) => {
    expect(await refusal(`/v1/things?limit=${encodeURIComponent(limit)}`)).toEqual([400, 'validation_failed', 'limit']);
  });

  it.each(['/v1/things?limit', '/v1/things?limit=5&limit=5'])('is sent once, with a value: %s', async (path) => {
    expect(await refusal(path)).toEqual([400, 'validation_failed', 'limit']);
  });

  it.each(['limit[]', 'limit[gte]', 'limit%5B%5D'])(
    'is one plain value, refused by the name sent: %s',
    async (sent) => {
      const { status, error } = await get(`/v1/things?${sent}=5`);
      const name = decodeURIComponent(sent);
      expect([status, error['param'], error['message']]).toEqual([
        400,
        name,
        `The query parameter "${name}" must be written limit, with one plain value.`,
      ]);
    },
  );

  it('is 20 by default, 25 on a ledger list, 100 at most', async () => {
    expect((await get('/v1/things')).json).toEqual({ limit: 20 });
    expect((await get('/v1/things?limit=100')).json).toEqual({ limit: 100 });
    expect((await get('/v1/actions')).json?.['data']).toHaveLength(25);
  });
});

describe('parameters', () => {
  it('that a ledger list does not have are refused, by the name sent', async () => {
    expect(await refusal('/v1/actions?agnet=x')).toEqual([400, 'validation_failed', 'agnet']);
    expect(await refusal('/v1/actions?created_at[lte]=x')).toEqual([400, 'validation_failed', 'created_at[lte]']);
    expect(await refusal('/v1/actions?=x')).toEqual([400, 'validation_failed', '']);
    expect((await get('/v1/actions?created_at[gte]=x')).status).toBe(200);
  });

  it.each([
    ['agnet', 'Did you mean agent?'],
    ['per_page', 'Did you mean limit?'],
    ['created_at[gt]', 'Did you mean created_at[gte]?'],
    ['foo', 'It takes agent, created_at[gte], limit, cursor.'],
    ['colour', 'It takes agent, created_at[gte], limit, cursor.'],
  ])('that a ledger list does not have tell the way on: %s', async (name, next) => {
    const { error } = await get(`/v1/actions?${name}=x`);
    expect(error['message']).toBe(`The query parameter "${name}" is not a parameter of this endpoint. ${next}`);
  });

  it('that another route does not have are ignored', async () => {
    expect((await get('/v1/things?agnet=x')).status).toBe(200);
    expect((await client.get('/v1/health?x=%zz&x=1')).status).toBe(200);
  });

  it('are sent once, known or not, except those that end in []', async () => {
    expect(await refusal('/v1/actions/act_1?wait=1&wait=1')).toEqual([400, 'validation_failed', 'wait']);
    expect(await refusal('/v1/things?x=1&x=1')).toEqual([400, 'validation_failed', 'x']);
    expect((await get('/v1/actions/act_1?expand[]=request&expand%5B%5D=events&wait=25')).json).toEqual({
      id: 'act_1',
      wait: 25,
      expand: ['request', 'events'],
    });
  });

  it.each(['26', '-1', '', 'x', '1.5'])('that are integers have bounds: wait=%s', async (wait) => {
    expect(await refusal(`/v1/actions/act_1?wait=${wait}`)).toEqual([400, 'validation_failed', 'wait']);
  });

  it('that are lists name themselves and not an index', async () => {
    expect(await refusal('/v1/actions/act_1?expand[]=request&expand[]=all')).toEqual([
      400,
      'validation_failed',
      'expand[]',
    ]);
  });

  it.each(['agent=%zz', 'agent=%ff', 'agent=%00', 'agent=a%00b', 'agent=%c0%80', 'agent=%ed%a0%80'])(
    'that do not decode are refused: %s',
    async (pair) => {
      expect(await refusal(`/v1/actions?${pair}`)).toEqual([400, 'validation_failed', 'agent']);
    },
  );

  it.each([
    ['limit=%00', 'The query parameter "limit" holds a zero byte (%00). Leave it out.'],
    ['a%00=1', 'The name of a query parameter holds a zero byte (%00). Leave it out.'],
    ['limit=%zz', 'The query parameter "limit" is not percent-encoded UTF-8. Encode it and send the request again.'],
    ['%ff=1', 'The name of a query parameter is not percent-encoded UTF-8. Encode it and send the request again.'],
  ])('that do not decode are told why: %s', async (pair, message) => {
    expect((await get(`/v1/things?${pair}`)).error['message']).toBe(message);
  });

  it('may be 100, not 10,000', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => `p${index}=1`).join('&');
    expect((await get(`/v1/things?${many(100)}`)).status).toBe(200);
    const answer = await sendRaw(
      edge.port,
      `GET /v1/things?${'a&'.repeat(7_000)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer agent\r\n\r\n`,
    );
    expect(answer.status).toBe(400);
  });

  it('never cause a 5xx, whatever they hold', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' })), { maxLength: 5 }),
        async (pairs) => {
          const query = pairs
            .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
            .join('&');
          expect([200, 400]).toContain((await get(`/v1/actions?${query}`)).status);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('pages', () => {
  const rows = (json: Record<string, unknown> | null) => (json?.['data'] as { row: number }[]).map(({ row }) => row);
  const nextOf = async (path: string, key?: string) => (await get(path, key)).json?.['next_cursor'] as string;

  it('follow each other to the end, each row once', async () => {
    const seen: number[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { json } = await get(`/v1/actions?limit=7${cursor === '' ? '' : `&cursor=${cursor}`}`);
      expect(Object.keys(json ?? {})).toEqual(['object', 'data', 'has_more', 'next_cursor']);
      seen.push(...rows(json));
      expect(json?.['has_more']).toBe(json?.['next_cursor'] !== null);
      cursor = json?.['next_cursor'] as string | null;
    }
    expect(seen).toEqual(Array.from({ length: 60 }, (_, index) => index));
  });

  it('may change their limit on the way', async () => {
    const cursor = await nextOf('/v1/actions?limit=7');
    expect(rows((await get(`/v1/actions?limit=2&cursor=${cursor}`)).json)).toEqual([7, 8]);
  });

  it('go on for the same agent under the key that replaced the first', async () => {
    expect((await get(`/v1/actions?cursor=${await nextOf('/v1/actions')}`, 'rolled')).status).toBe(200);
  });

  it('are bound to their filters, whichever way they are written', async () => {
    const cursor = await nextOf('/v1/actions?agent=a&created_at[gte]=x');
    expect((await get(`/v1/actions?created_at%5Bgte%5D=x&cursor=${cursor}&agent=%61`)).status).toBe(200);
    for (const query of ['', 'agent=b&created_at[gte]=x&', 'agent=a&', 'agent=a&created_at[gte]=y&']) {
      expect(await refusal(`/v1/actions?${query}cursor=${cursor}`)).toEqual([400, 'validation_failed', 'cursor']);
    }
  });

  it.each(['neighbour', 'stranger', 'admin'])('are bound to their caller: not for %s', async (key) => {
    const cursor = await nextOf('/v1/actions');
    expect(await refusal(`/v1/actions?cursor=${cursor}`, key)).toEqual([400, 'validation_failed', 'cursor']);
  });

  it.each(['', 'x', 'AAAA', '%27%20OR%201=1--', 'eyJhIjoxfQ', '=', 'A'.repeat(2_049), '0'.repeat(10_000), '{}'])(
    'begin with a cursor that was issued: not %.40s',
    async (cursor) => {
      expect(await refusal(`/v1/actions?cursor=${cursor}`)).toEqual([400, 'validation_failed', 'cursor']);
    },
  );

  it('notice every flipped bit of a cursor, every cut and every addition', async () => {
    const cursor = await nextOf('/v1/actions');
    const bytes = Buffer.from(cursor, 'base64url');
    const forged = Array.from({ length: bytes.byteLength * 8 }, (_, bit) => {
      const copy = Buffer.from(bytes);
      copy[bit >> 3] = (copy[bit >> 3] as number) ^ (1 << (bit & 7));
      return copy.toString('base64url');
    });
    forged.push(cursor.slice(0, -1), `${cursor}A`, `${cursor}=`, cursor.toUpperCase());
    for (const each of forged)
      expect([each, (await refusal(`/v1/actions?cursor=${encodeURIComponent(each)}`))[0]]).toEqual([each, 400]);
  });

  it('are void under another deployment’s pepper', async () => {
    const other = await startEdge({ controllers: [SampleController], edge: { pepper: new Uint8Array(32).fill(8) } });
    const { status } = await clientOf(() => other).get(
      `/v1/actions?cursor=${await nextOf('/v1/actions')}`,
      bearer('agent'),
    );
    await other.close();
    expect(status).toBe(400);
  });
});
