import { addedTo, type DraftObject, type Row } from './draft.ts';

/** A placeholder such as `{id}` as a whole segment, which is how the service defines it. */
const PLACEHOLDER = /^\{([^{}/]+)\}$/;

const namedIn = (path: string): readonly string[] => [
  ...new Set(path.split('/').flatMap((segment) => PLACEHOLDER.exec(segment)?.[1] ?? [])),
];

/** Placeholders of a path that are not among the arguments yet. */
export const undescribed = (path: string, described: readonly string[]): readonly string[] =>
  namedIn(path).filter((name) => !described.includes(name));

const PATH_ARGUMENT: DraftObject = { members: { in: 'path', type: 'string' }, others: {} };

/** Whether an argument says nothing but that it is in the path, as generated here. */
const isBare = ({ value }: Row): boolean =>
  typeof value === 'object' &&
  'members' in value &&
  Object.keys(value.members).length === 2 &&
  Object.keys(value.others).length === 0 &&
  value.members['in'] === 'path' &&
  value.members['type'] === 'string';

/**
 * The tool after its path was typed: each placeholder gets an argument. Arguments generated for earlier versions of the
 * path are removed, unless the person has added something to them.
 */
export const withPathArguments = (tool: DraftObject): DraftObject => {
  const { path, args } = tool.members;
  if (typeof path !== 'string') return tool;
  const named = namedIn(path);
  const before = typeof args === 'object' && 'rows' in args ? args.rows : [];
  const kept = before.filter((row) => named.includes(row.name) || !isBare(row));
  const missing = undescribed(
    path,
    kept.map(({ name }) => name),
  );
  if (missing.length === 0 && kept.length === before.length) return tool;
  const rows = missing.reduce<readonly Row[]>((all, name) => addedTo(all, name, PATH_ARGUMENT).rows, kept);
  return { ...tool, members: { ...tool.members, args: { rows } } };
};
