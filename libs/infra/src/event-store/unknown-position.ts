import type { Position } from '#libs/domain/kernel';

/** Positions of this log have gaps, and no event is at this one, so the log cannot be read from there. */
export class UnknownPosition extends Error {
  override readonly name = 'UnknownPosition';
  constructor(position: Position) {
    super(`No event stands at position ${position}. Take one from a line of \`npm run ags -- events export\`.`);
  }
}
