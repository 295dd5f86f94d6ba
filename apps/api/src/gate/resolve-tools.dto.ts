import { ArrayMaxSize, IsArray, IsString } from 'class-validator';
import { IfPresent, Nested } from '../http/shape.js';

/** The most tools of one request, and of one page of an answer (rule GATE-15). */
export const TOOLS_MAX = 500;

class NamedTool {
  @IsString({ message: 'must be a string' })
  name!: string;
}

/** The body of POST /v1/tools/resolve. */
export class ResolveToolsBody {
  @IfPresent()
  @IsString({ message: 'must be a string' })
  connector?: string;

  /** If absent: all tools of the connector, or of all connectors. */
  @IfPresent()
  @IsArray({ message: 'must be an array of objects with a name' })
  @ArrayMaxSize(TOOLS_MAX, { message: `must have at most ${TOOLS_MAX} tools` })
  @Nested(() => NamedTool, { each: true })
  tools?: NamedTool[];

  @IfPresent()
  @IsString({ message: 'must be a string' })
  cursor?: string;
}
