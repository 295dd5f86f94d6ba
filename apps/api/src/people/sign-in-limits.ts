import { Injectable } from '@nestjs/common';
import { sha256Hex } from '#libs/crypto';
import { Clock, DomainError } from '#libs/domain/kernel';
import { siteOf, type MailAddress } from '#libs/domain/people';
import { networkOf } from '../http/failed-key-limiter.js';
import { WindowLimit } from '../http/window-limit.js';

const HOUR_MS = 60 * 60 * 1000;

/** Requests for a mail in an hour, of one client address (rule PEOPLE-6). */
const REQUESTS_AN_ADDRESS = 20;
/** Of one /48 of IPv6, whose clients could else write to as many mailboxes as they like. */
const REQUESTS_A_SITE = 200;
const REQUESTS_A_MAILBOX = 5;
/** Challenges for a passkey in an hour: each is a row, for five minutes. */
const CHALLENGES_AN_ADDRESS = 60;
const CHALLENGES_A_SITE = 600;
const FAILURES_AN_ADDRESS = 30;
/** Of one /48 of IPv6, which towards the pause of codes counts like one client: this is what ends guessing from it. */
const FAILURES_A_SITE = 300;

/**
 * What one client may ask for in an hour, and one site for one mailbox: a stranger uses up nothing of the owner's, who asks
 * from elsewhere. In this process; known and unknown addresses alike.
 */
@Injectable()
export class SignInLimits {
  private readonly requests: WindowLimit;
  private readonly requestsOfSites: WindowLimit;
  private readonly mailboxes: WindowLimit;
  private readonly challenges: WindowLimit;
  private readonly challengesOfSites: WindowLimit;
  private readonly failures: AttemptLimit;
  private readonly failuresOfSites: AttemptLimit;

  constructor(clock: Clock) {
    this.requests = new WindowLimit(clock, REQUESTS_AN_ADDRESS, HOUR_MS);
    this.requestsOfSites = new WindowLimit(clock, REQUESTS_A_SITE, HOUR_MS);
    this.mailboxes = new WindowLimit(clock, REQUESTS_A_MAILBOX, HOUR_MS);
    this.challenges = new WindowLimit(clock, CHALLENGES_AN_ADDRESS, HOUR_MS);
    this.challengesOfSites = new WindowLimit(clock, CHALLENGES_A_SITE, HOUR_MS);
    this.failures = new AttemptLimit(new WindowLimit(clock, FAILURES_AN_ADDRESS, HOUR_MS));
    this.failuresOfSites = new AttemptLimit(new WindowLimit(clock, FAILURES_A_SITE, HOUR_MS));
  }

  /** @throws {DomainError} rate_limited */
  admitRequest(ip: string, { normal }: MailAddress): void {
    const network = networkOf(ip);
    const site = siteOf(network);
    const mailbox = `${sha256Hex(normal)} ${site}`;
    this.requests.require(network);
    this.requestsOfSites.require(site);
    this.mailboxes.require(mailbox);
    this.requests.count(network);
    this.requestsOfSites.count(site);
    this.mailboxes.count(mailbox);
  }

  /** @throws {DomainError} rate_limited */
  admitChallenge(ip: string): void {
    const network = networkOf(ip);
    const site = siteOf(network);
    this.challenges.require(network);
    this.challengesOfSites.require(site);
    this.challenges.count(network);
    this.challengesOfSites.count(site);
  }

  /**
   * Runs what may miss, and counts the miss.
   * @throws {DomainError} rate_limited, and what `attempt` throws
   */
  async counted<Result>(ip: string, attempt: () => Promise<Result>): Promise<Result> {
    const network = networkOf(ip);
    return this.failuresOfSites.counted(siteOf(network), () => this.failures.counted(network, attempt));
  }
}

/** Misses of one client or site. An attempt that runs is taken for one: of any number at once none is judged beyond the limit. */
class AttemptLimit {
  /** Attempts that have not ended yet. */
  private readonly underWay = new Map<string, number>();

  constructor(private readonly failures: WindowLimit) {}

  /** @throws {DomainError} rate_limited, and what `attempt` throws */
  async counted<Result>(key: string, attempt: () => Promise<Result>): Promise<Result> {
    const others = this.underWay.get(key) ?? 0;
    this.failures.require(key, others);
    this.underWay.set(key, others + 1);
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof DomainError && MISSES.has(error.code)) this.failures.count(key);
      throw error;
    } finally {
      const left = (this.underWay.get(key) ?? 1) - 1;
      if (left === 0) this.underWay.delete(key);
      else this.underWay.set(key, left);
    }
  }
}

const MISSES: ReadonlySet<string> = new Set([
  'login_link_invalid',
  'login_code_invalid',
  'passkey_invalid',
  'approval_link_invalid',
]);
