import { Replays } from '#libs/domain/replays';
import { PostgresRecordedCalls, PostgresReplayRows } from '../replays/index.js';
import type { Deployment } from './deployment.js';

/** What people may do with replays. */
export const replaysOf = ({ database, streams }: Pick<Deployment, 'database' | 'streams'>): Replays =>
  new Replays(streams, new PostgresReplayRows(database.durable), new PostgresRecordedCalls(database.relaxed));
