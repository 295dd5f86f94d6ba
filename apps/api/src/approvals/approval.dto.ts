import { IsIn, IsString, Matches, MaxLength } from 'class-validator';
import { ListQuery } from '../http/query-shape.js';
import { IfPresent } from '../http/shape.js';
import { FilterText } from '../lists/filter-text.decorator.js';

const DIGEST = /^sha256:[0-9a-f]{64}$/;
const DIGEST_MESSAGE = 'must be the context_digest of the approval, sha256: and 64 hexadecimal digits';

/** Query parameters of GET /v1/approvals. What they may hold: `list-approvals.filters.ts`. */
export class ListApprovalsQuery extends ListQuery {
  @FilterText() status?: string;
  @FilterText() action?: string;
  @FilterText() agent?: string;
  @FilterText() tool?: string;
}

/** POST /v1/approvals/{id}/approve: what was looked at is named. */
export class ApproveBody {
  @IsString({ message: DIGEST_MESSAGE })
  @Matches(DIGEST, { message: DIGEST_MESSAGE })
  context_digest!: string;

  @IfPresent()
  @IsString({ message: 'must be a string' })
  @MaxLength(280, { message: 'must have at most 280 characters' })
  reason?: string;
}

/** POST /v1/approvals/{id}/deny: a no may be said about whatever it is by now. */
export class DenyBody {
  @IfPresent()
  @IsString({ message: DIGEST_MESSAGE })
  @Matches(DIGEST, { message: DIGEST_MESSAGE })
  context_digest?: string;

  @IfPresent()
  @IsString({ message: 'must be a string' })
  @MaxLength(280, { message: 'must have at most 280 characters' })
  reason?: string;
}

/** POST /v1/approvals/link/preview */
export class PreviewLinkBody {
  @IsString({ message: 'must be a string' })
  token!: string;
}

/** POST /v1/approvals/link/decide: what was looked at is named, for a no as for a yes. */
export class DecideByLinkBody extends ApproveBody {
  @IsString({ message: 'must be a string' })
  token!: string;

  @IsIn(['approve', 'deny'], { message: 'must be approve or deny' })
  decision!: 'approve' | 'deny';
}
