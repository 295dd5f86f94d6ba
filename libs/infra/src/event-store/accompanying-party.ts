import type { Accompany, Companions, DepartingAppends } from '#libs/domain/kernel';

/** The party that may add companions to the appends of this process; one at a time. */
export class AccompanyingParty {
  private party: { readonly accompany: Accompany; readonly onError: (error: unknown) => void } | null = null;

  get isThere(): boolean {
    return this.party !== null;
  }

  /** Returns a function that lets the party go. */
  join(accompany: Accompany, onError: (error: unknown) => void): () => void {
    const party = { accompany, onError };
    this.party = party;
    return () => {
      if (this.party === party) this.party = null;
    };
  }

  /** An error is told to the party, and the appends go without companions, because they must be written. */
  companionsOf(departing: DepartingAppends): Companions | null {
    if (this.party === null) return null;
    const { accompany, onError } = this.party;
    try {
      return accompany(departing);
    } catch (error) {
      onError(error);
      return null;
    }
  }
}
