import { ArrayMaxSize, ArrayMinSize, IsArray, IsString, Matches } from 'class-validator';
import { DIGEST_PATTERN } from '#libs/crypto';
import { Nested } from '../http/shape.js';

/** As many as one list of a server may have. */
const TOOLS_MAX = 500;

class AcceptedTool {
  @IsString({ message: 'must be a string' })
  name!: string;

  @Matches(DIGEST_PATTERN, { message: 'must be the definition_digest of the tool as it was read' })
  definition_digest!: string;
}

/** The body of POST /v1/connectors/{id}/tools/accept. */
export class AcceptToolsBody {
  @IsArray({ message: 'must be an array of objects with name and definition_digest' })
  @ArrayMinSize(1, { message: 'must have at least one tool' })
  @ArrayMaxSize(TOOLS_MAX, { message: `must have at most ${TOOLS_MAX} tools` })
  @Nested(() => AcceptedTool, { each: true })
  tools!: AcceptedTool[];
}
