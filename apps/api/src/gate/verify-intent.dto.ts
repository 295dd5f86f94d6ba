import { type JsonObject, REFERENCE_PATTERN } from '#libs/crypto';
import { IsObject, IsString, Matches } from 'class-validator';
import { IfPresent } from '../http/shape.js';

const REFERENCE_RULE = { message: 'must be 1 to 256 letters, digits or . _ ~ : @ / + = -' };

/** The body of POST /v1/intents/verify: the value of the intent header, and the call it belongs to. */
export class VerifyIntentBody {
  @IsString({ message: 'must be a string: what the header Service-Intent would hold' })
  intent!: string;

  @IsString({ message: 'must be a string such as crm.get_customer' })
  tool!: string;

  @IsObject({ message: 'must be an object' })
  args!: JsonObject;

  @IfPresent()
  @Matches(REFERENCE_PATTERN, REFERENCE_RULE)
  @IsString(REFERENCE_RULE)
  on_behalf_of?: string;

  @IfPresent()
  @Matches(REFERENCE_PATTERN, REFERENCE_RULE)
  @IsString(REFERENCE_RULE)
  session?: string;
}
