import { environmentWith as environmentOf } from '#libs/infra/config';

/**
 * The environment of a program that a test starts: without any of our settings but those given. Without the demo
 * database too, unless a test is about it: hundreds of starts would each begin and end a second PostgreSQL.
 */
export const environmentWith = (settings: Readonly<Record<string, string>>): Record<string, string> =>
  environmentOf({ SERVICE_DEMO: 'off', ...settings });
