import { Module } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import {
  ApprovalLinks,
  ApprovalReviews,
  DecideApprovalHandler,
  GateKernel,
  LinkedApprovals,
  PolicyJudge,
  SignedDecisions,
} from '#libs/domain/gate';
import { Clock, FoldedStreams, Logger, PayloadStore } from '#libs/domain/kernel';
import { PasskeyRows, PasskeyVerifier } from '#libs/domain/people';
import { GateModule } from '../gate/gate.module.js';
import { ListAnswers } from '../lists/list-answers.js';
import { PeopleModule } from '../people/people.module.js';
import { AboutReviews } from './about-reviews.js';
import { ApprovalAnswers } from './approval-answers.js';
import { ApprovalLinksController } from './approval-links.controller.js';
import { ApprovalPasskeys } from './approval-passkeys.js';
import { ApprovalWarnings } from './approval-warnings.js';
import { ApprovalsController } from './approvals.controller.js';
import { ListApprovalsController } from './list-approvals.controller.js';
import { ListApprovalsHandler } from './list-approvals.query-handler.js';
import { ServedDefinitions } from './served-definitions.js';

/** People's yes and no about what agents want to do. */
@Module({
  imports: [GateModule, PeopleModule],
  controllers: [ListApprovalsController, ApprovalLinksController, ApprovalsController],
  providers: [
    {
      provide: ApprovalReviews,
      inject: [GateKernel, PayloadStore, PolicyJudge],
      useFactory: (gate: GateKernel, payloads: PayloadStore, policy: PolicyJudge) =>
        new ApprovalReviews(gate, payloads, policy),
    },
    {
      provide: LinkedApprovals,
      inject: [FoldedStreams, ApprovalLinks, Clock, CommandBus],
      useFactory: (streams: FoldedStreams, links: ApprovalLinks, clock: Clock, commands: CommandBus) =>
        new LinkedApprovals(streams, links, clock, (command) => commands.execute(command)),
    },
    {
      provide: SignedDecisions,
      inject: [PasskeyVerifier, PasskeyRows, PayloadStore, Clock, Logger],
      useFactory: (
        verifier: PasskeyVerifier,
        rows: PasskeyRows,
        payloads: PayloadStore,
        clock: Clock,
        logger: Logger,
      ) => new SignedDecisions({ verifier, rows, payloads, clock, logger }),
    },
    DecideApprovalHandler,
    ListApprovalsHandler,
    AboutReviews,
    ApprovalAnswers,
    ApprovalPasskeys,
    ApprovalWarnings,
    ServedDefinitions,
    ListAnswers,
  ],
  exports: [ApprovalReviews, ApprovalAnswers],
})
export class ApprovalsModule {}
