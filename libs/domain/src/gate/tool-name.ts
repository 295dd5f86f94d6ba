import { isConnectorName } from '../connectors/index.js';

/** `<connector>.<tool>`, split at the first dot, at most 200 bytes (rule FORM-4). */
export const TOOL_NAME_MAX_BYTES = 200;

/** The widest set of any connector type (rule FORM-4). */
const TOOL_PATTERN = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

export interface ToolName {
  readonly connector: string;
  readonly tool: string;
}

/** Null for a malformed or look-alike name: then no connector provides it. */
export const parseToolName = (text: string): ToolName | null => {
  const dot = text.indexOf('.');
  if (dot < 0 || isTooLong(text)) return null;
  const [connector, tool] = [text.slice(0, dot), text.slice(dot + 1)];
  // A connector part of any other form is never asked for.
  return isConnectorName(connector) && TOOL_PATTERN.test(tool) ? { connector, tool } : null;
};

/** What an event keeps of a name: at most its first 200 bytes, cut between characters. The digest covers all of it. */
export const keptToolName = (text: string): { tool: string; tool_truncated: boolean } => {
  if (!isTooLong(text)) return { tool: text, tool_truncated: false };
  let bytes = 0;
  let kept = '';
  for (const character of text) {
    bytes += utf8Length(character);
    if (bytes > TOOL_NAME_MAX_BYTES) break;
    kept += character;
  }
  return { tool: kept, tool_truncated: true };
};

/** No UTF-16 unit takes more than three bytes: of most names the length tells. */
const isTooLong = (text: string): boolean =>
  text.length * 3 > TOOL_NAME_MAX_BYTES && utf8Length(text) > TOOL_NAME_MAX_BYTES;

const encoder = new TextEncoder();
const utf8Length = (text: string): number => encoder.encode(text).byteLength;
