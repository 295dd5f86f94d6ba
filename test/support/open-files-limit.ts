/**
 * A command that may have so many files and sockets open, and no more: by a shell that becomes it, so that its process is
 * the one that was started. Both limits are set, because Node raises the soft one.
 */
export const withOpenFiles = (limit: number, command: readonly string[]): [string, ...string[]] => [
  'sh',
  '-c',
  `ulimit -n ${limit} && exec "$@"`,
  'sh',
  ...command,
];
