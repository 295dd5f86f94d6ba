/** `{id}` as a whole segment, as the service has it. */
const PLACEHOLDER = /^\{([^{}/]+)\}$/;

/** Names that stand in braces in a path, and not yet among the arguments: each must be described. */
export const undescribed = (path: string, described: readonly string[]): readonly string[] => {
  const named = path.split('/').flatMap((segment) => PLACEHOLDER.exec(segment)?.[1] ?? []);
  return [...new Set(named)].filter((name) => !described.includes(name));
};
