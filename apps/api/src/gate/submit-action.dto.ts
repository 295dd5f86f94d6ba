import type { JsonObject } from '#libs/crypto';
import { IsIn, IsInt, IsObject, IsString, Max, Min } from 'class-validator';
import { CALL_MODES, type CallMode } from '#libs/domain/kernel';
import { IfPresent } from '../http/shape.js';

/** The longest wait, in seconds (rule GATE-10). */
export const WAIT_MAX_S = 25;
/** The wait if the body has none, in seconds (rule GATE-10). */
export const WAIT_DEFAULT_S = 10;

const WAIT_RULE = { message: `must be an integer from 0 to ${WAIT_MAX_S}` };

/** The body of POST /v1/actions. */
export class SubmitActionBody {
  @IsString({ message: 'must be a string such as crm.get_customer' })
  tool!: string;

  @IfPresent()
  @IsObject({ message: 'must be an object' })
  args?: JsonObject;

  @IfPresent()
  @IsInt(WAIT_RULE)
  @Min(0, WAIT_RULE)
  @Max(WAIT_MAX_S, WAIT_RULE)
  wait?: number;

  @IfPresent()
  @IsIn(CALL_MODES, { message: `must be ${CALL_MODES.join(' or ')}` })
  mode?: CallMode;

  /** Only in proxy mode. The tool belongs to an MCP server that the agent itself is connected to. */
  @IfPresent()
  @IsIn(['mcp'], { message: 'must be mcp when it is sent' })
  connector_type?: 'mcp';
}
