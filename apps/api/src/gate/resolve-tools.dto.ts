import { ArrayMaxSize, IsArray, IsString } from 'class-validator';
import { Nested } from '../http/shape.js';

/** Document 1, Limits. */
const TOOLS_MAX = 500;

class ListedTool {
  @IsString({ message: 'must be a string' })
  name!: string;
}

/** POST /v1/tools/resolve. */
export class ResolveToolsBody {
  @IsString({ message: 'must be a string' })
  connector!: string;

  @IsArray({ message: 'must be an array of objects with a name' })
  @ArrayMaxSize(TOOLS_MAX, { message: `must have at most ${TOOLS_MAX} tools` })
  @Nested(() => ListedTool, { each: true })
  tools!: ListedTool[];
}
