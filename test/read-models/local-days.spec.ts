import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestOf, type JsonObject } from '#libs/crypto';
import type { ActionEvent, Decision } from '#libs/domain/gate';
import type { FoldedStreams } from '#libs/domain/kernel';
import { type ProjectionWaiter, ReadModels } from '#libs/infra/read-models';
import { DECISION_STATS, type StatsBy, VERDICT_STATS } from '../../apps/api/src/insights/action-stats.js';
import { ReadActionStats, ReadActionStatsHandler } from '../../apps/api/src/insights/action-stats.query-handler.js';
import { actionsProjection } from '../../apps/projector/src/gate/actions.projection.js';
import {
  allowed,
  denied,
  type EventOf,
  finished,
  started,
  submission,
  TEST_ORG,
  testId,
  testTime,
  witnessed,
} from '../support/given-log.js';
import { ProjectionScene } from '../support/projection-scene.js';

const DAY_S = 86_400;
const QUARTER_S = 900;
/** Over the end of summer time in Europe (25 October) and its beginning in Australia (4 October). */
const NOW_S = 34.3 * DAY_S;
const WINDOW_DAYS = 30;

/** Whole hours from UTC, with a day of 25 hours; half hours; quarters; clocks that change by half an hour. */
const ZONES = ['UTC', 'Europe/Vienna', 'Asia/Kolkata', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'America/St_Johns'];

const DECISIONS: readonly Decision[] = [
  allowed,
  denied,
  { ...denied, code: 'budget_exceeded', source: 'budget' },
  { ...denied, code: 'agent_stopped', source: 'stop' },
  { ...denied, outcome: 'require_approval', code: null, source: 'rule', rule_id: 'refunds', message: null },
];

interface Given {
  readonly atS: number;
  readonly decision: Decision;
  readonly tool: string;
  /** An allowed call is verified; one that people were asked about is refused by one. */
  readonly isAnswered: boolean;
}

/** Many of them at a border of some zone, or a second from it. */
const given: fc.Arbitrary<readonly Given[]> = fc.uniqueArray(
  fc.record({
    atS: fc
      .tuple(fc.integer({ min: 1, max: Math.floor(NOW_S / QUARTER_S) - 1 }), fc.constantFrom(-1, 0, 1, 433))
      .map(([quarters, beside]) => quarters * QUARTER_S + beside),
    decision: fc.constantFrom(...DECISIONS),
    tool: fc.constantFrom('crm.get', 'pay.refund'),
    isAnswered: fc.boolean(),
  }),
  { selector: ({ atS }) => atS, minLength: 250, maxLength: 250 },
);

const eventsOf = ({ atS, decision, tool, isAnswered }: Given): readonly ActionEvent[] => {
  if (decision === allowed) return [...started(atS, { tool }), ...(isAnswered ? [finished(atS), witnessed(atS)] : [])];
  const [action, approval, at] = [testId('act', atS), testId('apr', atS), testTime(atS)];
  return [
    { type: 'ActionSubmitted', data: { ...submission(atS, { tool }), at } },
    { type: 'ActionDecided', data: { action, decision, at } },
    ...(isAnswered && decision.outcome === 'require_approval' ? refusedByPerson({ action, approval, at }) : []),
  ];
};

const refusedByPerson = (
  about: Pick<EventOf<ActionEvent, 'ApprovalDecided'>['data'], 'action' | 'approval' | 'at'>,
): readonly ActionEvent[] => {
  const context_digest = digestOf('context');
  const terms = { rule_id: 'refunds', approvers: ['role:admin'], required: 1, expires_at: testTime(NOW_S) };
  const word = { by: testId('usr', 1), via: 'console', reason: null } as const;
  return [
    { type: 'ApprovalRequested', data: { ...about, ...terms, context_digest } },
    { type: 'ApprovalDecided', data: { ...about, ...word, context_digest, outcome: 'denied', tool_digest: null } },
  ];
};

/** The day of an instant, as a browser there would name it. */
const dayOf = (zone: string, at: string): string =>
  new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(Date.parse(at));

const sumsOf = (actions: readonly Given[]): JsonObject => {
  const count = (matches: (decision: Decision) => boolean): number =>
    actions.filter(({ decision }) => matches(decision)).length;
  return {
    total: actions.length,
    allowed: count(({ outcome }) => outcome === 'allow'),
    denied: count(({ outcome }) => outcome === 'deny'),
    denied_by_budget: count(({ source }) => source === 'budget'),
    denied_by_stop: count(({ source }) => source === 'stop'),
    asked: count(({ outcome }) => outcome === 'require_approval'),
    refused_by_person: actions.filter(
      ({ decision, isAnswered }) => decision.outcome === 'require_approval' && isAnswered,
    ).length,
  };
};

type Line = Readonly<Record<'day' | 'from' | 'to' | 'tool', string>> & Readonly<Record<string, unknown>>;
type Stats = Pick<Line, 'from' | 'to'> & { readonly timezone: string; readonly data: readonly Line[] };

describe('statistics over the days of an organization', () => {
  const scene = new ProjectionScene(actionsProjection);

  const read = async (timezone: string, by: StatsBy, kind: 'decisions' | 'verdicts' = 'decisions') => {
    const handler = new ReadActionStatsHandler(
      new ReadModels(scene.readModels.source),
      { catchUp: () => Promise.resolve({ lagEvents: 0 }) } as unknown as ProjectionWaiter,
      { load: () => Promise.resolve({ state: { status: 'started', timezone } }) } as unknown as FoldedStreams,
      { nowMs: () => Date.parse(testTime(NOW_S)), monotonicMs: () => 0 },
    );
    const asked = { window: '30d', by } as const;
    const query =
      kind === 'decisions'
        ? new ReadActionStats(TEST_ORG, DECISION_STATS, asked)
        : new ReadActionStats(TEST_ORG, VERDICT_STATS, asked);
    const { answer } = await handler.execute(query);
    return answer as unknown as Stats;
  };

  it('count each action on the day that the clocks of its zone showed, and none twice', async () => {
    const [actions = []] = fc.sample(given, 1);
    for (const each of actions) await scene.log.append(`action-${testId('act', each.atS)}`, ...eventsOf(each));
    await scene.project();
    for (const zone of ZONES) {
      const days = new Map<string, Given[]>();
      for (const each of actions) {
        const day = dayOf(zone, testTime(each.atS));
        days.set(day, [...(days.get(day) ?? []), each]);
      }
      const { timezone, data, from, to } = await read(zone, 'day');
      expect([zone, timezone, data.length]).toEqual([zone, zone, WINDOW_DAYS]);
      expect(data.at(-1)?.['day']).toBe(dayOf(zone, testTime(NOW_S)));
      for (const { day, from: begins, to: ends, ...sums } of data) {
        expect([zone, day, sums]).toEqual([zone, day, sumsOf(days.get(day) ?? [])]);
        expect([dayOf(zone, begins), Date.parse(ends) > Date.parse(begins)]).toEqual([day, true]);
      }
      const within = actions.filter(({ atS }) => from <= testTime(atS) && testTime(atS) < to);
      const ofTool = (name: string): Given[] => within.filter(({ tool }) => tool === name);
      for (const { tool, ...sums } of (await read(zone, 'tool')).data) {
        expect([zone, tool, sums]).toEqual([zone, tool, sumsOf(ofTool(tool))]);
      }
      const verified = (await read(zone, 'day', 'verdicts')).data.map((line) => [line['total'], line['verified']]);
      expect([zone, verified]).toEqual([
        zone,
        data.map(({ day }) => {
          const ofDay = days.get(day) ?? [];
          return [ofDay.length, ofDay.filter(({ isAnswered, decision }) => isAnswered && decision === allowed).length];
        }),
      ]);
    }
  }, 60_000);
});
