import { DIGEST_PATTERN } from '#libs/crypto';
import { APPROVAL_DECISIONS, type ApprovalDecision } from '#libs/domain/gate';
import { IsIn, IsObject, IsString, Matches } from 'class-validator';
import { ReasonText } from '../http/reason-text.decorator.js';
import { IfPresent, Nested } from '../http/shape.js';
import { AssertedCredential } from '../people/passkey.dto.js';

const DECISION_MESSAGE = { message: `must be ${APPROVAL_DECISIONS.join(' or ')}` };
const DIGEST_MESSAGE = 'must be the context_digest of the approval, sha256: and 64 hexadecimal digits';

/** What a person says, and what the person's passkey signed. */
class DecisionBody {
  @ReasonText()
  reason?: string;

  @IfPresent()
  @IsObject({ message: 'must be an object' })
  @Nested(() => AssertedCredential)
  passkey?: AssertedCredential;
}

/** POST /v1/approvals/{id}/approve: what was looked at is named. */
export class ApproveBody extends DecisionBody {
  @IsString({ message: DIGEST_MESSAGE })
  @Matches(DIGEST_PATTERN, { message: DIGEST_MESSAGE })
  context_digest!: string;
}

/** POST /v1/approvals/{id}/deny: a no may be said about whatever it is by now. */
export class DenyBody extends DecisionBody {
  @IfPresent()
  @IsString({ message: DIGEST_MESSAGE })
  @Matches(DIGEST_PATTERN, { message: DIGEST_MESSAGE })
  context_digest?: string;
}

/** POST /v1/approvals/{id}/passkey/options: what is about to be said, and about what. */
export class PasskeyRequestBody {
  @IsIn(APPROVAL_DECISIONS, DECISION_MESSAGE)
  decision!: ApprovalDecision;

  @IsString({ message: DIGEST_MESSAGE })
  @Matches(DIGEST_PATTERN, { message: DIGEST_MESSAGE })
  context_digest!: string;
}

/** POST /v1/approvals/link/passkey/options */
export class LinkedPasskeyRequestBody extends PasskeyRequestBody {
  @IsString({ message: 'must be a string' })
  token!: string;
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

  @IsIn(APPROVAL_DECISIONS, DECISION_MESSAGE)
  decision!: ApprovalDecision;
}
