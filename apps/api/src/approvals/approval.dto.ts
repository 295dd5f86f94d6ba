import { DIGEST_PATTERN } from '#libs/crypto';
import { APPROVAL_DECISIONS, type ApprovalDecision } from '#libs/domain/gate';
import { IsIn, IsString, Matches } from 'class-validator';
import { ReasonText } from '../http/reason-text.decorator.js';
import { IfPresent } from '../http/shape.js';

const DIGEST_MESSAGE = 'must be the context_digest of the approval, sha256: and 64 hexadecimal digits';

/** POST /v1/approvals/{id}/approve: what was looked at is named. */
export class ApproveBody {
  @IsString({ message: DIGEST_MESSAGE })
  @Matches(DIGEST_PATTERN, { message: DIGEST_MESSAGE })
  context_digest!: string;

  @ReasonText()
  reason?: string;
}

/** POST /v1/approvals/{id}/deny: a no may be said about whatever it is by now. */
export class DenyBody {
  @IfPresent()
  @IsString({ message: DIGEST_MESSAGE })
  @Matches(DIGEST_PATTERN, { message: DIGEST_MESSAGE })
  context_digest?: string;

  @ReasonText()
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

  @IsIn(APPROVAL_DECISIONS, { message: `must be ${APPROVAL_DECISIONS.join(' or ')}` })
  decision!: ApprovalDecision;
}
