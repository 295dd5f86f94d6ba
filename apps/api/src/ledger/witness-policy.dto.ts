import { WITNESSES_MAX } from '#libs/domain/ledger';
import { IsArray, IsInt, IsString, Max, Min } from 'class-validator';
import { Nested } from '../http/shape.js';

const TEXT = { message: 'must be a string' };
const QUORUM = { message: `must be a whole number from 0 to ${WITNESSES_MAX}` };

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
}
