import { Injectable } from '@nestjs/common';
import { Clock, type UserId } from '#libs/domain/kernel';
import { WindowLimit } from '../http/window-limit.js';

const HOUR_MS = 60 * 60 * 1000;
/** Of one person: whoever registers and removes again and again makes the log of the organization longer for everybody. */
const REGISTRATIONS_PER_HOUR = 20;

/** How often one person may begin to register a passkey. In this process. */
@Injectable()
export class PasskeyLimits {
  private readonly begun: WindowLimit;

  constructor(clock: Clock) {
    this.begun = new WindowLimit(clock, REGISTRATIONS_PER_HOUR, HOUR_MS);
  }

  /** @throws {DomainError} rate_limited */
  admit(user: UserId): void {
    this.begun.require(user);
    this.begun.count(user);
  }
}
