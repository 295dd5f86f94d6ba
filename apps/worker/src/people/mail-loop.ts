import type { ApprovalMailClerk } from '#libs/domain/gate';
import { MAIL_CHANNEL, type Bus, type Logger } from '#libs/domain/kernel';
import type { MailClerk, SignInFailures } from '#libs/domain/people';
import { RepeatedFault } from '#libs/infra/logging';

/** So many are sent before the loop looks for people who have asked to sign in meanwhile. */
const MAILS_AT_ONCE = 50;

export interface MailLoopParts {
  readonly clerk: Pick<MailClerk, 'write' | 'send'>;
  readonly approvals: Pick<ApprovalMailClerk, 'write'>;
  readonly failures: Pick<SignInFailures, 'record'>;
  readonly bus: Bus;
  readonly logger: Logger;
}

/** Writes and sends mails, and records wrong codes of mails, when it is rung for, and every so often: a lost bell costs time and nothing else. */
export class MailLoop {
  private timer: NodeJS.Timeout | null = null;
  private underWay: Promise<void> | null = null;
  private isRungAgain = false;
  private isStopping = false;
  private unsubscribe: () => void = () => undefined;
  private readonly unwritten: RepeatedFault;
  private readonly unasked: RepeatedFault;
  private readonly unrecorded: RepeatedFault;

  constructor(
    private readonly parts: MailLoopParts,
    private readonly intervalMs: number,
  ) {
    this.unwritten = new RepeatedFault((fault) =>
      parts.logger.error('mails could not be written or sent; they are tried again', fault),
    );
    this.unasked = new RepeatedFault((fault) =>
      parts.logger.error('mails about approvals could not be written; they are tried again', fault),
    );
    this.unrecorded = new RepeatedFault((fault) =>
      parts.logger.error('failed sign-ins could not be recorded; they are tried again', fault),
    );
  }

  start(): void {
    this.unsubscribe = this.parts.bus.subscribe(MAIL_CHANNEL, () => this.ring());
    this.timer = setInterval(() => this.ring(), this.intervalMs);
    this.ring();
  }

  /** Ends after the mail under way; the others wait in the outbox. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.unsubscribe();
    if (this.timer) clearInterval(this.timer);
    await this.underWay;
  }

  private ring(): void {
    this.isRungAgain = true;
    this.underWay ??= this.work().finally(() => {
      this.underWay = null;
    });
  }

  private async work(): Promise<void> {
    let isMoreLeft = false;
    while ((this.isRungAgain || isMoreLeft) && !this.isStopping) {
      // Whoever rings while some is left is heard after it: what it rang for may stand on a page that was looked at already.
      if (!isMoreLeft) this.isRungAgain = false;
      isMoreLeft = await this.round();
    }
  }

  /** Whoever signs in waits for the mail: before and after each page of approvals those are written. @returns whether more is left */
  private async round(): Promise<boolean> {
    const isMailLeft = await this.deliver();
    const isApprovalLeft = !this.isStopping && (await this.writeAboutApprovals());
    const isMoreLeft = (await this.deliver()) || isMailLeft || isApprovalLeft;
    await this.recordFailures();
    return isMoreLeft;
  }

  private async deliver(): Promise<boolean> {
    if (this.isStopping) return false;
    try {
      await this.parts.clerk.write();
      const tried = await this.parts.clerk.send(MAILS_AT_ONCE);
      this.unwritten.over();
      return tried === MAILS_AT_ONCE;
    } catch (error) {
      this.unwritten.met(error);
      return false;
    }
  }

  /** On its own, and last: whoever waits for a mail waits for nothing else. */
  private async recordFailures(): Promise<void> {
    if (this.isStopping) return;
    try {
      await this.parts.failures.record();
      this.unrecorded.over();
    } catch (error) {
      this.unrecorded.met(error);
    }
  }

  /** On its own: an approval that cannot be read keeps nobody from signing in. */
  private async writeAboutApprovals(): Promise<boolean> {
    try {
      const isMoreLeft = await this.parts.approvals.write();
      if (!isMoreLeft) this.unasked.over();
      return isMoreLeft;
    } catch (error) {
      this.unasked.met(error);
      return false;
    }
  }
}
