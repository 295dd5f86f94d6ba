import type { ActionId, OrgId } from '../../kernel/index.js';
import { FairShares, type Sharer } from './fair-shares.js';

/** An action whose turn has come, and the sharer that got its place. */
export interface Turn {
  readonly sharer: Sharer;
  readonly id: ActionId;
}

interface Lane {
  readonly sharer: Sharer;
  readonly ids: Set<ActionId>;
}

/**
 * A queue of actions that wait for places. Organizations take turns; within an organization its connectors take turns;
 * within a connector the order of arrival counts. After its turn, an organization or connector goes to the end of its
 * line. One that may take no place is skipped and keeps its turn.
 */
export class WaitingTurns {
  private readonly orgs = new Map<OrgId, Map<Sharer['connector'], Lane>>();
  private readonly room: FairShares;

  /**
   * @param size how many ids may wait. They are limited by the same fair shares as places; an id beyond its share is
   *   dropped
   */
  constructor(size: number) {
    this.room = new FairShares(size);
  }

  /** Adds an id, unless it waits already. */
  add({ org, connector }: Sharer, id: ActionId): void {
    const lane = this.orgs.get(org)?.get(connector);
    if (lane?.ids.has(id) || !this.room.take({ org, connector })) return;
    if (lane) {
      lane.ids.add(id);
      return;
    }
    const lanes = this.orgs.get(org) ?? new Map<Sharer['connector'], Lane>();
    this.orgs.set(org, lanes.set(connector, { sharer: { org, connector }, ids: new Set([id]) }));
  }

  /**
   * Takes a place for the next action and removes it from the queue; null if no waiting action may take a place. This
   * is cheap: an organization that may take no place is skipped as a whole, and in any other a connector that holds no
   * place may take one.
   */
  takeNext(places: FairShares): Turn | null {
    for (const [org, lanes] of this.orgs) {
      if (!places.isOpenTo(org)) continue;
      for (const lane of lanes.values()) if (places.take(lane.sharer)) return this.turnOf(lane, lanes);
    }
    return null;
  }

  private turnOf({ sharer, ids }: Lane, lanes: Map<Sharer['connector'], Lane>): Turn {
    const { org, connector } = sharer;
    const id = ids.values().next().value as ActionId;
    ids.delete(id);
    this.room.giveBack(sharer);
    lanes.delete(connector);
    if (ids.size > 0) lanes.set(connector, { sharer, ids });
    this.orgs.delete(org);
    if (lanes.size > 0) this.orgs.set(org, lanes);
    return { sharer, id };
  }
}
