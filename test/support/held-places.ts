import { ApprovalPlaces, type HeldPlace, type WantedPlace } from '#libs/domain/gate';
import type { ActionId, AgentId } from '#libs/domain/kernel';

/** Places of one process, for tests that need no database. */
export class HeldPlaces extends ApprovalPlaces {
  readonly rows = new Map<ActionId, WantedPlace>();

  override take(wanted: WantedPlace): Promise<boolean> {
    if (this.rows.has(wanted.action)) return Promise.resolve(true);
    if (this.placesOf(wanted.agent).length >= wanted.limit) return Promise.resolve(false);
    this.rows.set(wanted.action, wanted);
    return Promise.resolve(true);
  }

  override heldBy(agent: AgentId): Promise<readonly HeldPlace[]> {
    const held = this.placesOf(agent).map(({ action, reservedMs }) => ({ action, reservedMs }));
    return Promise.resolve(held.sort((one, other) => one.reservedMs - other.reservedMs));
  }

  override free(agent: AgentId, actions: readonly ActionId[]): Promise<void> {
    for (const action of actions) if (this.rows.get(action)?.agent === agent) this.rows.delete(action);
    return Promise.resolve();
  }

  private placesOf(agent: AgentId): readonly WantedPlace[] {
    return [...this.rows.values()].filter((place) => place.agent === agent);
  }
}
