import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { digestOf } from '#libs/crypto';
import type { ActionEvent, NamedPayload, PayloadFault } from '#libs/domain/gate';
import { appendEvents, type ActionId, type OrgId } from '#libs/domain/kernel';
import { PostgresPayloadComparison } from '#libs/infra/gate';
import { outcome } from '../../../../test/support/given-log.js';
import { metadataAt, NOW } from '../../../../test/support/given.js';
import { DAY_MS, RetentionScene } from '../../../../test/support/retention-scene.js';
import { writtenTerminal } from '../../../../test/support/written-terminal.js';
import { ProgressLine } from '../terminal.js';
import { audit } from './audit.command.js';

const PERIOD_MS = 90 * DAY_MS;
const LATE = '{"late":true}';

let scene: RetentionScene;
let org: OrgId;
let actions: readonly ActionId[];

/** Two actions, a day apart. */
beforeEach(async () => {
  scene = await RetentionScene.start();
  org = await scene.organization();
  actions = [await scene.sealed(org)];
  scene.pass(DAY_MS);
  actions = [...actions, await scene.sealed(org)];
});
afterEach(() => scene.close());

const verdict = async (payloads: PostgresPayloadComparison = new PostgresPayloadComparison(scene.pool)) => {
  const { terminal } = writtenTerminal({ isTTY: false });
  const audited = { log: scene.store, payloads, retention: scene.reach };
  const found = await audit(audited, null, new ProgressLine(terminal), new AbortController().signal);
  return {
    missing: found.faults.map(({ code, stream, kind }) => `${code} ${kind} ${stream.slice('action-'.length)}`),
    payloads: found.payloads,
    removed: found.payloadsRemoved,
  };
};
const remove = (action: ActionId | undefined) =>
  scene.pool.query('delete from gate.payloads where owner = $1', [action]);
const faultOf = (action: ActionId | undefined, kind = 'policy_input') => `payload_missing ${kind} ${action}`;

describe('an audit beside retention', () => {
  it('finds no fault before, between and after rounds', async () => {
    const retention = scene.retention();
    expect(await verdict()).toEqual({ missing: [], payloads: 2, removed: 0 });
    scene.pass(PERIOD_MS - DAY_MS + 1);
    await retention.removeBatch(org);
    expect(await verdict()).toEqual({ missing: [], payloads: 2, removed: 1 });
    scene.pass(DAY_MS);
    await retention.removeBatch(org);
    expect(await verdict()).toEqual({ missing: [], payloads: 2, removed: 2 });
  });

  it('names a body that was removed by hand before its days were over', async () => {
    scene.pass(PERIOD_MS - DAY_MS + 1);
    await scene.retention().removeBatch(org);
    await remove(actions[1]);
    expect(await verdict()).toEqual({ missing: [faultOf(actions[1])], payloads: 2, removed: 1 });
  });

  it('names one of an action that was never sealed', async () => {
    const unsealed = await scene.recorded(org, 'executed');
    await remove(unsealed);
    scene.pass(PERIOD_MS + 1);
    await scene.retention().removeBatch(org);
    const missing = [faultOf(unsealed), faultOf(unsealed, 'result')];
    expect(await verdict()).toEqual({ missing, payloads: 4, removed: 2 });
  });

  it('names all where somebody wrote a cursor that no deed of the ledger is at', async () => {
    await scene.rows.remove(actions, null, { org, revision: 2, bodyHash: digestOf('no deed') });
    expect((await verdict()).missing).toEqual(actions.map((action) => faultOf(action)));
  });

  it('finds no fault where retention goes on while it looks', async () => {
    scene.pass(PERIOD_MS + 1);
    class Overtaken extends PostgresPayloadComparison {
      override async compare(named: readonly NamedPayload[]): Promise<readonly (PayloadFault | null)[]> {
        await scene.retention().removeBatch(org);
        return super.compare(named);
      }
    }
    expect(await verdict(new Overtaken(scene.pool))).toEqual({ missing: [], payloads: 2, removed: 2 });
  });
});

describe('an audit of the result of a late report', () => {
  const reportLate = async (action: ActionId): Promise<void> => {
    const data = {
      ...outcome({ result_digest: digestOf(LATE) }),
      action,
      attempt: 1,
      claim: 'c1',
      at: NOW,
    };
    await scene.payloads.put({ owner: action, org, kind: 'result', digest: digestOf(LATE), body: LATE });
    const late: ActionEvent = { type: 'LateReport', data };
    const metadata = { ...metadataAt(), org, commandId: 'late' };
    const recorded = await scene.store.readStream(`action-${action}`);
    await appendEvents(scene.store, `action-${action}`, recorded.length - 1, [late], metadata);
  };

  it('goes by the deed of its action, which stands before it in the log', async () => {
    const action = await scene.recorded(org, 'executed');
    await scene.seal();
    await reportLate(action);
    expect(await verdict()).toEqual({ missing: [], payloads: 5, removed: 0 });
    await scene.pool.query('delete from gate.payloads where digest = $1', [digestOf(LATE)]);
    expect((await verdict()).missing).toEqual([faultOf(action, 'result')]);
    scene.pass(PERIOD_MS + 1);
    await scene.retention().removeBatch(org);
    expect(await verdict()).toEqual({ missing: [], payloads: 5, removed: 5 });
  });
});
