import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SigningKey } from '#libs/crypto';
import { decodeEvent } from '#libs/domain/kernel';
import type { LedgerEvent } from '#libs/domain/ledger';
import { ORG } from '../../../../test/http/edge-harness.js';
import { bearer } from '../../../../test/http/edge-client.js';
import { ApiBench } from '../../../../test/support/api-bench.js';
import { AgentRoutesModule } from './agent-routes.module.js';

const DEED = expect.stringMatching(/^deed_/) as unknown;

let bench: ApiBench;
let agent = '';

beforeAll(async () => {
  bench = await ApiBench.start([AgentRoutesModule]);
});
afterAll(() => bench.close());
beforeEach(async () => {
  agent = String((await send('POST', '/v1/agents', { name: 'signer' })).json?.['id']);
});

const send = async (method: string, path: string, body?: unknown) =>
  bench.send(method, path, {
    headers: { ...bearer('admin'), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const intentKeys = (rest = ''): string => `/v1/agents/${agent}/intent-keys${rest}`;
const newKey = () => SigningKey.generate().publicKey;
const add = (public_key: unknown) => send('POST', intentKeys(), { public_key });
const refusalOf = ({ status, error }: { status: number; error: Record<string, unknown> }): unknown[] => [
  status,
  error['code'],
  error['param'],
];

describe('POST /v1/agents/{id}/intent-keys', () => {
  it('answers 201 with the key, its kid, who added it and the deed', async () => {
    const { text, kid } = newKey();
    const { status, json } = await add(text);
    expect([status, json]).toEqual([
      201,
      {
        object: 'intent_key',
        kid,
        agent,
        public_key: text,
        created_at: expect.stringMatching(/Z$/),
        created_by: { type: 'admin_key', id: expect.stringMatching(/^key_/) },
        deed: DEED,
      },
    ]);
    expect((await send('GET', intentKeys())).json?.['data']).toEqual([json]);
    expect((await send('GET', `/v1/agents/${agent}`)).json).toMatchObject({ intent_keys: 1 });
  });

  it('refuses a third key, and the same one twice', async () => {
    const first = newKey();
    await add(first.text);
    expect(refusalOf(await add(first.text))).toEqual([409, 'conflict', 'public_key']);
    await add(newKey().text);
    expect(refusalOf(await add(newKey().text))).toEqual([409, 'conflict', null]);
  });

  it.each([
    ['of small order', `ed25519:AQ${'A'.repeat(41)}`],
    ['of another spelling', `ed25519:${Buffer.from(`ee${'ff'.repeat(30)}7f`, 'hex').toString('base64url')}`],
    ['off the curve', `ed25519:Ag${'A'.repeat(41)}`],
    ['too short', 'ed25519:AAAA'],
    ['without its prefix', 'A'.repeat(43)],
    ['that is a number', 7],
    ['that is null', null],
    ['that is a list', []],
  ])('refuses a key %s with 422', async (_what, key) => {
    expect(refusalOf(await add(key))).toEqual([422, 'validation_failed', 'public_key']);
  });

  it('takes two of many that come at once', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => add(newKey().text)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409, 409]);
  });

  it('asks for one', async () => {
    expect(refusalOf(await send('POST', intentKeys(), {}))).toEqual([400, 'validation_failed', 'public_key']);
  });
});

describe('DELETE /v1/agents/{id}/intent-keys/{kid}', () => {
  it('removes it, once', async () => {
    const { text, kid } = newKey();
    await add(text);
    const removed = await send('DELETE', intentKeys(`/${kid}`));
    expect(removed).toMatchObject({ status: 200 });
    expect(removed.json).toEqual({ object: 'intent_key', kid, agent, deleted: true, deed: DEED });
    expect(refusalOf(await send('DELETE', intentKeys(`/${kid}`)))).toEqual([404, 'not_found', null]);
  });

  it('keeps the last key of an agent that must sign', async () => {
    const [first, second] = [newKey(), newKey()];
    await add(first.text);
    const mode = (intent_mode: string) => send('PATCH', `/v1/agents/${agent}`, { intent_mode });
    expect((await mode('required')).json).toMatchObject({ intent_mode: 'required', deed: DEED });
    expect(refusalOf(await send('DELETE', intentKeys(`/${first.kid}`)))).toEqual([409, 'conflict', null]);
    await add(second.text);
    expect(await send('DELETE', intentKeys(`/${first.kid}`))).toMatchObject({ status: 200 });
    await mode('off');
    expect(await send('DELETE', intentKeys(`/${second.kid}`))).toMatchObject({ status: 200 });
    expect(refusalOf(await mode('required'))).toEqual([409, 'conflict', 'intent_mode']);
  });

  it('of a mode and the removal of the only key that come at once, one is refused', async () => {
    for (let round = 0; round < 10; round += 1) {
      agent = String((await send('POST', '/v1/agents', { name: 'racer' })).json?.['id']);
      const { text, kid } = newKey();
      await add(text);
      const [mode, removal] = await Promise.all([
        send('PATCH', `/v1/agents/${agent}`, { intent_mode: 'required' }),
        send('DELETE', intentKeys(`/${kid}`)),
      ]);
      expect([mode.status, removal.status].sort()).toEqual([200, 409]);
    }
  });

  it('a key that came back has the deed of its last registration', async () => {
    const { text, kid } = newKey();
    await add(text);
    await send('DELETE', intentKeys(`/${kid}`));
    const { json } = await add(text);
    expect((await send('GET', intentKeys())).json?.['data']).toEqual([json]);
  });
});

describe('the deeds that answers name', () => {
  it('are those that seal the changes', async () => {
    await bench.ledger.activateKey();
    const { text, kid } = newKey();
    const added = await add(text);
    const settings = { intent_mode: 'required', labels: { team: 'sales' }, budgets: { calls_per_day: 9 } };
    const changed = await send('PATCH', `/v1/agents/${agent}`, settings);
    await send('PATCH', `/v1/agents/${agent}`, { intent_mode: 'off' });
    const removed = await send('DELETE', intentKeys(`/${kid}`));
    await bench.seal();
    const sealed = new Map<unknown, { action: string; target: { id: string } }>();
    for (const recorded of await bench.store.readStream(`ledger-${ORG}`)) {
      const { data } = decodeEvent(recorded).event as LedgerEvent;
      const { admin } = JSON.parse(data.body) as { admin: { action: string; target: { id: string } } };
      sealed.set(data.deed, admin);
    }
    expect(sealed.get(added.json?.['deed'])).toMatchObject({ action: 'intent_key.added', target: { id: kid } });
    const acts = (changed.json?.['deeds'] as string[]).map((deed) => sealed.get(deed)?.action);
    expect(acts).toEqual(['agent.intent_mode_set', 'agent.labels_set', 'agent.budgets_set']);
    expect(sealed.get(removed.json?.['deed'])).toMatchObject({ action: 'intent_key.removed', target: { id: kid } });
  });
});
