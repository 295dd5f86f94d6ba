import { ForeseenFault } from '../kernel/index.js';

/** The database of a connector does not answer, or refuses the role of the witness. The message quotes neither. */
export class LogUnreachable extends ForeseenFault {
  override readonly name = 'LogUnreachable';
}
