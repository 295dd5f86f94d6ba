import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { digestOf } from '#libs/crypto';
import { decodeEvent, deedOf } from '#libs/domain/kernel';
import { bearer } from '../../../../test/http/edge-client.js';
import { ORG } from '../../../../test/http/edge-harness.js';
import { ApiBench } from '../../../../test/support/api-bench.js';
import { testId } from '../../../../test/support/given-log.js';
import { PoliciesModule } from './policies.module.js';

type Json = Record<string, unknown>;

const SOURCE =
  'version: 1\ndefault: deny\nrules:\n  - id: read\n    match:\n      tools:\n        - crm.get_*\n    decision: allow\n';

let bench: ApiBench;
let numbers = 0;

beforeAll(async () => {
  bench = await ApiBench.start([PoliciesModule]);
  await bench.ownAdminKey();
});
afterAll(() => bench.close());
beforeEach(() => {
  bench.progress.isHeldUp = false;
});

const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  bench.send(method, path, {
    headers: { ...bearer('admin'), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const newSource = (): string => `# ${(numbers += 1)}\n${SOURCE}`;
const create = async (): Promise<Json> => {
  const { status, json } = await send('POST', '/v1/policies', { name: 'Support', source: newSource() });
  expect(status).toBe(201);
  return json as Json;
};
const addVersion = async (policy: Json, source = newSource()) =>
  send('POST', `/v1/policies/${String(policy['id'])}/versions`, { source, notes: 'Changed' });
const activate = (policy: Json, version: unknown, body: object = { mode: 'enforce' }) =>
  send('POST', `/v1/policies/${String(policy['id'])}/versions/${String(version)}/activate`, body);
const deactivate = (policy: Json, body: object = { mode: 'enforce' }) =>
  send('POST', `/v1/policies/${String(policy['id'])}/deactivate`, body);
const deedOfLast = async (stream: string, type: string): Promise<string | null> => {
  const events = (await bench.store.readStream(stream)).map((event) => decodeEvent(event));
  const last = events.findLast(({ event }) => event.type === type);
  return last ? deedOf(last) : null;
};
const refusalOf = ({ status, error }: { status: number; error: Json }): unknown[] => [
  status,
  error['code'],
  error['param'],
];

describe('POST /v1/policies', () => {
  it('answers 201 with the policy, version 1 inside, and the deed of its making', async () => {
    const source = newSource();
    const { status, json } = await send('POST', '/v1/policies', { name: 'Support', source, notes: 'First' });
    expect(status).toBe(201);
    const id = String(json?.['id']);
    expect(json).toEqual({
      object: 'policy',
      id: expect.stringMatching(/^pol_/),
      name: 'Support',
      activation: null,
      enforced_version: null,
      shadow_version: null,
      latest_version: {
        object: 'policy_version',
        id: expect.stringMatching(/^pv_/),
        policy: id,
        version: 1,
        version_hash: expect.stringMatching(/^sha256:/),
        source_hash: expect.stringMatching(/^sha256:/),
        source,
        notes: 'First',
        author: { type: 'admin_key', id: expect.stringMatching(/^key_/) },
        origin: 'user',
        activation: null,
        created_at: json?.['created_at'],
      },
      created_at: expect.stringMatching(/Z$/),
      deed: await deedOfLast(`policy-${id}`, 'PolicyCreated'),
      diagnostics: [expect.objectContaining({ code: 'no_such_tool', severity: 'warning' })],
    });
  });

  it('takes a name that another policy has: the ids tell them apart', async () => {
    const made = [
      await send('POST', '/v1/policies', { name: 'Twin', source: newSource() }),
      await send('POST', '/v1/policies', { name: 'Twin', source: newSource() }),
    ];
    expect(made.map(({ status, json }) => [status, json?.['name']])).toEqual([
      [201, 'Twin'],
      [201, 'Twin'],
    ]);
    expect(new Set(made.map(({ json }) => json?.['id'])).size).toBe(2);
  });

  it('refuses a source with its diagnostics, each with line, code and hint', async () => {
    const source = 'version: 1\ndefault: deny\nrule: []\n';
    const answer = await send('POST', '/v1/policies', { name: 'Support', source });
    expect([...refusalOf(answer), answer.error['type']]).toEqual([
      400,
      'policy_invalid',
      'source',
      'invalid_request_error',
    ]);
    expect((answer.error['diagnostics'] as Json[])[0]).toMatchObject({
      object: 'policy_diagnostic',
      severity: 'error',
      line: 3,
      code: expect.stringMatching(/^[a-z_]+$/),
      hint: expect.any(String),
    });
  });

  it.each([
    [{ name: '' }, 'name'],
    [{ name: 'two\nlines' }, 'name'],
    [{ name: 5 }, 'name'],
    [{ name: undefined }, 'name'],
    [{ source: undefined }, 'source'],
    [{ source: {} }, 'source'],
    [{ notes: 'x'.repeat(2_001) }, 'notes'],
    [{ notes: null }, 'notes'],
    [{ version: 1 }, 'version'],
  ])('refuses %j', async (changes, param) => {
    const answer = await send('POST', '/v1/policies', { name: 'Support', source: SOURCE, ...changes });
    expect(refusalOf(answer)).toEqual([400, 'validation_failed', param]);
  });

  it('takes a source of 256 KiB, however it is escaped', async () => {
    const comment = `#${'"'.repeat(99)}\n`;
    const source = SOURCE + comment.repeat(Math.floor((262_144 - SOURCE.length) / comment.length));
    expect((await send('POST', '/v1/policies', { name: 'Large', source })).status).toBe(201);
  });

  it('makes one policy however often it is sent under one Idempotency-Key', async () => {
    const body = { name: 'Once', source: newSource() };
    const first = await send('POST', '/v1/policies', body, { 'Idempotency-Key': 'policy' });
    const again = await send('POST', '/v1/policies', body, { 'Idempotency-Key': 'policy' });
    expect([again.status, again.headers.get('service-idempotent-replayed')]).toEqual([201, 'true']);
    expect(again.json).toEqual(first.json);
  });
});

describe('versions', () => {
  it('are added with 201, and found with 200 when the content is identical', async () => {
    const policy = await create();
    const source = newSource();
    const added = await addVersion(policy, source);
    const deed = await deedOfLast(`policy-${String(policy['id'])}`, 'PolicyVersionAdded');
    expect([added.status, added.json]).toMatchObject([201, { version: 2, source, notes: 'Changed', deed }]);
    expect(added.json?.['rules']).toEqual([{ id: 'read', decision: 'allow', description: null, line: 5 }]);
    const same = await addVersion(policy, source);
    expect([same.status, same.json]).toEqual([200, { ...added.json, deed: null }]);
  });

  it('that name the latest are added onto that one alone', async () => {
    const policy = await create();
    const path = `/v1/policies/${String(policy['id'])}/versions`;
    const onto = (latest: unknown, source = newSource()) =>
      send('POST', path, { source, expected_latest_version: latest });
    const first = (policy['latest_version'] as Json)['id'];
    const second = await onto(first);
    expect([second.status, second.json?.['version']]).toEqual([201, 2]);
    const late = await onto(first);
    expect(refusalOf(late)).toEqual([409, 'conflict', 'expected_latest_version']);
    expect(late.error['message']).toContain('Version 2 was saved since you read the policy.');
    expect(refusalOf(await onto(2))).toEqual([400, 'validation_failed', 'expected_latest_version']);
    const same = await onto(first, String(second.json?.['source']));
    expect([same.status, same.json?.['id']]).toEqual([200, second.json?.['id']]);
    expect((await send('GET', path)).json?.['data']).toHaveLength(2);
  });

  it('are read by number and by id', async () => {
    const policy = await create();
    const added = (await addVersion(policy)).json as Json;
    for (const name of [2, added['id']]) {
      const { status, json } = await send('GET', `/v1/policies/${String(policy['id'])}/versions/${String(name)}`);
      const { deed, diagnostics } = added;
      expect([status, { ...json, deed, diagnostics }]).toEqual([200, added]);
    }
  });

  it.each(['3', '0', '01', '-1', '1.0', testId('pv', 9), 'latest'])('are not found by %s', async (name) => {
    const { id } = await create();
    expect(refusalOf(await send('GET', `/v1/policies/${String(id)}/versions/${name}`))).toEqual([
      404,
      'not_found',
      null,
    ]);
  });

  it('are listed newest first, page by page', async () => {
    const policy = await create();
    await addVersion(policy);
    await addVersion(policy);
    const path = `/v1/policies/${String(policy['id'])}/versions?limit=2`;
    const first = await send('GET', path);
    expect((first.json?.['data'] as Json[]).map(({ version }) => version)).toEqual([3, 2]);
    const rest = await send('GET', `${path}&cursor=${String(first.json?.['next_cursor'])}`);
    expect(rest.json).toMatchObject({ has_more: false, data: [{ version: 1, object: 'policy_version' }] });
  });

  it.each([testId('pol', 9), testId('con', 9), 'nothing'])('of %s are not found', async (id) => {
    for (const [method, path, body] of [
      ['GET', '/versions', undefined],
      ['GET', '/versions/1', undefined],
      ['POST', '/versions', { source: SOURCE }],
      ['POST', '/versions/1/activate', { mode: 'enforce' }],
      ['POST', '/deactivate', { mode: 'enforce' }],
      ['GET', '', undefined],
    ] as const) {
      expect(refusalOf(await send(method, `/v1/policies/${id}${path}`, body))).toEqual([404, 'not_found', null]);
    }
  });
});

describe('the enforced slot', () => {
  it('holds one version of one policy, each change with its deed', async () => {
    const [one, other] = [await create(), await create()];
    const first = await activate(one, 1, { mode: 'enforce', reason: 'Go live' });
    expect([first.status, first.json]).toMatchObject([
      200,
      { version: 1, activation: 'enforce', rules: [{ id: 'read' }] },
    ]);
    expect(first.json?.['deed']).toBe(await deedOfLast(`org-${ORG}`, 'PolicyActivated'));
    const version = (one['latest_version'] as Json)['id'];
    const active = { activation: 'enforce', enforced_version: version, shadow_version: null };
    expect((await send('GET', `/v1/policies/${String(one['id'])}`)).json).toMatchObject(active);
    expect((await activate(one, version)).json?.['deed']).toBeNull();
    await activate(other, 1);
    const replaced = { activation: null, enforced_version: null, latest_version: { activation: null } };
    expect((await send('GET', `/v1/policies/${String(one['id'])}`)).json).toMatchObject(replaced);
    const emptied = await deactivate(other, { mode: 'enforce', reason: 'Stop' });
    expect([emptied.status, emptied.json]).toMatchObject([200, { object: 'policy', ...replaced }]);
    expect(emptied.json?.['deed']).toBe(await deedOfLast(`org-${ORG}`, 'PolicyDeactivated'));
  });

  it('is emptied by the policy that holds it alone', async () => {
    const [one, other] = [await create(), await create()];
    await activate(one, 1);
    expect(refusalOf(await deactivate(other))).toEqual([409, 'conflict', 'mode']);
    await deactivate(one);
    expect(refusalOf(await deactivate(one))).toEqual([409, 'conflict', 'mode']);
  });

  it.each([
    [{ mode: 'on' }, 'mode'],
    [{}, 'mode'],
    [{ mode: 'enforce', reason: '' }, 'reason'],
    [{ mode: 'enforce', reason: 'two\nlines' }, 'reason'],
    [{ mode: 'enforce', reason: 'x'.repeat(281) }, 'reason'],
    [{ mode: 'enforce', reason: null }, 'reason'],
    [{ mode: 'enforce', version: 1 }, 'version'],
  ])('refuses %j', async (body, param) => {
    const policy = await create();
    expect(refusalOf(await activate(policy, 1, body))).toEqual([400, 'validation_failed', param]);
    expect(refusalOf(await deactivate(policy, body))).toEqual([400, 'validation_failed', param]);
  });

  it('takes a reason of 280 characters of any kind', async () => {
    expect((await activate(await create(), 1, { mode: 'enforce', reason: '\u{1F600}'.repeat(280) })).status).toBe(200);
  });
});

describe('the shadow slot', () => {
  it('holds one version beside the enforced one, each change with its deed', async () => {
    const [decides, tried] = [await create(), await create()];
    await activate(decides, 1);
    const begun = await activate(tried, 1, { mode: 'shadow', reason: 'A week beside it' });
    expect([begun.status, begun.json]).toMatchObject([200, { version: 1, activation: 'shadow' }]);
    expect(begun.json?.['deed']).toBe(await deedOfLast(`org-${ORG}`, 'PolicyActivated'));
    const shown = (await send('GET', `/v1/policies/${String(tried['id'])}`)).json;
    const version = (tried['latest_version'] as Json)['id'];
    expect(shown).toMatchObject({ activation: 'shadow', enforced_version: null, shadow_version: version });
    const refused = await activate(await create(), 1, { mode: 'shadow' });
    expect(refusalOf(refused)).toEqual([409, 'shadow_slot_taken', 'mode']);
    expect(refused.error['message']).toContain(`/v1/policies/${String(tried['id'])}/deactivate`);
    const ended = await deactivate(tried, { mode: 'shadow' });
    expect([ended.status, ended.json]).toMatchObject([200, { activation: null, shadow_version: null }]);
    expect(ended.json?.['deed']).toBe(await deedOfLast(`org-${ORG}`, 'PolicyDeactivated'));
    expect(refusalOf(await deactivate(tried, { mode: 'shadow' }))).toEqual([409, 'conflict', 'mode']);
    expect((await send('GET', `/v1/policies/${String(decides['id'])}`)).json).toMatchObject({ activation: 'enforce' });
  });

  it('is free again once what runs in it is enforced', async () => {
    const policy = await create();
    await activate(policy, 1, { mode: 'shadow' });
    const promoted = await activate(policy, 1);
    expect(promoted.json).toMatchObject({ activation: 'enforce' });
    expect(promoted.json?.['deed']).toBe(await deedOfLast(`org-${ORG}`, 'PolicyActivated'));
    const { status } = await activate(await create(), 1, { mode: 'shadow' });
    expect(status).toBe(200);
  });
});

describe('GET /v1/policies', () => {
  it('shows the newest first, as each stands when it is asked', async () => {
    const policy = await create();
    await addVersion(policy);
    await activate(policy, 2);
    const { json } = await send('GET', '/v1/policies?limit=1');
    const single = (await send('GET', `/v1/policies/${String(policy['id'])}`)).json;
    expect(json).toMatchObject({ object: 'list', data: [single], has_more: true });
    expect(single).toMatchObject({ activation: 'enforce', latest_version: { version: 2, activation: 'enforce' } });
    const rest = await send('GET', `/v1/policies?limit=100&cursor=${String(json?.['next_cursor'])}`);
    expect((rest.json?.['data'] as Json[]).map(({ id }) => id)).not.toContain(policy['id']);
  });

  it('says how far it is behind', async () => {
    const policy = await create();
    await send('GET', '/v1/policies');
    await addVersion(policy);
    bench.progress.isHeldUp = true;
    for (const path of ['', `/${String(policy['id'])}/versions`]) {
      const { status, headers } = await send('GET', `/v1/policies${path}`);
      expect([status, headers.get('service-projection-lag')]).toEqual([200, '1']);
    }
  });
});

describe('POST /v1/policies/lint', () => {
  it('answers 200 whatever it finds, and stores nothing', async () => {
    const head = await bench.store.head();
    const good = await send('POST', '/v1/policies/lint', { source: 'version: 1\ndefault: deny\n' });
    expect([good.status, good.json]).toEqual([200, { object: 'policy_lint', valid: true, diagnostics: [] }]);
    const bad = await send('POST', '/v1/policies/lint', { source: 'version: 2\n' });
    expect([bad.status, bad.json]).toMatchObject([200, { object: 'policy_lint', valid: false }]);
    expect((bad.json?.['diagnostics'] as Json[])[0]).toMatchObject({ object: 'policy_diagnostic', line: 1 });
    expect(await bench.store.head()).toBe(head);
  });

  it('tells the warnings of a source that may be saved', async () => {
    const source = `${SOURCE}    when: "1 == 1"\n`;
    const { json } = await send('POST', '/v1/policies/lint', { source });
    expect(json).toMatchObject({
      valid: true,
      diagnostics: [
        { severity: 'warning', code: 'no_such_tool', line: 4 },
        { severity: 'warning', code: 'constant_condition', line: 9 },
      ],
    });
  });

  it('needs a source', async () => {
    expect(refusalOf(await send('POST', '/v1/policies/lint', {}))).toEqual([400, 'validation_failed', 'source']);
  });
});

describe('GET /v1/policies/language', () => {
  it('tells every name that a policy can hold, and keeps a copy current', async () => {
    const { status, json, headers, text } = await send('GET', '/v1/policies/language');
    expect([status, json?.['object'], headers.get('cache-control')]).toEqual([
      200,
      'policy_language',
      'private, no-cache',
    ]);
    expect((json?.['rule'] as Json[]).map(({ name }) => name)).toContain('decision');
    const etag = String(headers.get('etag'));
    expect(etag).toBe(`"${digestOf(text)}"`);
    const again = await send('GET', '/v1/policies/language', undefined, { 'If-None-Match': etag });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
    const old = await send('GET', '/v1/policies/language', undefined, { 'If-None-Match': '"old"' });
    expect(old.status).toBe(200);
  });
});

describe('an agent key', () => {
  it.each([
    ['GET', '/v1/policies'],
    ['GET', '/v1/policies/language'],
    ['POST', '/v1/policies'],
    ['GET', `/v1/policies/${testId('pol', 1)}`],
    ['GET', `/v1/policies/${testId('pol', 1)}/versions`],
    ['POST', `/v1/policies/${testId('pol', 1)}/versions`],
    ['GET', `/v1/policies/${testId('pol', 1)}/versions/1`],
    ['POST', `/v1/policies/${testId('pol', 1)}/versions/1/activate`],
    ['POST', `/v1/policies/${testId('pol', 1)}/deactivate`],
    ['POST', '/v1/policies/lint'],
  ])('may not %s %s', async (method, path) => {
    const answer = await send(method, path, method === 'GET' ? undefined : {}, bearer('agent'));
    expect(refusalOf(answer)).toEqual([403, 'insufficient_scope', null]);
  });
});
