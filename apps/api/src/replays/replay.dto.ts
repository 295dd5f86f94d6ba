import { IsString } from 'class-validator';
import { DomainError, parseTimestamp, timestampOf } from '#libs/domain/kernel';
import type { ReplayWindow } from '#libs/domain/replays';
import { IfPresent } from '../http/shape.js';

const INSTANT = 'must be an RFC 3339 date-time such as 2026-10-01T00:00:00Z';

/** POST /v1/policies/{id}/versions/{v}/replay. */
export class StartReplayBody {
  @IfPresent()
  @IsString({ message: INSTANT })
  from?: string;

  @IfPresent()
  @IsString({ message: INSTANT })
  to?: string;
}

/** What was sent of it. @throws {DomainError} validation_failed naming the field */
export const windowOf = ({ from, to }: StartReplayBody): Partial<ReplayWindow> => ({
  ...(from === undefined ? {} : { from: instantOf('from', from) }),
  ...(to === undefined ? {} : { to: instantOf('to', to) }),
});

const instantOf = (param: string, text: string): string => {
  const epochMs = parseTimestamp(text);
  if (epochMs !== null) return timestampOf(epochMs);
  throw new DomainError('validation_failed', { param, message: `The field ${param} ${INSTANT}.` });
};
