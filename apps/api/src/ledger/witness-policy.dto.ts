import { WITNESSES_MAX } from '#libs/domain/ledger';
import { IsArray, IsInt, IsString, Matches, Max, Min, ValidateIf } from 'class-validator';
import { Nested } from '../http/shape.js';

const TEXT = { message: 'must be a string' };
const QUORUM = { message: `must be a whole number from 0 to ${WITNESSES_MAX}` };

/** As answers spell it. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

class WitnessBody {
  @IsString(TEXT)
  name!: string;

  @IsString(TEXT)
  vkey!: string;

  @IsString(TEXT)
  url!: string;
}

/** PUT /v1/ledger/witnesses. What the members may hold is the domain's to judge. */
export class WitnessPolicyBody {
  @IsInt(QUORUM)
  @Min(0, QUORUM)
  @Max(WITNESSES_MAX, QUORUM)
  quorum!: number;

  @IsArray({ message: 'must be an array' })
  @Nested(() => WitnessBody, { each: true })
  witnesses!: WitnessBody[];

  @ValidateIf((_, value) => value !== undefined && value !== null)
  @Matches(INSTANT, { message: 'must be the updated_at of the policy as it was read' })
  expected_updated_at?: string | null;
}
