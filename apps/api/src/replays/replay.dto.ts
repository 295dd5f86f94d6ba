import { IsString } from 'class-validator';
import { DomainError, parseId, parseTimestamp, timestampOf, type PolicyId } from '#libs/domain/kernel';
import type { ReplayWindow } from '#libs/domain/replays';
import { ListQuery } from '../http/query-shape.js';
import { queryProblem } from '../http/query-string.js';
import { IfPresent } from '../http/shape.js';
import { FilterText } from '../lists/filter-text.decorator.js';

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

/** Query parameters of GET /v1/replays. */
export class ListReplaysQuery extends ListQuery {
  @FilterText() policy?: string;
}

/** What was sent of it. @throws {DomainError} validation_failed naming the field */
export const windowOf = ({ from, to }: StartReplayBody): Partial<ReplayWindow> => ({
  ...(from === undefined ? {} : { from: instantOf('from', from) }),
  ...(to === undefined ? {} : { to: instantOf('to', to) }),
});

/** Null: of all policies. @throws {DomainError} validation_failed */
export const policyFilter = (text: string | undefined): PolicyId | null => {
  if (text === undefined) return null;
  const id = parseId('pol', text);
  if (!id) throw queryProblem('policy', 'must be the id of a policy, pol_ and 26 characters');
  return id;
};

const instantOf = (param: string, text: string): string => {
  const epochMs = parseTimestamp(text);
  if (epochMs !== null) return timestampOf(epochMs);
  throw new DomainError('validation_failed', { param, message: `The field ${param} ${INSTANT}.` });
};
