/** The database is not fit for this program, or not now; the message says why, and what to do. */
export class UnfitDatabase extends Error {
  override readonly name = 'UnfitDatabase';
}
