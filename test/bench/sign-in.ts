import { operatorMetadata, type OrgId } from '#libs/domain/kernel';
import { requireMailAddress } from '#libs/domain/people';
import { parseConfig } from '#libs/infra/config';
import { Deployment } from '#libs/infra/deployment';
import { joinedMember } from '../support/joined-member.js';
import { type RunningService, startService } from '../support/service.js';
import { silentLogger } from '../support/silent-logger.js';
import { against, print, say } from './figure.js';
import { LeanClient, leanRequest } from './lean-client.js';
import { quantile } from './pace.js';

/** Of each kind. */
const SAMPLES = 2_000;
/** A mailbox may ask five times in an hour, and an organization has at most 500 members. */
const REQUESTS_A_MAILBOX = 5;

/**
 * Whether the time of POST /v1/auth/login tells who is known: medians of known and unknown addresses, one after the other on
 * one connection, the slower in units of the faster. Each request comes from another client, as a proxy says.
 */
export const signInTiming = async (): Promise<void> => {
  say('starting a scratch service for sign-in ...');
  const service = await startService({ env: { LOG_LEVEL: 'warn', SERVICE_TRUSTED_PROXIES: '127.0.0.1' } });
  try {
    const known = SAMPLES / REQUESTS_A_MAILBOX;
    await addMembers(service, known);
    const client = await LeanClient.connect(new URL(service.baseUrl));
    const times: Record<Kind, number[]> = { known: [], unknown: [] };
    for (let index = 0; index < SAMPLES; index += 1) {
      // Who is first takes turns.
      const kinds: readonly Kind[] = index % 2 === 0 ? ['known', 'unknown'] : ['unknown', 'known'];
      for (const kind of kinds) times[kind].push(await timed(client, kind, index, index % known));
    }
    client.close();
    const medians = [quantile(times.known, 0.5), quantile(times.unknown, 0.5)] as const;
    say(`known ${medians[0].toFixed(3)} ms, unknown ${medians[1].toFixed(3)} ms`);
    const slower = Math.max(...medians);
    print(against('sign_in_known_or_not', [slower, Math.min(...medians)], 'ms'));
  } finally {
    await service.stop();
  }
};

type Kind = 'known' | 'unknown';

/** Beside the service, as an operator: over the API an organization may invite twenty an hour. */
const addMembers = async ({ environment, org }: RunningService, count: number): Promise<void> => {
  const operator = await Deployment.open(parseConfig(environment), 'ags bench', silentLogger);
  try {
    for (let index = 0; index < count; index += 1) {
      const { user } = await joinedMember(operator, org as OrgId, 'viewer');
      const address = requireMailAddress(addressOf('known', index));
      await operator.persons().setAddress(org as OrgId, user, address, operatorMetadata(operator, org));
    }
  } finally {
    await operator.close();
  }
};

/** As long in both kinds. */
const addressOf = (kind: Kind, index: number): string =>
  `${kind === 'known' ? 'member' : 'nobody'}${String(index).padStart(4, '0')}@example.com`;

const timed = async (client: LeanClient, kind: Kind, index: number, mailbox: number): Promise<number> => {
  const from = `10.${kind === 'known' ? 1 : 2}.${index >> 8}.${index & 255}`;
  const body = JSON.stringify({ email: addressOf(kind, mailbox) });
  const request = leanRequest('POST', '/v1/auth/login', { 'X-Forwarded-For': from }, body);
  const begun = performance.now();
  const { status } = await client.send(request);
  if (status !== 202) throw new Error(`a sign-in request was answered ${status}`);
  return performance.now() - begun;
};
