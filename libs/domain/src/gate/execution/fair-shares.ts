import type { OrgId } from '../../kernel/index.js';
import type { Submission } from '../action/index.js';

/** The connector that takes a place, and its organization, which the place also counts for. */
export type Sharer = Pick<Submission, 'org' | 'connector'>;

/** An organization may hold up to this many places per place that is free. */
const HELD_FOR_EACH_LEFT = 3;

interface Held {
  shared: number;
  spare: number;
}

interface HeldOfOrganization extends Held {
  readonly connectors: Map<Sharer['connector'], Held>;
}

const nothing = (): Held => ({ shared: 0, spare: 0 });

/**
 * Shares places fairly among organizations, and among the connectors of each. There are `size` shared places for all,
 * and as many spare ones for connectors and organizations that hold none. A place is never taken away; shares even out
 * as places are given back.
 *
 * 1. A connector may take a shared place while it holds fewer shared places than are free, and its organization holds
 *    fewer than three times as many as are free. So one connector alone gets half of them. Of two connectors, the first
 *    gets a half and the second a quarter; as calls end, each comes to a third. An organization alone gets three
 *    quarters at most, however many connectors it has.
 * 2. A connector that holds no place, and gets none by rule 1, gets a place of the first half of the spare places,
 *    while its organization holds fewer than three times as many spare places as are free in that half.
 * 3. An organization that holds no place gets any free spare place. At least half of the spare places are reserved for
 *    this rule.
 *
 * With 128: one connector whose calls hang holds 64, and a second one of the same organization gets 32 at once. A
 * thousand hanging connectors of one organization hold at most 144 (96 shared and 48 spare); its other connectors wait,
 * and every other organization gets its first place, until all 256 are taken, which needs at least 64 other
 * organizations. The number of spare places is limited because the memory that a process uses for executions must be
 * bounded.
 */
export class FairShares {
  private readonly all = nothing();
  private readonly orgs = new Map<OrgId, HeldOfOrganization>();

  constructor(private readonly size: number) {}

  /**
   * Takes a place; false if there is none for this connector now. The caller gives the place back when its execution
   * ends.
   */
  take({ org, connector }: Sharer): boolean {
    const ofOrg = this.orgs.get(org) ?? { shared: 0, spare: 0, connectors: new Map<Sharer['connector'], Held>() };
    const ofConnector = ofOrg.connectors.get(connector) ?? nothing();
    const kind = this.kindFor(ofOrg, ofConnector);
    if (kind === null) return false;
    for (const held of [this.all, ofOrg, ofConnector]) held[kind] += 1;
    ofOrg.connectors.set(connector, ofConnector);
    this.orgs.set(org, ofOrg);
    return true;
  }

  /** Gives back a spare place first, because another connector may need it as its only one. */
  giveBack({ org, connector }: Sharer): void {
    const ofOrg = this.orgs.get(org);
    const ofConnector = ofOrg?.connectors.get(connector);
    if (!ofOrg || !ofConnector) return;
    const kind = ofConnector.spare > 0 ? 'spare' : 'shared';
    for (const held of [this.all, ofOrg, ofConnector]) held[kind] -= 1;
    if (holdsNone(ofConnector)) ofOrg.connectors.delete(connector);
    if (holdsNone(ofOrg)) this.orgs.delete(org);
  }

  /**
   * Whether a connector of this organization that holds no place would get one. If not, no other connector of the
   * organization would get one either.
   */
  isOpenTo(org: OrgId): boolean {
    return this.kindFor(this.orgs.get(org) ?? nothing(), nothing()) !== null;
  }

  private kindFor(ofOrg: Held, ofConnector: Held): keyof Held | null {
    const left = this.size - this.all.shared;
    if (ofConnector.shared < left && ofOrg.shared < HELD_FOR_EACH_LEFT * left) return 'shared';
    if (holdsNone(ofConnector) && this.hasSpareFor(ofOrg)) return 'spare';
    return null;
  }

  private hasSpareFor(ofOrg: Held): boolean {
    if (holdsNone(ofOrg)) return this.all.spare < this.size;
    return ofOrg.spare < HELD_FOR_EACH_LEFT * (Math.floor(this.size / 2) - this.all.spare);
  }
}

const holdsNone = ({ shared, spare }: Held): boolean => shared + spare === 0;
