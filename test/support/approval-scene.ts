import {
  ApprovalReviews,
  approvalOf,
  DecideApproval,
  DecideApprovalHandler,
  type GivenAssertion,
  SignedDecisions,
  type ApprovalVia,
  type ExecutionStarter,
  type GateKernel,
  type ReviewToActBy,
} from '#libs/domain/gate';
import { idOf, type ActionId, type CommandMetadata, type MembershipId, type UserId } from '#libs/domain/kernel';
import { organizationDecider, type OrganizationCommand, type Role } from '#libs/domain/people';
import type { Digest } from '#libs/crypto';
import { SystemRandomness } from '#libs/infra/runtime';
import { WebAuthnVerifier } from '#libs/infra/people';
import type { GateBench } from './gate-bench.js';
import { silentLogger } from './silent-logger.js';

const random = new SystemRandomness();

export interface Member {
  readonly user: UserId;
  readonly membership: MembershipId;
}

interface Said {
  readonly contextDigest?: Digest | null;
  readonly reason?: string | null;
  readonly via?: ApprovalVia;
  readonly metadata?: CommandMetadata;
  readonly assertion?: GivenAssertion;
}

/** People around a gate, and what they say about calls that wait for them. */
export class ApprovalScene {
  readonly reviews: ApprovalReviews;

  constructor(
    readonly bench: GateBench,
    private readonly starter: ExecutionStarter = startingNow(bench),
    /** Another process's, where people decide there. */
    private readonly gate: GateKernel = bench.gate,
  ) {
    this.reviews = new ApprovalReviews(gate, bench.payloads, bench.judge);
  }

  /** A policy under which every call of `crm` waits. @param lines of its approval */
  async enforce(...lines: readonly string[]): Promise<void> {
    const approval = lines.length === 0 ? '' : `    approval:\n${lines.map((line) => `      ${line}\n`).join('')}`;
    await this.bench.enforce(
      `version: 1\ndefault: deny\nrules:\n  - id: asked\n    match:\n      tools:\n        - crm.*\n    decision: require_approval\n${approval}`,
    );
  }

  /** Somebody who has joined; `user` where it is who was a member before. */
  async member(role: Role, user: UserId = idOf('usr', random.bytes(16))): Promise<Member> {
    const membership = idOf('mem', random.bytes(16));
    const invitation = Buffer.from(random.bytes(16)).toString('hex');
    const invited = { membership, user, role, invitation, expiresAt: '2099-01-01T00:00:00.000Z' };
    await this.organization({ type: 'InviteMember', data: invited });
    await this.organization({ type: 'JoinOrganization', data: { membership, invitation } });
    return { user, membership };
  }

  /** @param by the person who does it; by default whoever the bench is */
  async organization(command: Bare<OrganizationCommand>, by?: UserId): Promise<void> {
    const metadata = { ...this.bench.metadata(), ...(by && { actor: { type: 'user' as const, id: by } }) };
    const whole = { ...command, metadata };
    await this.bench.runner.run(organizationDecider, this.bench.org, whole, metadata);
  }

  review(action: ActionId): Promise<ReviewToActBy> {
    return this.reviews.of(this.bench.org, approvalOf(action));
  }

  /** By default about what the approval says at this moment. */
  async approve(action: ActionId, { user }: Pick<Member, 'user'>, said: Said = {}): Promise<ReviewToActBy> {
    const contextDigest = said.contextDigest === undefined ? (await this.review(action)).digest : said.contextDigest;
    return this.decide('approve', action, user, { ...said, contextDigest });
  }

  deny(action: ActionId, { user }: Pick<Member, 'user'>, said: Said = {}): Promise<ReviewToActBy> {
    return this.decide('deny', action, user, said);
  }

  private decide(decision: 'approve' | 'deny', action: ActionId, by: UserId, said: Said): Promise<ReviewToActBy> {
    const { bench } = this;
    const answer = {
      decision,
      by,
      via: said.via ?? ('console' as const),
      contextDigest: said.contextDigest ?? null,
      reason: said.reason ?? null,
      assertion: said.assertion ?? null,
    };
    const metadata = said.metadata ?? { ...bench.metadata(), actor: { type: 'user' as const, id: by } };
    return this.handler().execute(new DecideApproval(bench.org, approvalOf(action), answer, metadata));
  }

  private signed(): SignedDecisions {
    const { payloads, clock } = this.bench;
    const rows = { used: () => Promise.resolve(false) };
    return new SignedDecisions({ verifier: new WebAuthnVerifier(), rows, payloads, clock, logger: silentLogger });
  }

  handler(): DecideApprovalHandler {
    return new DecideApprovalHandler(this.gate, this.reviews, this.starter, this.bench.bus, this.signed());
  }
}

type Bare<Command> = Command extends { metadata: CommandMetadata } ? Omit<Command, 'metadata'> : never;

/** As a queue and a worker that are there: what is made ready is claimed and run at once. */
const startingNow = (bench: GateBench): ExecutionStarter => ({
  claimant: () => null,
  withdraw: () => undefined,
  start: ({ id }) => {
    void bench.executor.claimAndRun(id, null);
    return Promise.resolve();
  },
});
