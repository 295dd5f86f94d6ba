import { IsIn, IsString } from 'class-validator';
import type { PolicyMode } from '#libs/domain/people';
import { IfPresent } from '../http/shape.js';

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
  reason?: string;
}

/** POST /v1/policies/lint. */
export class LintPolicyBody {
  @IsString(TEXT)
  source!: string;
}
