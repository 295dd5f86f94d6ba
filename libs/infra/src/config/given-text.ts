/**
 * A value that a command takes as an argument, or, because every user of a machine reads the arguments of programs, from the
 * variable that `env:NAME` names. Null where that variable is not set.
 */
export const givenText = (argument: string, environment: NodeJS.ProcessEnv = process.env): string | null => {
  const [, variable] = /^env:(.+)$/.exec(argument) ?? [];
  return variable === undefined ? argument : environment[variable] || null;
};
