import { HIDDEN_CHARACTERS, type JsonValue } from '#libs/crypto';
import type { ApprovalContext } from './approval-context.js';

/** Hidden characters that ordinary text of several lines contains, so they are allowed. */
const LAYOUT = /[\t\n\r]/g;

/**
 * The path of the first value in a context that contains hidden characters, such as `args.note`; null if there is none.
 * If a member's name contains them, the path is that of its parent.
 */
export const hiddenCharactersIn = ({
  args,
  tool,
  tool_title,
  tool_description,
  on_behalf_of,
  session,
  agent,
}: ApprovalContext): string | null =>
  hiddenPlaceIn(args, 'args') ??
  hiddenPlaceIn(tool, 'tool') ??
  hiddenPlaceIn(tool_title ?? null, 'tool.title') ??
  hiddenPlaceIn(tool_description, 'tool.description') ??
  hiddenPlaceIn(agent.name, 'agent.name') ??
  hiddenPlaceIn(on_behalf_of, 'on_behalf_of') ??
  hiddenPlaceIn(session, 'session');

/** The path of the first value in a value that contains hidden characters, beginning with `path`; null if there is none. */
export const hiddenPlaceIn = (value: JsonValue, path: string): string | null => {
  if (typeof value === 'string') return isHiding(value) ? path : null;
  if (value === null || typeof value !== 'object') return null;
  if (Array.isArray(value)) return firstOf(value.map((item, index) => () => hiddenPlaceIn(item, `${path}[${index}]`)));
  return firstOf(
    Object.entries(value).map(
      ([name, member]) =>
        () =>
          isHiding(name) ? path : hiddenPlaceIn(member, `${path}.${name}`),
    ),
  );
};

const firstOf = (looks: readonly (() => string | null)[]): string | null => {
  for (const look of looks) {
    const found = look();
    if (found !== null) return found;
  }
  return null;
};

const isHiding = (text: string): boolean => HIDDEN_CHARACTERS.test(text.replace(LAYOUT, ''));
