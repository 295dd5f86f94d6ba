import { ApprovalPlaces, type HeldPlace, type WantedPlace } from '#libs/domain/gate';
import type { ActionId, AgentId } from '#libs/domain/kernel';

/** Places of one process, for tests that need no database. */
export class HeldPlaces extends ApprovalPlaces {
  readonly rows = new Map<ActionId, WantedPlace>();

  override take(wanted: WantedPlace): Promise<boolean> {
    const others = this.placesOf(wanted.agent).filter(({ action }) => action !== wanted.action);
    if (others.length >= wanted.limit) return Promise.resolve(false);
    this.rows.set(wanted.action, wanted);
    return Promise.resolve(true);
  }

  override heldBy(agent: AgentId): Promise<readonly HeldPlace[]> {
    return Promise.resolve(this.placesOf(agent));
  }

  override free(_agent: AgentId, actions: readonly ActionId[]): Promise<void> {
    for (const action of actions) this.rows.delete(action);
    return Promise.resolve();
  }

  private placesOf(agent: AgentId): readonly WantedPlace[] {
    return [...this.rows.values()].filter((place) => place.agent === agent);
  }
}
