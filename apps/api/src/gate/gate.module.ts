import { Module } from '@nestjs/common';
import {
  CancelActionHandler,
  ConfirmAgainHandler,
  ReportEdgeResultHandler,
  SubmitActionHandler,
} from '#libs/domain/gate';
import { ActionReader } from './action-reader.js';
import { ActionDetail, ActionWords } from './action-detail.js';
import { AwaitAction } from './await-action.js';
import { CancelActionController } from './cancel-action.controller.js';
import { ConfirmAgainController } from './confirm-again.controller.js';
import { GateCalls } from './gate-calls.js';
import { GetActionController } from './get-action.controller.js';
import { JudgedAmounts } from './judged-amounts.js';
import { ListActionsController } from './list-actions.controller.js';
import { ListActionsHandler } from './list-actions.query-handler.js';
import { ListAnswers } from '../lists/list-answers.js';
import { OrganizationTools } from '../connectors/organization-tools.js';
import { ServedWords } from '../connectors/served-words.js';
import { NamedKeys } from '../agents/named-keys.js';
import { LongPolls } from './long-polls.js';
import { OfferedTools } from './offered-tools.js';
import { ReportResultController } from './report-result.controller.js';
import { SealedAnswers } from './sealed-answers.js';
import { ResolveToolsController } from './resolve-tools.controller.js';
import { RuleDescriptions } from './rule-descriptions.js';
import { SubmitActionController } from './submit-action.controller.js';
import { VerifyIntentController } from './verify-intent.controller.js';

@Module({
  controllers: [
    SubmitActionController,
    ListActionsController,
    GetActionController,
    CancelActionController,
    ReportResultController,
    ResolveToolsController,
    ConfirmAgainController,
    VerifyIntentController,
  ],
  providers: [
    SubmitActionHandler,
    CancelActionHandler,
    ReportEdgeResultHandler,
    ConfirmAgainHandler,
    ListActionsHandler,
    ActionReader,
    AwaitAction,
    GateCalls,
    SealedAnswers,
    LongPolls,
    NamedKeys,
    ListAnswers,
    RuleDescriptions,
    ActionDetail,
    ActionWords,
    JudgedAmounts,
    OfferedTools,
    OrganizationTools,
    ServedWords,
  ],
  exports: [ActionReader, AwaitAction, GateCalls, LongPolls, OrganizationTools, RuleDescriptions],
})
export class GateModule {}
