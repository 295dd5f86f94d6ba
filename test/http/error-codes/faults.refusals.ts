import { expect, vi } from 'vitest';
import { RawConnection } from '../raw-http.js';
import { configOf } from './lab.js';
import { plainAnswer, type Stage } from './stage.js';
import type { RefusalGroup, Verdict } from './refusal.js';

const UNAVAILABLE = {
  verdict: [503, 'api_error', 'service_unavailable', null] as Verdict,
  headers: { 'retry-after': '1' },
};

/** Its request is never finished. Opened first, so that its time runs out while the other faults take theirs. */
let unfinished: RawConnection | null = null;

const openUnfinished = async ({ port }: Stage): Promise<void> => {
  unfinished = await RawConnection.open(port);
  unfinished.send('GET /v1/version HTTP/1.1\r\n');
};

/** The projections wait: their rows stay behind the log. */
const CHECKPOINTS = 'select from read_models.projection_checkpoints for update';

/** What goes wrong behind the edge, made over the test's own connection to the service's database. */
export const FAULTS: RefusalGroup = {
  title: 'where something behind it fails, the service',
  enter: openUnfinished,
  refusals: [
    {
      rule: 'the seal keys when it cannot read them: never a partial list',
      ...UNAVAILABLE,
      provoke: (stage) =>
        stage.whileLocked('lock table event_store.events in access exclusive mode', () =>
          stage.send('GET', '/.well-known/service/keys.json'),
        ),
    },
    {
      rule: 'an action that it cannot record, and does not execute it',
      ...UNAVAILABLE,
      provoke: async ({ whileLocked, act, lab }) => {
        // Appends take turns under this lock (libs/infra/src/event-store).
        const answer = await whileLocked('select pg_advisory_xact_lock(4701)', () => act('lab.write', 'unrecorded'));
        expect(lab.upstream.seen.filter(({ path }) => path.includes('unrecorded'))).toEqual([]);
        return answer;
      },
    },
    {
      rule: 'a credential that it cannot store',
      verdict: [503, 'api_error', 'vault_unavailable', null],
      provoke: (stage) =>
        stage.whileLocked('lock table vault_secrets in access exclusive mode', () =>
          stage.admin('PUT', '/v1/connectors/bare/credentials', {
            json: { kind: 'bearer', secret: { token: 'a-token-that-is-not-stored' } },
          }),
        ),
    },
    {
      rule: 'a deed that its rows do not tell of yet: nobody knows that there is none',
      ...UNAVAILABLE,
      provoke: ({ whileLocked, act, agent }) =>
        whileLocked(CHECKPOINTS, async () => {
          const { json } = await act('lab.write', 'ahead');
          const read = await agent('GET', `/v1/actions/${String(json['id'])}`);
          expect(read.json).toMatchObject({ state: 'sealed', deeds: [{ id: json['deed'], kind: 'action' }] });
          return agent('GET', `/v1/deeds/${String(json['deed'])}`);
        }),
    },
    {
      rule: 'a connector that its rows do not tell of yet',
      ...UNAVAILABLE,
      provoke: ({ whileLocked, admin, lab }) =>
        whileLocked(CHECKPOINTS, async () => {
          const json = { name: 'ahead', type: 'rest', config: configOf(lab.upstream.baseUrl) };
          const made = await admin('POST', '/v1/connectors', { json });
          expect(made.status).toBe(201);
          return admin('GET', `/v1/connectors/${String(made.json['id'])}`);
        }),
    },
    {
      rule: 'a list that takes too long to search',
      verdict: [504, 'api_error', 'timeout', null],
      provoke: (stage) =>
        stage.whileLocked('lock table read_models.actions in access exclusive mode', () =>
          stage.agent('GET', '/v1/actions'),
        ),
    },
    {
      rule: 'an action whose stored arguments are not those that the log names, and shows nothing of them',
      ...UNAVAILABLE,
      provoke: async ({ act, agent, database, service }) => {
        const id = String((await act('lab.write', 'damaged')).json['id']);
        const changed = `update gate.payloads set body = replace(body, 'damaged', 'another') where owner = $1 and kind = $2`;
        expect(await database.query(changed, [id, 'policy_input'])).toMatchObject({ rowCount: 1 });
        const answer = await agent('GET', `/v1/actions/${id}`);
        expect(answer.text).not.toContain('another');
        const told = `the policy_input of ${id} that is stored beside the log is not the one that the log names`;
        await vi.waitFor(() => expect(service.stdout).toContain(told), 10_000);
        return answer;
      },
    },
    {
      rule: 'an action whose stored result is not the one that the log names, and shows nothing of it',
      ...UNAVAILABLE,
      provoke: async ({ act, agent, database }) => {
        const { id, result } = (await act('lab.write', 'altered')).json;
        const changed = `update gate.payloads set body = '{"done":false}' where owner = $1 and kind = 'result'`;
        expect(await database.query(changed, [id])).toMatchObject({ rowCount: 1 });
        // As it was for as long as the service remembers it, a second; then no more.
        return vi.waitFor(async () => {
          const answer = await agent('GET', `/v1/actions/${String(id)}`);
          if (answer.status === 200) expect(answer.json['result']).toEqual(result);
          expect(answer.status).not.toBe(200);
          return answer;
        }, 10_000);
      },
    },
    {
      rule: 'an action whose rows it cannot make sense of, and shows nothing of them',
      verdict: [500, 'api_error', 'internal_error', null],
      provoke: async ({ act, agent, database }) => {
        const { json } = await act('lab.write', 'unforeseen');
        await database.query('alter table gate.payloads rename column body to elsewhere');
        try {
          return await agent('GET', `/v1/actions/${String(json['id'])}`);
        } finally {
          await database.query('alter table gate.payloads rename column elsewhere to body');
        }
      },
    },
    {
      rule: 'a request whose rest does not come',
      verdict: [408, 'api_error', 'timeout', null],
      provoke: async (stage) => {
        if (unfinished === null) throw new Error('no request is unfinished');
        const answer = plainAnswer(await unfinished.answer());
        unfinished.close();
        return stage.received('', '', answer);
      },
    },
  ],
};

/**
 * Failed keys are limited by address (rule KEY-10). Last of those that need keys, because the address keeps its count.
 */
export const TOO_MANY_FAILURES: RefusalGroup = {
  title: 'after a hundred failed keys, the edge',
  refusals: [
    {
      rule: 'a key of that address that has not worked before',
      verdict: [429, 'rate_limit_error', 'rate_limited', null],
      headers: { 'retry-after': '1' },
      provoke: async ({ send }) => {
        for (;;) {
          const tries = Array.from({ length: 100 }, () => send('GET', '/v1/actions', { key: 'guessed' }));
          const limited = (await Promise.all(tries)).find(({ status }) => status === 429);
          if (limited) return limited;
        }
      },
    },
  ],
};
