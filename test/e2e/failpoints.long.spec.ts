import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENDINGS, type Fault, type PointOfCall, POINTS_OF_CALLS } from '../chaos/failpoint-endings.js';
import { FailpointLane } from '../chaos/failpoint-lane.js';
import { runAgs } from '../support/run-ags.js';

/** AGS_FAILPOINTS=all: each point by each fault; some minutes. `judged`: and the checker after each, which says after which. */
const ASKED = process.env['AGS_FAILPOINTS'];
const IS_JUDGED = ASKED === 'judged';
const IS_ALL = ASKED === 'all' || IS_JUDGED;
const CASE_DEADLINE_MS = IS_ALL ? 600_000 : 120_000;

/** What stands in the suite: the points at which most can go wrong. A kill costs a start; `.ci/run` has all of them, if it has the time. */
const SHORT: Readonly<Record<Fault, readonly PointOfCall[]>> = {
  kill: ['gate.t1.ack', 'exec.sent', 'exec.answered', 'seal.ack', 'proj.mid'],
  error: POINTS_OF_CALLS.filter((point) => !['gate.received', 'gate.enqueue', 'exec.mid_send'].includes(point)),
  delay: ['exec.before_send', 'exec.t4', 'seal.signed', 'proj.mid'],
};

const pointsOf = (fault: Fault) =>
  (IS_ALL ? POINTS_OF_CALLS : SHORT[fault]).map((point) => [point, ENDINGS[point][fault]] as const);

const LANES = ['failing', 'slow', 'slower'] as const;
let lanes: Record<(typeof LANES)[number], FailpointLane>;
/** Delays are most of the time that all points take, so two services share them. */
const laneOf = (fault: Fault, point: PointOfCall): FailpointLane => {
  if (fault !== 'delay') return lanes.failing;
  return POINTS_OF_CALLS.indexOf(point) % 2 === 0 ? lanes.slow : lanes.slower;
};

beforeAll(async () => {
  const [failing, slow, slower] = await Promise.all([
    FailpointLane.start('kill'),
    FailpointLane.start('delay'),
    FailpointLane.start('delay'),
  ]);
  lanes = { failing, slow, slower };
}, CASE_DEADLINE_MS);
afterAll(async () => {
  await Promise.all(Object.values(lanes ?? {}).map((lane) => lane.stop()));
});

const expectEnding = async (fault: Fault, point: PointOfCall, ending: string): Promise<void> => {
  const lane = laneOf(fault, point);
  const ended = await lane.meet(point, fault);
  if (ending === 'may') expect(ended).toMatch(/^(succeeded 1|unknown [01])$/);
  else expect(ended).toBe(ending);
  if (IS_JUDGED) expect(await lane.violations({ isRebuilt: false })).toEqual([]);
};

describe('kill -9 of a process at a failpoint', () => {
  it.concurrent.each(pointsOf('kill'))(
    '%s: %s',
    (point, ending) => expectEnding('kill', point, ending),
    CASE_DEADLINE_MS,
  );
});

describe('an error of the call at a failpoint', () => {
  it.concurrent.each(pointsOf('error'))(
    '%s: %s',
    (point, ending) => expectEnding('error', point, ending),
    CASE_DEADLINE_MS,
  );
});

describe('a delay at a failpoint, past the deadline of the call', () => {
  it.concurrent.each(pointsOf('delay'))(
    '%s: %s',
    (point, ending) => expectEnding('delay', point, ending),
    CASE_DEADLINE_MS,
  );
});

/** Each on a service of its own: a minute each, side by side. */
describe.runIf(IS_ALL)('a delay at a failpoint, past the time that the route has', () => {
  it.concurrent.each(['gate.received', 'gate.reply'] as const)(
    '%s: the call is answered with 504, and its key tells what became of it',
    async (point) => {
      const lane = await FailpointLane.start('kill');
      try {
        expect(await lane.meetPastTheRoute(point)).toBe('504, then succeeded 1');
        expect(await lane.violations({ isRebuilt: true })).toEqual([]);
      } finally {
        await lane.stop();
      }
    },
    CASE_DEADLINE_MS,
  );
});

/** What a refused call comes by on its way. */
const REFUSED_AT = [
  'gate.received',
  'gate.t1',
  'gate.t1.ack',
  'gate.reply',
  'seal.before',
  'seal.signed',
  'seal.ack',
] as const;
const REFUSED_BY: readonly (readonly [Fault, PointOfCall])[] = [
  ...(IS_ALL ? REFUSED_AT : (['gate.t1.ack'] as const)).map((point) => ['kill', point] as const),
  ...REFUSED_AT.map((point) => ['error', point] as const),
];

describe('a call that is refused', () => {
  it.concurrent.each(REFUSED_BY)(
    'is so once and has its deed, whatever becomes of the process (%s at %s)',
    async (fault, point) => {
      expect(await lanes.failing.meet(point, fault, 'refused')).toBe('refused 0');
    },
    CASE_DEADLINE_MS,
  );
});

describe('an order that cannot be read', () => {
  it('leaves what is armed as it is, and says so', async () => {
    const { scene } = lanes.failing;
    scene.markFaults(true);
    await scene.arm('gate.received=error');
    const saidBefore = scene.service.stdout.length;
    await writeFile(join(scene.service.stateDir, 'failpoints'), 'gate.recieved=kill');
    process.kill(scene.service.pid, 'SIGUSR2');
    await scene.said(scene.service, 'failpoints stay as they were', saidBefore);
    const body = { tool: 'crm.add_note', args: {} };
    const { answer } = await scene.log.call('POST', '/v1/actions', { caller: scene.agents[0] ?? null, body });
    expect(answer).toMatchObject({ status: 503, json: { error: { code: 'service_unavailable' } } });
    await scene.arm('none');
    scene.markFaults(false);
  });
});

describe('after all of them', () => {
  it.each(LANES)(
    'the %s service has kept every invariant',
    async (name) => {
      expect(await lanes[name].violations({ isRebuilt: true })).toEqual([]);
    },
    CASE_DEADLINE_MS,
  );

  it('the log gives every deed', async () => {
    const audit = await runAgs(['audit', '--json'], { env: lanes.failing.scene.service.environment });
    expect(audit).toMatchObject({ code: 0, object: { result: 'intact', unsealed: 0, faults: [] } });
  });
});
