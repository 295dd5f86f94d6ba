import { Injectable } from '@nestjs/common';
import type { Digest, JsonObject } from '#libs/crypto';
import { ApprovalReviews, type GivenAssertion, SignedDecisions } from '#libs/domain/gate';
import type { ApprovalId, OrgId, UserId } from '#libs/domain/kernel';
import { Site } from '../http/site.js';
import { type AssertedCredential, assertionAnswerOf } from '../people/passkey.dto.js';
import type { PasskeyRequestBody } from './approval.dto.js';

/** What a browser and the domain say to each other about a decision that a passkey signs. */
@Injectable()
export class ApprovalPasskeys {
  constructor(
    private readonly reviews: ApprovalReviews,
    private readonly signed: SignedDecisions,
    private readonly site: Site,
  ) {}

  /** @throws {DomainError} whatever refuses the decision now; approval_needs_passkey: the person has none */
  async request(
    org: OrgId,
    approval: ApprovalId,
    by: UserId,
    { decision, context_digest }: PasskeyRequestBody,
  ): Promise<JsonObject> {
    const review = await this.reviews.of(org, approval);
    const said = { decision, by, contextDigest: context_digest as Digest };
    const options = this.signed.optionsFor(review, said, this.site.relyingParty);
    const allowCredentials = options.allowCredentials.map((each) => ({ ...each }));
    return { object: 'approval_passkey_request', public_key: { ...options, allowCredentials } };
  }

  given(credential: AssertedCredential | undefined): GivenAssertion | null {
    if (credential === undefined) return null;
    return { answer: assertionAnswerOf(credential), party: this.site.relyingParty };
  }
}
