import type { Digest } from '#libs/crypto';

import type { ConnectorId, ErrorCode, OrgId, Timestamp } from '../kernel/index.js';
import type { LiveConnector } from './connector.state.js';
import type { TrippedBreaker } from './tripped-breaker.js';

type CheckStatus = 'passed' | 'skipped' | 'failed';

/** What one check found. `detail` and `fix` are calm sentences that hold no word of an upstream and no secret. */
export interface CheckFinding {
  readonly status: CheckStatus;
  readonly detail: string;
  /** What to do; null where nothing needs doing. */
  readonly fix: string | null;
  /** Of a failed check: calls may work all the same, so the connector has warnings and is not failing. */
  readonly onlyWarns?: true;
  /** What was seen that the connector must not go on with: it is disabled. */
  readonly breaker?: TrippedBreaker;
}

export const passedCheck = (detail: string): CheckFinding => ({ status: 'passed', detail, fix: null });
export const skippedCheck = (detail: string, fix: string | null = null): CheckFinding => ({
  status: 'skipped',
  detail,
  fix,
});
export const failedCheck = (detail: string, fix: string): CheckFinding => ({ status: 'failed', detail, fix });

/** What a check looks at. */
export interface TestedConnector {
  readonly connector: LiveConnector;
  /** On the kernel's monotonic clock: the end of the whole test. */
  readonly deadlineMonotonicMs: number;
  /** Asked before the first request byte. A code means: the connector has moved on, send nothing. */
  readonly mayStillSend: () => Promise<ErrorCode | null>;
}

/** One line of the checklist. A test reads: no check may change anything anywhere. */
export interface ConnectorCheck {
  readonly name: string;
  /** Checks before it, by name: where one of them failed, this one is skipped. */
  readonly restsOn: readonly string[];
  /** Throws for nothing that the network, the upstream or the vault did: that is the finding. */
  readonly run: (tested: TestedConnector) => Promise<CheckFinding>;
}

/** The checks of every type, in their order (rule CON-6). What a type checks beside them follows. */
export const COMMON_CHECKS = ['config', 'credentials', 'destination', 'tls'] as const;

type TestStatus = 'passing' | 'warnings' | 'failing';
type HealthStatus = TestStatus | 'not_tested';

/** A test that was made: what became of each check, and of which state of the connector it speaks. */
export interface ConnectorTest {
  readonly connector: ConnectorId;
  readonly status: TestStatus;
  readonly checks: readonly TestedCheck[];
  readonly testedAt: Timestamp;
  readonly configHash: Digest;
  /** Null where none was stored. */
  readonly credentialVersion: string | null;
}

type TestedCheck = { readonly check: string } & Pick<CheckFinding, 'status' | 'detail' | 'fix'>;

/** Runs a checklist in its order. What rests on a check that failed is skipped, and so is what rests on that. */
export const runChecks = async (
  checks: readonly ConnectorCheck[],
  tested: TestedConnector,
): Promise<Pick<ConnectorTest, 'status' | 'checks'> & { readonly breaker: TrippedBreaker | null }> => {
  const findings = new Map<string, CheckFinding>();
  /** Each check that came to nothing, with the failed one that is the reason. */
  const causes = new Map<string, string>();
  for (const { name, restsOn, run } of checks) {
    const cause = restsOn.map((other) => causes.get(other)).find((known) => known !== undefined);
    const finding =
      cause === undefined ? await run(tested) : skippedCheck(`Skipped, because the check ${cause} failed.`);
    findings.set(name, finding);
    if (cause !== undefined) causes.set(name, cause);
    else if (finding.status === 'failed') causes.set(name, name);
  }
  return {
    status: statusOf([...findings.values()]),
    checks: [...findings].map(([check, { status, detail, fix }]) => ({ check, status, detail, fix })),
    breaker: [...findings.values()].find(({ breaker }) => breaker !== undefined)?.breaker ?? null,
  };
};

const statusOf = (findings: readonly CheckFinding[]): TestStatus => {
  const failed = findings.filter(({ status }) => status === 'failed');
  if (failed.some(({ onlyWarns }) => onlyWarns !== true)) return 'failing';
  return failed.length === 0 ? 'passing' : 'warnings';
};

/** A test speaks of the config and the credential that it tested, and of no others. */
export const healthOf = (connector: LiveConnector, last: ConnectorTest | null): HealthStatus => {
  const isOfNow =
    last !== null &&
    last.configHash === connector.configHash &&
    last.credentialVersion === (connector.credential?.version ?? null);
  return isOfNow ? last.status : 'not_tested';
};

/** Whose row it is: the stream of its name says whether it lives. */
export interface TestedPlace {
  readonly org: OrgId;
  readonly name: string;
  readonly connector: ConnectorId;
}
