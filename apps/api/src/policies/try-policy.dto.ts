import { idPattern, type JsonObject, type JsonValue, MAX_TOOL_BYTES } from '#libs/crypto';
import { IsInt, IsObject, IsString, Matches, Max, MaxLength, Min, ValidateIf } from 'class-validator';
import { IfPresent } from '../http/shape.js';

const TEXT = { message: 'must be a string' };

/** POST /v1/policies/test. */
export class TestPolicyBody {
  @IsString(TEXT)
  source!: string;

  /** YAML. */
  @IsString(TEXT)
  cases!: string;
}

/** POST /v1/policies/dry-run. Which of them go together: `dry-run-policy.controller.ts`. */
export class DryRunPolicyBody {
  @IfPresent()
  @IsString(TEXT)
  source?: string;

  @IfPresent()
  @IsString(TEXT)
  policy?: string;

  /** A number or a `pv_` id; judged where it is looked up. */
  @ValidateIf(() => false)
  version?: JsonValue;

  @IfPresent()
  @IsString(TEXT)
  action?: string;

  @IfPresent()
  @IsObject({ message: 'must be an object' })
  input?: JsonObject;
}

export const PREVIEWED_ACTIONS = { min: 100, max: 2_000, default: 1_000 } as const;

const COUNT = { message: `must be a whole number from ${PREVIEWED_ACTIONS.min} to ${PREVIEWED_ACTIONS.max}` };
const TOOL = {
  message: `must be the name of a tool, or a glob with at most three stars, of at most ${MAX_TOOL_BYTES} bytes`,
};

/** POST /v1/policies/preview. */
export class PreviewPolicyBody {
  @IsString(TEXT)
  source!: string;

  @IfPresent()
  @Max(PREVIEWED_ACTIONS.max, COUNT)
  @Min(PREVIEWED_ACTIONS.min, COUNT)
  @IsInt(COUNT)
  actions?: number;

  @IfPresent()
  @Matches(idPattern('agt'), { message: 'must be the id of an agent, agt_ and 26 characters' })
  agent?: string;

  @IfPresent()
  @Matches(/^(?:[^*]*\*){0,3}[^*]*$/, TOOL)
  @Matches(/^[\x20-\x7e]+$/, TOOL)
  @MaxLength(MAX_TOOL_BYTES, TOOL)
  @IsString(TOOL)
  tool?: string;
}
