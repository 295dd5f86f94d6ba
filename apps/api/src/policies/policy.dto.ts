import { IsIn, IsString, Matches } from 'class-validator';
import { idPattern } from '#libs/crypto';
import { POLICY_MODES, type PolicyVersionId } from '#libs/domain/kernel';
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

  @IfPresent()
  @Matches(idPattern('pv'), { message: 'must be the id of a version, pv_ and 26 characters' })
  expected_latest_version?: PolicyVersionId;
}

/** POST .../activate and .../deactivate. */
export class ChangeSlotBody {
  @IsIn(POLICY_MODES, { message: `must be ${POLICY_MODES.join(' or ')}` })
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
