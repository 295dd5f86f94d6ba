import { Module } from '@nestjs/common';
import {
  ActivatePolicyVersionHandler,
  AddPolicyVersionHandler,
  CreatePolicyHandler,
  DeactivatePolicyHandler,
} from '#libs/domain/policies';
import { OrganizationTools } from '../connectors/organization-tools.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { ListAnswers } from '../lists/list-answers.js';
import { DryRunPolicyController } from './dry-run-policy.controller.js';
import { ListPoliciesHandler } from './list-policies.query-handler.js';
import { ListPolicyVersionsHandler } from './list-policy-versions.query-handler.js';
import { PoliciesController } from './policies.controller.js';
import { PolicyInForce } from './policy-in-force.js';
import { PolicyLanguageController } from './policy-language.controller.js';
import { PolicyLinter } from './policy-linter.js';
import { PolicyReader } from './policy-reader.js';
import { PolicySlotsController } from './policy-slots.controller.js';
import { PolicyVersionsController } from './policy-versions.controller.js';
import { PreviewPolicyController } from './preview-policy.controller.js';
import { ReadPolicySlotsController } from './read-policy-slots.controller.js';
import { RecordedCalls } from './recorded-calls.js';
import { ShadowReadiness } from './shadow-readiness.js';
import { TestPolicyController } from './test-policy.controller.js';

@Module({
  imports: [LedgerModule],
  controllers: [
    PoliciesController,
    PolicyVersionsController,
    PolicySlotsController,
    ReadPolicySlotsController,
    PolicyLanguageController,
    TestPolicyController,
    DryRunPolicyController,
    PreviewPolicyController,
  ],
  providers: [
    CreatePolicyHandler,
    AddPolicyVersionHandler,
    ActivatePolicyVersionHandler,
    DeactivatePolicyHandler,
    ListPoliciesHandler,
    ListPolicyVersionsHandler,
    PolicyReader,
    PolicyInForce,
    PolicyLinter,
    RecordedCalls,
    OrganizationTools,
    ShadowReadiness,
    ListAnswers,
  ],
})
export class PoliciesModule {}
