import { closestName } from '#libs/domain/kernel';

/** What other APIs call the same thing, in the order in which it is looked for among an endpoint's own names. */
const ALIASES: ReadonlyMap<string, readonly string[]> = new Map(
  (
    [
      [
        ['per_page', 'page_size', 'page[size]', 'size', 'count', 'first', 'top', 'max_results'],
        ['limit', 'last'],
      ],
      [
        ['page', 'offset', 'skip', 'starting_after', 'page_token', 'next', 'next_cursor', 'after'],
        ['cursor', 'from'],
      ],
      [
        ['since', 'from', 'start', 'created_after', 'created_at[gt]', 'created[gte]', 'created[gt]', 'issued_at[gt]'],
        ['created_at[gte]', 'issued_at[gte]', 'from'],
      ],
      [
        ['until', 'to', 'end', 'before', 'created_before', 'created_at[lte]', 'created[lt]', 'issued_at[lte]'],
        ['created_at[lt]', 'issued_at[lt]', 'to'],
      ],
      [['agent_id'], ['agent']],
      [['action_id'], ['action']],
      [['tool_name', 'name'], ['tool']],
      [['outcome'], ['decision']],
      [['search', 'query', 'text'], ['q']],
      [['user', 'user_ref'], ['on_behalf_of']],
      [['type'], ['kind']],
      [['sort', 'sort_by', 'order_by', 'direction'], ['order']],
      [['arguments', 'params', 'input'], ['args']],
      [['timeout'], ['wait']],
    ] satisfies readonly (readonly [others: readonly string[], ours: readonly string[]])[]
  ).flatMap(([others, ours]) => others.map((other): [string, readonly string[]] => [other, ours])),
);

/**
 * An action's `status` is one word that comes of these three together, so it is not certain which of them was meant.
 */
const STATUS_FILTERS = ['state', 'decision', 'verdict'] as const;

/** The next step, as a sentence, for a parameter or field that an endpoint does not have. */
export const nextAfterUnknown = (name: string, known: readonly string[]): string => {
  if (name === 'status' && STATUS_FILTERS.every((filter) => known.includes(filter))) {
    return 'The status of an action is no filter: filter by state, decision or verdict.';
  }
  const meant = ALIASES.get(name)?.find((ours) => known.includes(ours)) ?? closestName(name, known);
  if (meant !== null) return `Did you mean ${meant}?`;
  return known.length === 0 ? 'It takes none.' : `It takes ${known.join(', ')}.`;
};
