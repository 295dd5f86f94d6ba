import type { JsonValue } from '#libs/crypto';
import { REDACTED } from '#libs/domain/connectors';

/** So many tell a reader enough; an answer of 1 MiB may have a hundred thousand. */
const PATHS_MAX = 100;

/**
 * Where a recorded result holds the mark of what was redacted, in names or in values: `body.items[0].token`. An answer in which
 * the tool itself wrote the mark cannot be told from one in which it stands for something.
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
