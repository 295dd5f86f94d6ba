import { IsIn, IsString, Matches, MaxLength } from 'class-validator';
import type { PolicyMode } from '#libs/domain/people';
import { IfPresent } from '../http/shape.js';

/** As of every other reason that a person gives (document 3, Suggestions). */
const REASON_MAX_CHARACTERS = 280;
const ONE_LINE = /^\P{C}+$/u;

const TEXT = { message: 'must be a string' };

/** POST /v1/policies. */
export class CreatePolicyBody {
  @IsString(TEXT)
  name!: string;

  @IsString(TEXT)
  source!: string;

  @IfPresent()
  @IsString(TEXT)
  notes?: string;
}

/** POST /v1/policies/{id}/versions. */
export class AddPolicyVersionBody {
  @IsString(TEXT)
  source!: string;

  @IfPresent()
  @IsString(TEXT)
  notes?: string;
}

/** POST .../activate and .../deactivate. */
export class ChangeSlotBody {
  @IsIn(['enforce', 'shadow'], { message: 'must be enforce or shadow' })
  mode!: PolicyMode;

  /** Stands in the admin deed. */
  @IfPresent()
  @IsString(TEXT)
  @MaxLength(REASON_MAX_CHARACTERS, { message: `must have at most ${REASON_MAX_CHARACTERS} characters` })
  @Matches(ONE_LINE, { message: `must be one line of 1 to ${REASON_MAX_CHARACTERS} characters` })
  reason?: string;
}

/** POST /v1/policies/lint. */
export class LintPolicyBody {
  @IsString(TEXT)
  source!: string;
}
