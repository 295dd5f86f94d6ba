import { describe, expect, it } from 'vitest';

import type { LiveConnector } from './connector.state.js';
import {
  type CheckFinding,
  type ConnectorCheck,
  type ConnectorTest,
  failedCheck,
  healthOf,
  passedCheck,
  runChecks,
  skippedCheck,
} from './connector-test.js';

const FAILED = failedCheck('It is so.', 'Mend it.');
const tested = { connector: {} as LiveConnector, deadlineMonotonicMs: 0, mayStillSend: () => Promise.resolve(null) };

const check = (name: string, finding: CheckFinding, ...restsOn: string[]): ConnectorCheck => ({
  name,
  restsOn,
  run: () => Promise.resolve(finding),
});
const statuses = ({ checks }: Pick<ConnectorTest, 'checks'>) => checks.map(({ check: name, status }) => [name, status]);

describe('a connection test', () => {
  it('passes when no check failed, whatever was skipped', async () => {
    const ran = await runChecks([check('config', passedCheck('Good.')), check('tls', skippedCheck('Plain.'))], tested);
    expect(ran).toEqual({
      status: 'passing',
      checks: [
        { check: 'config', status: 'passed', detail: 'Good.', fix: null },
        { check: 'tls', status: 'skipped', detail: 'Plain.', fix: null },
      ],
      breaker: null,
    });
  });

  it('tells of what the connector must not go on with, beside the checks', async () => {
    const breaker = { reason: 'livemode_detected', upstreamRequestId: 'req_1' } as const;
    const ran = await runChecks([check('config', passedCheck('Good.')), check('auth', { ...FAILED, breaker })], tested);
    expect(ran.breaker).toEqual(breaker);
    expect(JSON.stringify(ran.checks)).not.toContain('req_1');
  });

  it('skips what rests on a failed check, and what rests on that, and says which one failed', async () => {
    const ran = await runChecks(
      [
        check('config', passedCheck('Good.')),
        check('credentials', passedCheck('Good.'), 'config'),
        check('destination', FAILED, 'config'),
        check('tls', passedCheck('Never.'), 'destination'),
        check('auth', passedCheck('Never.'), 'credentials', 'tls'),
      ],
      tested,
    );
    expect(ran.status).toBe('failing');
    expect(statuses(ran).map(([, status]) => status)).toEqual(['passed', 'passed', 'failed', 'skipped', 'skipped']);
    expect(ran.checks.at(-1)?.detail).toBe('Skipped, because the check destination failed.');
  });

  it('does not skip what rests on a check that was skipped for a reason of its own', async () => {
    const ran = await runChecks(
      [check('tls', skippedCheck('Plain.')), check('auth', passedCheck('Good.'), 'tls')],
      tested,
    );
    expect(statuses(ran)).toEqual([
      ['tls', 'skipped'],
      ['auth', 'passed'],
    ]);
  });

  it('warns where all that failed only warns', async () => {
    const warned = check('permissions', { ...FAILED, onlyWarns: true });
    expect((await runChecks([warned], tested)).status).toBe('warnings');
    expect((await runChecks([warned, check('auth', FAILED)], tested)).status).toBe('failing');
  });
});

describe('health', () => {
  const connector = { configHash: 'sha256:1', credential: { version: 'v1' } } as unknown as LiveConnector;
  const test = { status: 'failing', configHash: 'sha256:1', credentialVersion: 'v1' } as unknown as ConnectorTest;

  it('is what the last test found of the config and the credential that there are', () => {
    expect(healthOf(connector, test)).toBe('failing');
  });

  it.each<[string, ConnectorTest | null]>([
    ['no test was made', null],
    ['the config has changed since', { ...test, configHash: 'sha256:2' as ConnectorTest['configHash'] }],
    ['the credential was replaced', { ...test, credentialVersion: 'v2' }],
    ['the credential was stored after the test', { ...test, credentialVersion: null }],
  ])('is not tested where %s', (_, last) => {
    expect(healthOf(connector, last)).toBe('not_tested');
  });

  it('is not tested where the credential was removed', () => {
    expect(healthOf({ ...connector, credential: null }, test)).toBe('not_tested');
  });
});
