import { addedTo, type DraftObject, type Row } from './draft.ts';

/** `{id}` as a whole segment, as the service has it. */
const PLACEHOLDER = /^\{([^{}/]+)\}$/;

const namedIn = (path: string): readonly string[] => [
  ...new Set(path.split('/').flatMap((segment) => PLACEHOLDER.exec(segment)?.[1] ?? [])),
];

/** Names that stand in braces in a path, and not yet among the arguments: each must be described. */
export const undescribed = (path: string, described: readonly string[]): readonly string[] =>
  namedIn(path).filter((name) => !described.includes(name));

const PATH_ARGUMENT: DraftObject = { members: { in: 'path', type: 'string' }, others: {} };

/** One that says no more than that it stands in the path. */
const isBare = ({ value }: Row): boolean =>
  typeof value === 'object' &&
  'members' in value &&
  Object.keys(value.members).length === 2 &&
  Object.keys(value.others).length === 0 &&
  value.members['in'] === 'path' &&
  value.members['type'] === 'string';

/**
 * A tool whose path was typed: what stands in braces is an argument, and what stood there while it was being typed is none
 * any more, unless somebody has said something of it.
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
