import { Button } from '../kit/kit.tsx';
import styles from './connectors.module.css';
import { addedTo, type DraftObject } from './draft.ts';
import { undescribed, withPathArguments } from './rest-path.ts';

/** The path of a REST tool determines its path arguments. */
export const restAfter = (name: string, object: DraftObject): DraftObject =>
  name === 'path' ? withPathArguments(object) : object;

/** Shown below the arguments of a REST tool: the names in its path that are not among the arguments yet. */
export const restBelow = (name: string, object: DraftObject, onChange: (object: DraftObject) => void) => {
  const path = object.members['path'];
  if (name !== 'args' || typeof path !== 'string') return null;
  const args = object.members['args'];
  const rows = typeof args === 'object' && 'rows' in args ? args.rows : [];
  const missing = undescribed(
    path,
    rows.map((row) => row.name),
  );
  const describe = (placeholder: string): void => {
    const value = { members: { in: 'path', type: 'string' }, others: {} };
    onChange({ ...object, members: { ...object.members, args: addedTo(rows, placeholder, value) } });
  };
  return missing.length === 0 ? null : (
    <p className={styles['below']}>
      {missing.map((placeholder) => (
        <Button key={placeholder} isSmall icon="right" onClick={() => describe(placeholder)}>
          Describe {placeholder}, a placeholder in the path
        </Button>
      ))}
    </p>
  );
};
