import { CreateAdminKeyHandler, RevokeAdminKeyHandler, RollAdminKeyHandler } from './admin-keys.handler.js';
import { CreateAgentKeyHandler, RevokeAgentKeyHandler, RollAgentKeyHandler } from './agent-keys.handler.js';
import {
  ChangeAgentHandler,
  ResumeAgentHandler,
  StopAgentHandler,
  SuspendAgentHandler,
} from './change-agent.handler.js';
import { CreateOrganizationHandler } from './create-organization.handler.js';
import { AddIntentKeyHandler, RemoveIntentKeyHandler } from './intent-keys.handler.js';
import { RegisterAgentHandler } from './register-agent.handler.js';
import { StartOrganizationHandler, StopOrganizationHandler } from './switch-organization.handler.js';

/** Each stands on the AgentKernel alone. */
export const AGENT_HANDLERS = [
  RegisterAgentHandler,
  ChangeAgentHandler,
  StopAgentHandler,
  SuspendAgentHandler,
  ResumeAgentHandler,
  AddIntentKeyHandler,
  RemoveIntentKeyHandler,
  CreateAgentKeyHandler,
  RollAgentKeyHandler,
  RevokeAgentKeyHandler,
] as const;

/** Each stands on the AgentKernel alone. */
export const ORGANIZATION_HANDLERS = [
  CreateOrganizationHandler,
  StopOrganizationHandler,
  StartOrganizationHandler,
  CreateAdminKeyHandler,
  RollAdminKeyHandler,
  RevokeAdminKeyHandler,
] as const;
