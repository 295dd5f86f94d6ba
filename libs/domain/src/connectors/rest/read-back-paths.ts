import type { JsonValue } from '#libs/crypto';

const STEP = String.raw`\.[A-Za-z_$][A-Za-z0-9_$-]{0,63}|\[(?:0|[1-9][0-9]{0,5})\]`;
/** `args.order.id`, `result.body.items[0].id`: the whole value, never a part of a text. */
const TEMPLATE = new RegExp(String.raw`^\{\{\s*(args|result\.body)((?:${STEP})+)\s*\}\}$`);
const EXPECT_PATH = new RegExp(`^body(?:${STEP})*$`);
const STEPS = new RegExp(STEP, 'g');

/** A value that a call brings along: one of its arguments, or a part of what it answered. */
export interface Template {
  readonly root: 'args' | 'result.body';
  /** `.order.id`, `.items[0].id`: never empty. */
  readonly path: string;
}

/** Null for a literal. */
export const templateOf = (value: JsonValue): Template | null => {
  const [, root, path] = (typeof value === 'string' && TEMPLATE.exec(value)) || [];
  return path === undefined ? null : { root: root as Template['root'], path };
};

/** The first member that a template's path names. */
export const firstMemberOf = ({ path }: Template): string | null =>
  /^\.([A-Za-z_$][A-Za-z0-9_$-]*)/.exec(path)?.[1] ?? null;

export const isExpectPath = (path: string): boolean => EXPECT_PATH.test(path);

/** What stands at a path such as `.items[0].id`; undefined where nothing does. */
export const valueAt = (root: JsonValue, path: string): JsonValue | undefined => {
  let value: JsonValue | undefined = root;
  for (const [step] of path.matchAll(STEPS)) value = value === undefined ? undefined : afterStep(value, step);
  return value;
};

const afterStep = (value: JsonValue, step: string): JsonValue | undefined => {
  if (value === null || typeof value !== 'object') return undefined;
  if (step.startsWith('[')) return Array.isArray(value) ? value[Number(step.slice(1, -1))] : undefined;
  const name = step.slice(1);
  return !Array.isArray(value) && Object.hasOwn(value, name) ? value[name] : undefined;
};
