import { MAX_TOOL_BYTES } from '#libs/crypto';
import { isConnectorName } from '../../connectors/index.js';

/** Allows every tool name that some connector type allows (rule FORM-4). */
const TOOL_PATTERN = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

export interface ToolName {
  readonly connector: string;
  readonly tool: string;
}

/**
 * `<connector>.<tool>`, split at the first dot, at most `MAX_TOOL_BYTES` (rule FORM-4).
 * @returns null if the name is malformed or contains look-alike characters; no connector provides such a tool
 */
export const parseToolName = (text: string): ToolName | null => {
  const dot = text.indexOf('.');
  if (dot < 0 || isTooLong(text)) return null;
  const [connector, tool] = [text.slice(0, dot), text.slice(dot + 1)];
  // No connector is looked up under a malformed connector name.
  return isConnectorName(connector) && TOOL_PATTERN.test(tool) ? { connector, tool } : null;
};

/**
 * The part of a name that events hold: at most its first 200 bytes, cut between characters. The request digest covers
 * the whole name.
 */
export const keptToolName = (text: string): { tool: string; tool_truncated: boolean } => {
  if (!isTooLong(text)) return { tool: text, tool_truncated: false };
  let bytes = 0;
  let kept = '';
  for (const character of text) {
    bytes += utf8Length(character);
    if (bytes > MAX_TOOL_BYTES) break;
    kept += character;
  }
  return { tool: kept, tool_truncated: true };
};

/**
 * A UTF-16 unit takes at most three bytes in UTF-8, so the length of most names shows that they are short enough
 * without encoding them.
 */
const isTooLong = (text: string): boolean => text.length * 3 > MAX_TOOL_BYTES && utf8Length(text) > MAX_TOOL_BYTES;

const encoder = new TextEncoder();
const utf8Length = (text: string): number => encoder.encode(text).byteLength;
