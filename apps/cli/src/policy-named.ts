import { type FoldedStreams, type OrgId, parseId, type PolicyId, streamRef } from '#libs/domain/kernel';
import { type Census, inBatches } from './census.js';
import { CliError, EXIT } from './cli-error.js';
import { type Kind, onlyOne } from './named.js';
import { readService, type ServiceOptions } from './service-call.js';

const PAGE = 100;

const POLICY: Kind = {
  one: 'policy',
  several: 'policies',
  toSee: 'The screen Policies of the Console shows them, and so does GET /v1/policies.',
};

interface ListedPolicy {
  readonly id: string;
  readonly name: string;
}

/**
 * A policy by its id, which is not looked at, or by its name, which the log is read for.
 * @throws {CliError} not_found; usage: several of this name
 */
export const policyOf = async (
  { census, streams }: { readonly census: Census; readonly streams: FoldedStreams },
  org: OrgId,
  named: string,
): Promise<PolicyId> => {
  const id = parseId('pol', named);
  if (id !== null) return id;
  // It would load the policy language for every other command.
  const { policyDecider } = await import('#libs/domain/policies');
  const ids = (await census.idsOf(policyDecider.category)) as readonly PolicyId[];
  const states = await inBatches(ids, async (each) => (await streams.load(streamRef(policyDecider, each))).state);
  const policies = states.filter((policy) => policy.status !== 'none');
  const found = policies.filter((policy) => policy.org === org && policy.name === named);
  return onlyOne(found, POLICY, JSON.stringify(named), ({ policy }) => policy).policy;
};

/**
 * The same of a running service, which is asked for its list where a name is given.
 * @throws {CliError} not_found; usage: several of this name; and what {@link readService} throws
 */
export const policyOfService = async (service: ServiceOptions, named: string): Promise<string> => {
  if (parseId('pol', named) !== null) return named;
  const found: ListedPolicy[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const answer = await readService(service, `/v1/policies?limit=${PAGE}${after}`);
    if (!answer.isOk) throw new CliError('service_unusable', answer.error.message, EXIT.refused);
    const page = answer.body as { readonly data: readonly ListedPolicy[]; readonly next_cursor: string | null };
    found.push(...page.data.filter(({ name }) => name === named));
    cursor = page.next_cursor;
  }
  return onlyOne(found, POLICY, JSON.stringify(named), ({ id }) => id).id;
};
