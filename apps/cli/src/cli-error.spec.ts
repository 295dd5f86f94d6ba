import { describe, expect, it } from 'vitest';
import { DamagedEvent, MissingEvent, recordedAt, StoreUnavailable, UnknownEventType } from '#libs/domain/kernel';
import { explain } from './cli-error.js';

const damaged = recordedAt({ id: '', type: 'AgentStopped', data: '{', metadata: '{}' }, 'org-org_1', 4, 9n);

describe('what a command says of an event', () => {
  it.each([
    [
      'that is not there',
      new MissingEvent('org-org_1', 4),
      'holds no event at revision 4, and must',
      'restore the log',
    ],
    ['that was damaged', new DamagedEvent(damaged), 'holds at revision 4 an event (AgentStopped)', 'Restore the log'],
    [
      'of a newer version',
      new UnknownEventType('org-org_1', 'AgentPaused'),
      'holds an event of type AgentPaused',
      'run the newer version',
    ],
  ])('%s is where it lies and what to do, and nothing of a database that does not run', (_, error, what, advice) => {
    const { code, message, exitCode } = explain(error) ?? { code: '', message: '' };
    expect({ code, exitCode }).toEqual({ code: 'event_store_unusable', exitCode: 2 });
    expect(message).toContain(`org-org_1 ${what}`);
    expect(message).toContain(advice);
    expect(message).not.toContain('DATABASE_URL');
  });
});

const errno = (code: string, path?: string): Error =>
  Object.assign(new Error(`${code}: no space left on device, write`), {
    code,
    syscall: 'write',
    ...(path && { path }),
  });

/** As pg gives what a server says. */
const said = (code: string, message: string): Error => Object.assign(new Error(message), { code, severity: 'ERROR' });

describe('what a command says where nothing can be written', () => {
  it.each([
    [
      'of a file',
      errno('ENOSPC', '/s/postgres.lock'),
      '/s/postgres.lock cannot be used: no space is left. Free some space',
    ],
    ['of a file that Node does not name', errno('ENOSPC'), 'cannot be used: no space is left. Free some space'],
    ['of a quota', errno('EDQUOT', '/s/x'), 'no space is left for this user. Free some space'],
    [
      'of the database',
      said('53100', 'could not extend file'),
      'could not extend file. The disk of the database is full: free',
    ],
    [
      'of an append',
      new StoreUnavailable('the database did not answer (53100)', { cause: said('53100', 'could not extend file') }),
      'The disk of the database is full: free some space there, then try again.',
    ],
    ['of a standby', said('25006', 'cannot execute INSERT'), 'name the primary in DATABASE_URL'],
    ['of a disk that fails', said('58030', 'could not write block'), 'The disk of the database fails'],
  ])('%s is why, and what to do', (_, error, message) => {
    expect(explain(error)).toMatchObject({ message: expect.stringContaining(message) as string, exitCode: 2 });
  });
});
