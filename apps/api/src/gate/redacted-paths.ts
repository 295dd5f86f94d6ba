import type { JsonValue } from '#libs/crypto';
import { REDACTED } from '#libs/domain/connectors';

/** The most paths that are listed. A result of 1 MiB could have a hundred thousand. */
const PATHS_MAX = 100;

/**
 * The paths at which a recorded result contains the mark of redaction, in names or values: `body.items[0].token`. If
 * the tool itself wrote that mark, its path is listed too, because the two cannot be told apart.
 */
export const redactedPaths = (result: JsonValue): string[] => {
  const paths: string[] = [];
  const look = (value: JsonValue, path: string): void => {
    if (paths.length >= PATHS_MAX) return;
    if (typeof value === 'string') {
      if (value.includes(REDACTED)) paths.push(path);
    } else if (Array.isArray(value)) {
      value.forEach((item, index) => look(item, `${path}[${index}]`));
    } else if (value !== null && typeof value === 'object') {
      for (const [name, member] of Object.entries(value)) {
        const inner = path === '' ? name : `${path}.${name}`;
        if (name.includes(REDACTED) && paths.length < PATHS_MAX) paths.push(inner);
        look(member, inner);
      }
    }
  };
  look(result, '');
  return [...new Set(paths)];
};
