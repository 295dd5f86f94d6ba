import {
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsDefined,
  IsIn,
  IsInt,
  IsObject,
  IsString,
  ValidateIf,
} from 'class-validator';
import type { JsonObject } from '#libs/crypto';
import { AGENT_SCOPES, INTENT_MODES, type AgentScope, type IntentMode } from '#libs/domain/agents';
import { IfPresent, Nested } from '../http/shape.js';
import { filteredQuery } from '../lists/filters.js';

const AGENT_EXPANDABLE = ['usage'];

/** Query of GET /v1/agents. */
export class ListAgentsQuery extends filteredQuery('listAgents') {
  @IfPresent()
  @IsIn(AGENT_EXPANDABLE, { each: true, message: `must be ${AGENT_EXPANDABLE.join(', ')}` })
  'expand[]'?: string[];
}

/** POST /v1/agents/{id}/keys, and the member `key` of POST /v1/agents. */
export class CreateKeyBody {
  @IfPresent()
  @IsBoolean({ message: 'must be true or false' })
  livemode?: boolean;

  @IfPresent()
  @IsArray({ message: 'must be an array' })
  @ArrayMinSize(1, { message: 'must have at least one scope' })
  @IsIn(AGENT_SCOPES, { each: true, message: `must hold scopes out of ${AGENT_SCOPES.join(', ')}` })
  scopes?: AgentScope[];
}

/** What a budget may be, and that null removes one, is the domain's to judge. */
export class BudgetsBody {
  @ValidateIf((_, value) => value !== undefined && value !== null)
  @IsInt({ message: 'must be an integer of at least 1, or null for no budget' })
  calls_per_day?: number | null;

  @ValidateIf((_, value) => value !== undefined && value !== null)
  @IsObject({ message: 'must be an object with amount and currency, or null for no budget' })
  spend_per_day?: JsonObject | null;
}

/** PATCH /v1/agents/{id}: what is left out stays. */
export class UpdateAgentBody {
  @IfPresent()
  @IsIn(INTENT_MODES, { message: `must be one of ${INTENT_MODES.join(', ')}` })
  intent_mode?: IntentMode;

  @IfPresent()
  @IsObject({ message: 'must be an object of texts' })
  labels?: JsonObject;

  @IfPresent()
  @Nested(() => BudgetsBody)
  budgets?: BudgetsBody;
}

/** POST /v1/agents. */
export class CreateAgentBody extends UpdateAgentBody {
  @IsString({ message: 'must be a string' })
  name!: string;

  @IfPresent()
  @IsString({ message: 'must be the id of a person, usr_ and 26 characters' })
  owner?: string;

  @IfPresent()
  @Nested(() => CreateKeyBody)
  key?: CreateKeyBody;
}

/** POST /v1/agents/{id}/keys/{key}/roll. */
export class RollKeyBody {
  @IfPresent()
  @IsInt({ message: 'must be an integer of seconds' })
  overlap_seconds?: number;
}

/**
 * POST /v1/agents/{id}/intent-keys. Whatever is sent as a key is judged as one: 422 where it is none (rule INTENT-4).
 */
export class AddIntentKeyBody {
  @ValidateIf((_, value) => value === undefined)
  @IsDefined()
  public_key!: unknown;
}

/** POST /v1/agents/{id}/stop, /suspend and /resume. */
export class AgentStatusBody {
  @IfPresent()
  @IsString({ message: 'must be a string' })
  reason?: string;
}
