import type { RefusalGroup } from './refusal.js';
import type { Stage } from './stage.js';

const make = ({ admin }: Stage) => admin('POST', '/v1/ledger/checkpoint');

export const LEDGER: RefusalGroup = {
  title: 'a checkpoint',
  refusals: [
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
