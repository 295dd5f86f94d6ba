import type { JsonValue } from '#libs/crypto';
import type { ApprovalContext } from './approval-context.js';

/**
 * Controls, format and direction marks, private and unassigned code points, variation selectors and fillers: all that a text
 * can hold and a reader not see.
 */
const HIDDEN = /[\p{C}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\u3164\u115F\u1160\uFFA0]/u;
/** Of ordinary text of several lines. */
const LAYOUT = /[\t\n\r]/g;

/**
 * The first place of a context where an agent or a caller has put characters that a person does not see, such as
 * `args.note`; null where there is none. What a place is called may hold them, too, so it is named by its parent then.
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
  placeIn(args, 'args') ??
  placeIn(tool, 'tool') ??
  placeIn(tool_title ?? null, 'tool.title') ??
  placeIn(tool_description, 'tool.description') ??
  placeIn(agent.name, 'agent.name') ??
  placeIn(on_behalf_of, 'on_behalf_of') ??
  placeIn(session, 'session');

const placeIn = (value: JsonValue, path: string): string | null => {
  if (typeof value === 'string') return isHiding(value) ? path : null;
  if (value === null || typeof value !== 'object') return null;
  if (Array.isArray(value)) return firstOf(value.map((item, index) => () => placeIn(item, `${path}[${index}]`)));
  return firstOf(
    Object.entries(value).map(
      ([name, member]) =>
        () =>
          isHiding(name) ? path : placeIn(member, `${path}.${name}`),
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

const isHiding = (text: string): boolean => HIDDEN.test(text.replace(LAYOUT, ''));
