import { CliError, EXIT } from './cli-error.js';

/** @throws {CliError} interrupted */
export const refuseInterrupted = (
  interrupted: AbortSignal,
  message = 'It was interrupted, and left nothing.',
): void => {
  if (interrupted.aborted) throw new CliError('interrupted', message, EXIT.refused);
};

/** Where nothing of what was asked for has begun yet. @throws {CliError} interrupted */
export const refuseInterruptedStart = (interrupted: AbortSignal): void =>
  refuseInterrupted(interrupted, 'It was interrupted before it began: nothing was done.');
