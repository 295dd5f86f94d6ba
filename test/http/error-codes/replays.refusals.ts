import { OPEN_MAX } from '#libs/domain/replays';
import { whileActionsAreCrowded } from '../../support/crowded-actions.js';
import type { RefusalGroup } from './refusal.js';
import type { Stage } from './stage.js';

/** Open ones that nobody can run. */
const COPIES = `insert into replays.replays
  select (jsonb_populate_record(r, jsonb_build_object('id', 'copy ' || n, 'status', 'running'))).*
    from replays.replays r, generate_series(1, $2::int) n where r.id = $1`;

const replayOf = ({ policy }: Stage): string => `/v1/policies/${policy}/versions/1/replay`;

export const REPLAYS: RefusalGroup = {
  title: 'a replay’s routes',
  refusals: [
    {
      rule: 'a window that ends before it begins',
      verdict: [400, 'invalid_request_error', 'replay_window_invalid', 'from'],
      provoke: (stage) =>
        stage.admin('POST', replayOf(stage), { json: { from: '2026-10-02T00:00:00Z', to: '2026-10-01T00:00:00Z' } }),
    },
    {
      rule: 'a window of more than 90 days',
      verdict: [400, 'invalid_request_error', 'replay_window_invalid', 'from'],
      provoke: (stage) =>
        stage.admin('POST', replayOf(stage), { json: { from: '2026-01-01T00:00:00Z', to: '2026-04-02T00:00:00Z' } }),
    },
    {
      rule: 'more actions than one replay judges',
      verdict: [400, 'invalid_request_error', 'replay_too_large', 'from'],
      provoke: async (stage) => {
        await stage.act('nobody.nothing', 'counted');
        // The list has the action when it answers.
        await stage.admin('GET', '/v1/actions');
        return whileActionsAreCrowded(stage.database, () => stage.admin('POST', replayOf(stage), { json: {} }));
      },
    },
    {
      rule: 'a bound that is no instant',
      verdict: [400, 'invalid_request_error', 'validation_failed', 'from'],
      provoke: (stage) => stage.admin('POST', replayOf(stage), { json: { from: 'yesterday' } }),
    },
    {
      rule: 'a version that there is not',
      verdict: [404, 'invalid_request_error', 'not_found', null],
      provoke: (stage) => stage.admin('POST', `/v1/policies/${stage.policy}/versions/99/replay`, { json: {} }),
    },
    {
      rule: 'a list of the replays of what is no policy',
      verdict: [400, 'invalid_request_error', 'validation_failed', 'policy'],
      provoke: ({ admin }) => admin('GET', '/v1/replays?policy=support'),
    },
    {
      rule: 'to cancel one that has ended',
      verdict: [409, 'invalid_request_error', 'conflict', null],
      provoke: async (stage) => {
        const { id } = (await stage.admin('POST', replayOf(stage))).json;
        const ended = `update replays.replays set status = 'failed', error_code = 'internal_error', ended_at = created_at where id = $1`;
        await stage.database.query(ended, [id]);
        return stage.admin('POST', `/v1/replays/${String(id)}/cancel`);
      },
    },
    {
      rule: 'one more than may be open in an organization',
      verdict: [409, 'invalid_request_error', 'conflict', null],
      provoke: async (stage) => {
        const { id } = (await stage.admin('POST', replayOf(stage))).json;
        await stage.database.query(COPIES, [id, OPEN_MAX]);
        const answer = await stage.admin('POST', replayOf(stage));
        await stage.database.query(`delete from replays.replays where id like 'copy %'`);
        return answer;
      },
    },
    {
      rule: 'to read one that there is not',
      verdict: [404, 'invalid_request_error', 'not_found', null],
      provoke: ({ admin }) => admin('GET', `/v1/replays/rpl_${'0'.repeat(26)}`),
    },
  ],
};
