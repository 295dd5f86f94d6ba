import type { ApprovalLinks } from '#libs/domain/gate';
import type {
  CodeMisses,
  LoginTokens,
  MailDesk,
  MailOrders,
  MissedCodes,
  PasskeyChallenges,
  PasskeyRows,
  PeopleDirectory,
  SessionRows,
  SignInHasher,
} from '#libs/domain/people';
import { PostgresApprovalLinks } from '../approvals/index.js';
import {
  PepperSignInHasher,
  PostgresCodeMisses,
  PostgresLoginTokens,
  PostgresMailDesk,
  PostgresMailOrders,
  PostgresMissedCodes,
  PostgresPasskeyChallenges,
  PostgresPasskeyRows,
  PostgresPeopleDirectory,
  PostgresSessionRows,
  SealedAddresses,
  SealedMails,
} from '../people/index.js';
import type { Database } from './database.js';
import type { Secrets } from './secrets.js';

/** Rows of people, each behind its port. */
export interface PeopleRows {
  readonly directory: PeopleDirectory;
  readonly rows: SessionRows;
  readonly tokens: LoginTokens;
  readonly orders: MailOrders;
  readonly misses: CodeMisses;
  readonly missedCodes: MissedCodes;
  readonly desk: MailDesk;
  readonly passkeys: PasskeyRows;
  readonly challenges: PasskeyChallenges;
  readonly links: ApprovalLinks;
  readonly hasher: SignInHasher;
}

export const peopleRowsOf = (pool: Database['durable'], { pepper, cipher }: Secrets): PeopleRows => {
  const [hasher, addresses] = [new PepperSignInHasher(pepper), new SealedAddresses(cipher)];
  return {
    directory: new PostgresPeopleDirectory(pool, hasher, addresses),
    rows: new PostgresSessionRows(pool),
    tokens: new PostgresLoginTokens(pool),
    orders: new PostgresMailOrders(pool, hasher, addresses),
    misses: new PostgresCodeMisses(pool),
    missedCodes: new PostgresMissedCodes(pool),
    desk: new PostgresMailDesk(pool, cipher),
    passkeys: new PostgresPasskeyRows(pool),
    challenges: new PostgresPasskeyChallenges(pool),
    links: new PostgresApprovalLinks(pool, hasher, new SealedMails(cipher)),
    hasher,
  };
};
