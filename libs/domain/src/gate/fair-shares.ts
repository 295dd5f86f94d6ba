import type { OrgId } from '../kernel/index.js';
import type { Submission } from './action.events.js';

/** Who takes places: a connector, on the account of its organization. */
export type Sharer = Pick<Submission, 'org' | 'connector'>;

/** Places that an organization may hold for each that is left. */
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
 * Places shared fairly by organizations, and within each by its connectors: `size` that all share, and as many spare
 * ones for whoever holds none. Nothing is ever taken away: shares even out as places are given back.
 *
 * 1. A connector may take a shared place while it holds fewer of them than are left, and its organization fewer than
 *    three times as many. One connector alone has half of them; of two the first has a half, the second a quarter, and in
 *    time each a third. An organization alone has at most three quarters, however many connectors it has.
 * 2. A connector that holds none, and finds none by rule 1, gets one of the first half of the spare places, while its
 *    organization holds fewer than three times as many spare ones as are left of that half.
 * 3. An organization that holds none gets any spare place that is left. At least half of them are for this alone.
 *
 * So of 128, one connector that hangs holds 64, and its neighbour has 32 at once. A thousand connectors of one
 * organization that hang hold at most 144 (96, and 48 spare ones): the others of them wait, and every other organization
 * gets its first place, unless all 256 are taken, by 64 organizations or more. There is a limit to spare places, and it
 * is as many again, because what a process holds for executions has to be bounded.
 */
export class FairShares {
  private readonly all = nothing();
  private readonly orgs = new Map<OrgId, HeldOfOrganization>();

  constructor(private readonly size: number) {}

  /** False when there is none for this connector now. Whoever was given a place gives it back. */
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

  /** Gives a spare place back first: somebody else may need it as their only one. */
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
   * Whether a connector of this organization that holds no place would be given one. If not, none of its connectors
   * would.
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
