import type { Config } from '#libs/infra/config';
import { inspectRedis, type RedisState } from '#libs/infra/diagnosis';
import { ok, problem, warning, type Finding } from './finding.js';

/** Of the commands that a queue is made of, the youngest is of 6.2. */
const OLDEST_VERSION = [6, 2] as const;

export const checkRedis = async ({ redisUrl }: Config): Promise<Finding> =>
  redisUrl === null
    ? ok('REDIS_URL is not set: every process wakes only itself.')
    : judgeRedis(await inspectRedis(redisUrl));

export const judgeRedis = (state: RedisState): Finding => {
  if ('fault' in state) {
    if (state.isUsed) return warning(`${state.fault}.`, state.next);
    return problem(`${state.fault}: calls that another process executes wait for a sweep.`, state.next);
  }
  const { version, isReplica, evictionPolicy, isPersistent } = state;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < OLDEST_VERSION[0] || (major === OLDEST_VERSION[0] && minor < OLDEST_VERSION[1])) {
    return problem(`Redis is ${version}.`, 'Move to Redis 6.2 or newer.');
  }
  if (isReplica) return problem('REDIS_URL names a replica, which takes no writes.', 'Name the primary in REDIS_URL.');
  if (evictionPolicy !== null && evictionPolicy !== 'noeviction') {
    return warning(
      `Redis drops keys when its memory is full (maxmemory-policy ${evictionPolicy}).`,
      'Set maxmemory-policy noeviction: a job that is refused is found at once, one that is dropped by the next sweep.',
    );
  }
  if (isPersistent === false) {
    return warning(
      'Redis keeps nothing across a restart (appendonly no): what waits is then found by the next sweep.',
      'Set appendonly yes.',
    );
  }
  return ok(`Redis ${version} answers.`);
};
