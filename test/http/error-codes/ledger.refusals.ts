import { expect } from 'vitest';
import { longAfterSignIn } from '../../support/long-after-sign-in.js';
import type { Answer } from '../../support/service.js';
import type { RefusalGroup, Verdict } from './refusal.js';
import type { Stage } from './stage.js';

const make = ({ admin }: Stage) => admin('POST', '/v1/ledger/checkpoint');

/** As where somebody altered a deed and the stored hashes: nothing leads to what was signed. */
const beyondProof =
  (ask: (stage: Stage) => Promise<Answer>) =>
  async (stage: Stage): Promise<Answer> => {
    await make(stage);
    const { database } = stage;
    const first = `stream like 'ledger-%' and revision = 0`;
    await database.query(
      `create table ledger.first_deeds as select stream, revision, data from event_store.events where ${first}`,
    );
    await database.query('create table ledger.kept_frontiers as table ledger.frontiers');
    await database.query(
      'update ledger.frontiers set hashes = set_byte(hashes, 0, get_byte(hashes, 0) # 1) where length(hashes) > 0',
    );
    await database.query(`update event_store.events set data = '{}' where ${first}`);
    try {
      return await ask(stage);
    } finally {
      await database.query(
        `update event_store.events e set data = k.data from ledger.first_deeds k
          where e.stream = k.stream and e.revision = k.revision`,
      );
      await database.query('delete from ledger.frontiers');
      await database.query('insert into ledger.frontiers table ledger.kept_frontiers');
      await database.query('drop table ledger.first_deeds, ledger.kept_frontiers');
    }
  };

export const LEDGER: RefusalGroup = {
  title: 'a checkpoint',
  refusals: [
    {
      rule: 'that nobody can prove to continue another, because neither hashes nor deeds lead to it',
      verdict: [409, 'invalid_request_error', 'ledger_inconsistent', null],
      provoke: beyondProof(({ admin }) => admin('GET', '/v1/ledger/consistency?from=1&to=2')),
    },
    {
      rule: 'that nobody can prove to have the altered deed in its tree, for the same reason',
      verdict: [409, 'invalid_request_error', 'ledger_inconsistent', null],
      provoke: beyondProof(async ({ admin }) => {
        const { json } = await admin('GET', '/v1/deeds');
        // The altered one itself.
        return admin('GET', `/v1/deeds/${(json['data'] as { id: string }[])[0]?.id}/proof`);
      }),
    },
    {
      rule: 'of a ledger that does not continue what was signed',
      verdict: [409, 'invalid_request_error', 'ledger_inconsistent', null],
      provoke: async (stage) => {
        await stage.database.query(
          `insert into ledger.broken_ledgers (org, reason, size, signed_size, since)
           select org, 'shorter', 1, 2, '2026-10-01T12:00:00.000Z' from agents.key_prefixes limit 1`,
        );
        try {
          return await make(stage);
        } finally {
          await stage.database.query('delete from ledger.broken_ledgers');
        }
      },
    },
    {
      rule: 'whose key cannot be opened, as where its row is gone',
      verdict: [503, 'api_error', 'vault_unavailable', null],
      provoke: async (stage) => {
        const { database } = stage;
        // Made by another process: this one has not opened it yet.
        await stage.ags('checkpoint-keys', 'rotate', '--overlap', '1h');
        await stage.act('lab.write', 'unsigned');
        await database.query('create table ledger.kept_aside as table ledger.checkpoint_keys');
        await database.query('delete from ledger.checkpoint_keys');
        try {
          return await make(stage);
        } finally {
          await database.query('insert into ledger.checkpoint_keys table ledger.kept_aside on conflict do nothing');
          await database.query('drop table ledger.kept_aside');
        }
      },
    },
  ],
};

const KEY = 'witness.example/w1+eb762cc2+BNdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea';
const ONE = { name: 'partner', vkey: KEY, url: 'https://witness.example' };
const NOBODY = { quorum: 0, witnesses: [] };
const invalid = (param: string | null): Verdict => [400, 'invalid_request_error', 'validation_failed', param];
const put =
  (json: object) =>
  ({ owner }: Stage) =>
    owner('PUT', '/v1/ledger/witnesses', { json });

export const WITNESS_POLICY: RefusalGroup = {
  title: 'a policy of witnesses',
  refusals: [
    {
      rule: 'with a verifier key that is none',
      verdict: invalid('witnesses[0].vkey'),
      provoke: put({ quorum: 1, witnesses: [{ ...ONE, vkey: 'witness' }] }),
    },
    {
      rule: 'with one key under two names',
      verdict: invalid('witnesses[1].vkey'),
      provoke: put({ quorum: 1, witnesses: [ONE, { ...ONE, name: 'auditor' }] }),
    },
    {
      rule: 'with more asked for than are named',
      verdict: invalid('quorum'),
      provoke: put({ quorum: 2, witnesses: [ONE] }),
    },
    {
      rule: 'as a file that is none',
      verdict: invalid(null),
      provoke: ({ owner }) =>
        owner('PUT', '/v1/ledger/witnesses', { text: 'quorum any\n', headers: { 'Content-Type': 'text/plain' } }),
    },
    {
      rule: 'that asks a witness no more, by an owner who signed in long ago',
      verdict: [403, 'permission_error', 'recent_sign_in_required', null],
      provoke: async (stage) => {
        expect((await put({ quorum: 1, witnesses: [ONE] })(stage)).status).toBe(200);
        try {
          return await longAfterSignIn(stage.database, () => put(NOBODY)(stage));
        } finally {
          await put(NOBODY)(stage);
        }
      },
    },
    {
      rule: 'in the place of one that has changed since it was read',
      verdict: [409, 'invalid_request_error', 'conflict', 'expected_updated_at'],
      provoke: put({ quorum: 1, witnesses: [ONE], expected_updated_at: '2026-10-01T12:00:00.000Z' }),
    },
    {
      rule: 'that leads to where nobody may send',
      verdict: [400, 'invalid_request_error', 'destination_blocked', 'witnesses[0].url'],
      provoke: put({ quorum: 1, witnesses: [{ ...ONE, url: 'https://169.254.169.254' }] }),
    },
  ],
};
