import type { OrgId } from '#libs/domain/kernel';
import type { LedgerCheck, SealedHead } from '#libs/domain/ledger';
import type { Examination } from './examination.js';
import { ok, problem, warning, type Finding } from './finding.js';
import { isAnswer, type Server } from './server.js';

/** As many as a ledger check covers unless asked otherwise (rule DEED-17). */
const LAST_DEEDS = 1_000;
/** What is left of a check's time is for saying how far it came. */
const STORE_TIME_MS = 2_400;
/** Of it, for the heads that are remembered: the chain is what the check is named after. */
const HEADS_TIME_MS = 1_000;
const HEADS_AT_ONCE = 16;

type Verdict = Pick<LedgerCheck, 'result' | 'reason' | 'first_bad_seq' | 'checked'>;

/** Through the service where a key is given and a service answers; else from the store itself. */
export const checkLedgerChain = async (examination: Examination): Promise<Finding> => {
  const { server, apiKey } = examination;
  const timeIsOver = AbortSignal.timeout(STORE_TIME_MS);
  const { lost, areAllHeld } = await lostDeed(examination, AbortSignal.timeout(HEADS_TIME_MS));
  if (lost !== null) {
    return problem(
      `The ledger of ${lost.org} had the deed ${lost.seq}:${lost.bodyHash}, and does not hold it: the database went back in time.`,
      'Nothing is sealed for it until you decide: `npm run ags -- confirm-restore --help` says what.',
    );
  }
  return server?.isOurs === true && apiKey !== null
    ? askServer(examination, { server, apiKey, areAllHeld })
    : checkStore(examination, { timeIsOver, areAllHeld });
};

/** One that this state directory remembers and the database does not hold. */
const lostDeed = async (
  examination: Examination,
  timeIsOver: AbortSignal,
): Promise<{ readonly lost: SealedHead | null; readonly areAllHeld: boolean }> => {
  const { readSealedHeads, sealedHeadsPath } = await import('#libs/infra/ledger');
  const { isHeldBy } = await import('#libs/domain/ledger');
  const { store } = await examination.database();
  const remembered = await readSealedHeads(sealedHeadsPath(examination.config.stateDir));
  for (let next = 0; next < remembered.length; next += HEADS_AT_ONCE) {
    if (timeIsOver.aborted) return { lost: null, areAllHeld: false };
    const heads = remembered.slice(next, next + HEADS_AT_ONCE);
    const areHeld = await Promise.all(heads.map((head) => isHeldBy(store, head)));
    const lost = heads[areHeld.indexOf(false)];
    if (lost) return { lost, areAllHeld: false };
  }
  return { lost: null, areAllHeld: true };
};

interface AskedServer {
  readonly server: Server;
  readonly apiKey: string;
  readonly areAllHeld: boolean;
}

const askServer = async (examination: Examination, { server, apiKey, areAllHeld }: AskedServer): Promise<Finding> => {
  const said = await server.get(`/v1/ledger/check?last=${LAST_DEEDS}`, apiKey);
  if (!isAnswer(said)) {
    return problem(
      'The service did not answer the check of its ledger.',
      'Run this again without an API key: the chain is then read from the database.',
    );
  }
  if (said.status === 401 || said.status === 403) {
    examination.isKeyRefused = true;
    const { code } = (said.body['error'] ?? {}) as { code?: unknown };
    return problem(
      `The service refused the API key (${String(code)}).`,
      'Give an admin key, or one with the scope deeds:read; `npm run ags -- keys list` shows which are active.',
    );
  }
  if (said.body['object'] !== 'ledger_check') {
    return problem(`The service answered the check with ${said.status}.`, 'Its log says why.');
  }
  const verdict = said.body as unknown as Verdict;
  return judge(
    [['the ledger of the key', verdict]],
    areAllHeld,
    (checked) => `The service was asked, and the last deeds of the ledger of the key hold (${checked}).`,
  );
};

const checkStore = async (
  examination: Examination,
  { timeIsOver, areAllHeld }: { readonly timeIsOver: AbortSignal; readonly areAllHeld: boolean },
): Promise<Finding> => {
  const { CheckLedger, LedgerReader, sealKeyDecider } = await import('#libs/domain/ledger');
  const { ONLY_STREAM, streamRef } = await import('#libs/domain/kernel');
  const { SystemClock } = await import('#libs/infra/runtime');
  const { store, streams } = await examination.database();
  const keys = { list: async () => (await streams.load(streamRef(sealKeyDecider, ONLY_STREAM))).state };
  const ledger = new CheckLedger(new LedgerReader(store), keys, new SystemClock());
  const orgs = (await examination.organizations()).map(({ org }) => org);
  const verdicts: [OrgId, Verdict][] = [];
  for (const org of orgs) {
    if (timeIsOver.aborted) break;
    verdicts.push([org, await ledger.check(org, { last: LAST_DEEDS }, timeIsOver)]);
  }
  return judge(
    verdicts,
    areAllHeld && verdicts.length === orgs.length,
    (checked) => `The last deeds of every ledger hold (${checked} each).`,
  );
};

/** @param intact what to say where all hold; it is given how many were checked */
const judge = (
  verdicts: readonly (readonly [whose: string, Verdict])[],
  isComplete: boolean,
  intact: (checked: string) => string,
): Finding => {
  const checked = verdicts.reduce((sum, [, verdict]) => sum + verdict.checked, 0).toLocaleString('en');
  const bad = verdicts.find(([, { result, reason }]) => result !== 'intact' && reason !== 'time_limit');
  if (bad) {
    const [whose, { result, reason, first_bad_seq: seq }] = bad;
    return problem(
      `The chain of ${whose} is ${result} at seq ${String(seq)} (${String(reason)}).`,
      'Keep a copy of the database as it is, and run `npm run ags -- audit`.',
    );
  }
  if (isComplete && verdicts.every(([, { result }]) => result === 'intact')) {
    return ok(intact(`${checked} checked, at most ${LAST_DEEDS.toLocaleString('en')}`));
  }
  return warning(
    `Not all could be checked in time; ${checked} deeds hold.`,
    'Run `npm run ags -- audit` for all of them.',
  );
};

const ACTIVATE =
  'With an admin key of the organization, save one with POST /v1/policies and put it in force with ' +
  'POST /v1/policies/{id}/versions/1/activate; docs/connectors-rest.md shows both.';

/** Whether every organization has a policy in force that this version can decide by. */
export const checkActivePolicy = async (examination: Examination): Promise<Finding> => {
  const { CompiledPolicies } = await import('#libs/domain/policies');
  const { streams } = await examination.database();
  const policies = new CompiledPolicies(streams);
  const organizations = await examination.organizations();
  const without: string[] = [];
  for (const { org, enforced } of organizations) {
    if (enforced === null) without.push(org);
    else {
      const loaded = await policies.load(enforced.policy, enforced.versionId);
      if (!loaded.isUsable) {
        return problem(
          `The policy in force of ${org} is not usable (${loaded.reason}), so all its actions are denied.`,
          'Activate a version that this version of the service accepts.',
        );
      }
    }
  }
  if (organizations.length === 0) return problem('There is no organization.', 'Run `npm run ags -- init`.');
  if (without.length > 0) {
    return warning(`No policy is in force in ${without.join(', ')}, so everything is denied there.`, ACTIVATE);
  }
  return ok('Every organization has a policy in force.');
};
