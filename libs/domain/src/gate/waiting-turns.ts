import type { ActionId, OrgId } from '../kernel/index.js';
import { FairShares, type Sharer } from './fair-shares.js';

/** An action that waited, and whose turn has come. */
export interface Turn {
  readonly sharer: Sharer;
  readonly id: ActionId;
}

interface Lane {
  readonly sharer: Sharer;
  readonly ids: Set<ActionId>;
}

/**
 * Actions that wait for places. Organizations take turns, within an organization its connectors do, and within a
 * connector the order of arrival counts. Whoever has had a turn is the last to have another. Whoever may take no place
 * is passed over and keeps its turn.
 */
export class WaitingTurns {
  private readonly orgs = new Map<OrgId, Map<Sharer['connector'], Lane>>();
  private readonly room: FairShares;

  /** @param size how many ids there is room for. The room is shared as places are; an id that finds none is not kept */
  constructor(size: number) {
    this.room = new FairShares(size);
  }

  /** What waits already is not added again. */
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
   * Takes a place for whoever is next and ends its wait; null when nobody who waits may take one. It looks at few: an
   * organization that may take no place is passed over as one, and in any other a connector that holds no place may
   * take one.
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
