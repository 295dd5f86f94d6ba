import {
  decodeEvent,
  type EventStore,
  evolveStrictly,
  type OrgId,
  type Position,
  RecentlyUsed,
  requireGapless,
  START,
  streamRef,
} from '../../kernel/index.js';
import { webhooksDecider } from '../webhook.decider.js';
import type { Webhooks } from '../webhook.state.js';

/** An organization's endpoints after each change, as far as it may still be asked for. */
interface Timeline {
  /** Of the last event that was folded. */
  readonly revision: number;
  /** In order; the first one holds for whatever is before the second. */
  readonly states: readonly { readonly since: Position; readonly state: Webhooks }[];
}

const BEGINNING = { since: START, state: webhooksDecider.initialState() };
const NOTHING_YET: Timeline = { revision: -1, states: [BEGINNING] };
const CAPACITY = { entries: 10_000, weight: 1_000_000 };

/**
 * The endpoints of organizations as they were when an event was recorded: whoever subscribed later gets nothing of it, and
 * whoever was deleted later had it coming. Asked in the order of the log: who goes back in it begins with a new one.
 */
export class EndpointsAsOf {
  private readonly timelines = new RecentlyUsed<Timeline>(CAPACITY);

  constructor(private readonly store: Pick<EventStore, 'heads' | 'readStream'>) {}

  /** @param moments of events that stand in the log, in its order; answered one by one */
  async at(moments: readonly { readonly org: OrgId; readonly position: Position }[]): Promise<readonly Webhooks[]> {
    const orgs = [...new Set(moments.map(({ org }) => org))];
    const refs = new Map(orgs.map((org) => [org, streamRef(webhooksDecider, org)]));
    // All that was recorded before one of these events stands in the log by now.
    const heads = await this.store.heads([...refs.values()].map(({ stream }) => stream));
    const found = new Map<OrgId, Timeline>();
    for (const [org, ref] of refs) found.set(org, await this.upTo(ref, heads.get(ref.stream) ?? -1));
    const states = moments.map(({ org, position }) => stateBefore(found.get(org) ?? NOTHING_YET, position));
    const last = moments.at(-1);
    if (last) for (const [org, timeline] of found) this.remember(org, from(timeline, last.position));
    return states;
  }

  private async upTo(ref: ReturnType<typeof streamRef<Webhooks, never>>, head: number): Promise<Timeline> {
    const known = this.timelines.get(ref.stream) ?? NOTHING_YET;
    if (known.revision >= head) return known;
    const first = known.revision + 1;
    const recorded = await this.store.readStream(ref.stream, { from: first, limit: head - first + 1 });
    requireGapless(recorded, first);
    const states = [...known.states];
    for (const event of recorded) {
      const { state } = states.at(-1) ?? BEGINNING;
      states.push({ since: event.position, state: evolveStrictly(ref, state, decodeEvent(event).event) });
    }
    return { revision: first + recorded.length - 1, states };
  }

  private remember(org: OrgId, timeline: Timeline): void {
    this.timelines.set(streamRef(webhooksDecider, org).stream, timeline, timeline.states.length);
  }
}

const stateBefore = ({ states }: Timeline, position: Position): Webhooks =>
  (states.findLast(({ since }) => since < position) ?? BEGINNING).state;

/** Without what only earlier positions would ask for. */
const from = ({ revision, states }: Timeline, position: Position): Timeline => {
  const current = states.findLastIndex(({ since }) => since < position);
  return { revision, states: states.slice(Math.max(current, 0)) };
};
